#!/usr/bin/env node
import { isKeyRelease, parseKey } from "@mariozechner/pi-tui/dist/keys.js"
import { ProcessTerminal } from "@mariozechner/pi-tui/dist/terminal.js"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Queue from "effect/Queue"
import * as Schema from "effect/Schema"
import * as SubscriptionRef from "effect/SubscriptionRef"
import { readFileSync } from "node:fs"
import { isAbsolute, join } from "node:path"
import { parseArgs } from "node:util"
import { setFlagsFromString } from "node:v8"
import * as ConfigReader from "../src/layers/ConfigReader/File.ts"
import * as Ids from "../src/layers/Ids/Node.ts"
import * as IntercomClient from "../src/layers/IntercomClient/Http.ts"
import * as ObservationReader from "../src/layers/ObservationReader/File.ts"
import * as Platform from "../src/layers/Platform/Node.ts"
import * as ReportStore from "../src/layers/ReportStore/File.ts"
import * as Secrets from "../src/layers/Secrets/Existing.ts"
import * as StateDir from "../src/layers/StateDir/File.ts"
import * as Screen from "./Screen.ts"
import { session, type Size } from "./Session.ts"
import { bare, coloured } from "./Style.ts"

// It runs beside many Pis, for days: a third less memory matters more than a frame's half millisecond.
setFlagsFromString("--optimize-for-size")

const stop = (code: number, sentence: string): never => {
  console.error(sentence)
  process.exit(code)
}

const usage = "Usage: pi-intercom-monitor --root <absolute path of the project>. Nothing was done."

/** `--owner` is for whoever started this pane; here it says nothing (spec 5.6). */
const rootOf = (): string => {
  try {
    const { values } = parseArgs({ options: { root: { type: "string" }, owner: { type: "string" } } })
    if (values.root !== undefined && isAbsolute(values.root)) return values.root
  } catch {
    // What is wrong with the arguments is what the usage says.
  }
  return stop(2, usage)
}

const Manifest = Schema.parseJson(Schema.Struct({ version: Schema.String }))

const versionOf = (): string => {
  try {
    return Schema.decodeSync(Manifest)(readFileSync(join(import.meta.dirname, "../package.json"), "utf8")).version
  } catch {
    return stop(1, "The monitor cannot read its own package.json, so it was not started; install the package again.")
  }
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
const size = Effect.runSync(SubscriptionRef.make(sizeNow()))
const keys = Effect.runSync(Queue.unbounded<string>())

let left = false
const leave = (): void => {
  if (left) return
  left = true
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
  try {
    // By a timer that its stop leaves running, pi-tui may have asked for other keys meanwhile.
    screen.write(Screen.plainKeys)
  } catch {
    // As above.
  }
  if (sentence !== undefined) console.error(sentence)
  return process.exit(code)
}

const bug = "The monitor ended by a bug of its own. It writes nothing, so nothing was changed; start it again."
const hungUp = () => end(1)

for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
  process.once(signal, () => {
    leave()
    // Now that nothing listens to it, it ends this process as it would any other, whatever hangs.
    process.kill(process.pid, signal)
  })
}
process.on("uncaughtException", () => end(1, bug))
process.stdin.on("end", hungUp).on("error", hungUp)
process.stdout.on("error", hungUp)

screen.write(Screen.enter)
screen.start(
  (data) => {
    const key = isKeyRelease(data) ? undefined : parseKey(data)
    if (key !== undefined) Queue.unsafeOffer(keys, key)
  },
  () => void Effect.runFork(SubscriptionRef.set(size, sizeNow()))
)

const terminal = {
  size,
  keys,
  write: (text: string) => {
    if (!left) screen.write(text)
  },
  leave: () => {
    leave()
    // However long it takes to interrupt what hangs.
    setTimeout(() => end(0), 200)
  }
}
const files = ObservationReader.layer.pipe(Layer.provide(Layer.merge(ConfigReader.layer, ReportStore.layer)))
const secrets = Secrets.layer.pipe(Layer.provide(StateDir.layer), Layer.provide(Platform.layer))
const network = IntercomClient.layer.pipe(Layer.provide(Layer.merge(secrets, Ids.layer)))
const layers = Layer.merge(files, network).pipe(
  // Nothing but frames may reach the terminal.
  Layer.provideMerge(Logger.remove(Logger.defaultLogger))
)
Effect.runFork(Effect.provide(session(root, version, terminal, style), layers)).addObserver((exit) =>
  Exit.isSuccess(exit) ? end(0) : end(1, bug)
)
