#!/usr/bin/env node
import { isKeyRelease, parseKey } from "@mariozechner/pi-tui/dist/keys.js"
import { ProcessTerminal } from "@mariozechner/pi-tui/dist/terminal.js"
import { type ChildProcess, fork } from "node:child_process"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { setFlagsFromString } from "node:v8"
import { told } from "../src/layers/ProgramArguments.ts"
import { telling } from "./News.ts"
import * as Screen from "./Screen.ts"
import { session, type Size } from "./Session.ts"
import * as Small from "./Small.ts"
import { bare, coloured } from "./Style.ts"

// It runs beside many Pis, for days: a third less memory matters more than a frame's half millisecond.
setFlagsFromString("--optimize-for-size")

const stop = (code: number, sentence: string): never => {
  console.error(sentence)
  process.exit(code)
}

const program = {
  usage: "pi-intercom-monitor [--root <the team's folder>]",
  about:
    "Shows a team as it is now, in this terminal. The team's folder is the one that holds .pi-intercom; without --root\n" +
    "it is the current one. It changes nothing. q quits it.",
  // For whoever started this pane; here it says nothing (spec 5.6).
  options: { owner: { type: "string" } }
} as const

const rootOf = (): string => {
  const given = told(program, process.argv.slice(2), process.cwd())
  if ("root" in given) return given.root
  if (given.code !== 0) return stop(given.code, given.text)
  console.log(given.text)
  return process.exit(0)
}

const versionOf = (): string => {
  try {
    const { version }: { readonly version?: unknown } = JSON.parse(
      readFileSync(join(import.meta.dirname, "../package.json"), "utf8")
    )
    if (typeof version === "string") return version
  } catch {
    // As if there were none.
  }
  return stop(1, "The monitor cannot read its own package.json, so it was not started; install the package again.")
}

const root = rootOf()
if (!process.stdin.isTTY || !process.stdout.isTTY) {
  stop(1, "The monitor needs an interactive terminal, and this is none; nothing was done. Run it in one.")
}
const version = versionOf()
// A log of pi-tui's for those who develop it; a monitor writes nothing.
delete process.env["PI_TUI_WRITE_LOG"]

const { NO_COLOR: noColour = "", TERM: terminalKind } = process.env
const style = noColour !== "" || terminalKind === "dumb" ? bare : coloured
const screen = new ProcessTerminal()
const sizeNow = (): Size => ({ width: screen.columns, height: screen.rows })

/** The process that reads. */
let reading: ChildProcess | undefined
let left = false
const leave = (): void => {
  if (left) return
  left = true
  // Whatever it waits for: nothing of it is needed any more.
  reading?.kill("SIGKILL")
  try {
    // Before the other screen: a terminal may keep its keyboard modes for each.
    screen.stop()
    screen.write(Screen.leave)
  } catch {
    // The terminal is gone, and with it what there was to restore.
  }
}

const end = (code: number, sentence?: string): never => {
  leave()
  if (sentence !== undefined) console.error(sentence)
  return process.exit(code)
}

const bug = "The monitor ended by a bug of its own. It writes nothing, so nothing was changed; start it again."
const hungUp = () => end(1)
const failed = () => end(1, bug)

for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
  process.once(signal, () => {
    leave()
    // Now that nothing listens to it, it ends this process as it would any other, whatever hangs.
    process.kill(process.pid, signal)
  })
}
process.on("uncaughtException", failed)
process.stdin.on("end", hungUp).on("error", hungUp)
process.stdout.on("error", hungUp)

const shown = session(root, version, style, Date.now())
/** Answers that come one after the other are drawn together; a frame takes a part of this time. */
const frameMs = 30
let drawnAt = -frameMs
let drawing: NodeJS.Timeout | undefined

const draw = (): void => {
  clearTimeout(drawing)
  drawing = undefined
  if (left) return
  drawnAt = performance.now()
  const text = shown.draw(sizeNow(), Date.now())
  if (text !== "") screen.write(text)
}
const drawSoon = (): void => {
  drawing ??= setTimeout(draw, drawnAt + frameMs - performance.now())
}

screen.write(Screen.enter)
screen.start((data) => {
  const key = isKeyRelease(data) ? undefined : parseKey(data)
  if (key === undefined) return
  if (shown.press(key, Date.now())) end(0)
  else drawSoon()
}, draw)
draw()
// Ages on the screen move while nothing else does.
setInterval(drawSoon, 1000)

const unread =
  "The monitor's process that reads the team ended before it had read it, so nothing was shown and nothing was changed. " +
  "Start the monitor again; if it ends so again, install the package again."
/** As long as between two passes: whatever ends that process may do it each time. */
const restartMs = 3000
let hasRead = false

/**
 * Reads in a process of its own: of one that hangs in the system nothing else waits, no key and no exit. It is none of the
 * terminal's foreground processes and ends when this one has, which it knows by the end of its input. One that ends by
 * itself is replaced; meanwhile what was read last stays, marked once late.
 */
const read = (): void => {
  let over = false
  const ended = (): void => {
    if (over || left) return
    over = true
    if (!hasRead) end(1, unread)
    setTimeout(read, restartMs)
  }
  try {
    reading = fork(join(import.meta.dirname, "reading.cjs"), [root], {
      // On Windows that would give it a window, and no key reaches it anyway.
      detached: process.platform !== "win32",
      env: { ...Small.environment, ...process.env },
      execArgv: [...process.execArgv, ...Small.flags],
      serialization: "advanced",
      stdio: ["pipe", "ignore", "ignore", "ipc"]
    })
    reading.on("error", ended).on("exit", ended).on(
      "message",
      telling((news) => {
        hasRead = true
        shown.learn(news)
        drawSoon()
      })
    )
  } catch {
    // As when it ends at once: the system has no room for it.
    ended()
  }
}
read()
