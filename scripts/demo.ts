import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as FiberId from "effect/FiberId"
import { execFileSync } from "node:child_process"
import * as fs from "node:fs"
import * as os from "node:os"
import * as path from "node:path"
import { isSupported } from "../src/domain/TmuxArguments.ts"
import * as Leftovers from "./demo/Leftovers.ts"
import { perform } from "./demo/Perform.ts"
import { clock, StepFailed } from "./demo/Timeline.ts"

const usage =
  `npm run demo                            three real Pi sessions at work, one parked and resumed (about 10 s)
npm run demo -- --attach                the same, watched read-only in tmux in this terminal
npm run demo -- --multiplexer herdr     the same through the herdr command, by a stand-in for it on tmux
npm run demo -- --help                  this text

Needs Linux and tmux 3.2 or newer. Uses no network and no model, touches nothing outside a temporary folder, and
leaves nothing behind, after Ctrl-C neither. Exit: 0 all verified, 1 something was not, 2 wrong arguments, 130 Ctrl-C.`

const stop = (code: number, sentence: string): never => {
  console.error(sentence)
  process.exit(code)
}

const tmuxVersion = (): string | undefined => {
  try {
    return execFileSync("tmux", ["-V"], { encoding: "utf8" }).trim()
  } catch {
    return undefined
  }
}

const args = process.argv.slice(2)
const choice = args.indexOf("--multiplexer")
const multiplexer = choice === -1 ? "tmux" : args.splice(choice, 2)[1] ?? "nothing"
const surroundings = multiplexer === "tmux" || multiplexer === "herdr"
  ? multiplexer
  : stop(2, `The demo plays in tmux or herdr, not in ${multiplexer}; see npm run demo -- --help.`)
const unknown = args.find((arg) => !["--attach", "--help"].includes(arg))
if (unknown !== undefined) stop(2, `The demo does not know the argument ${unknown}; see npm run demo -- --help.`)
if (args.includes("--help")) {
  console.log(usage)
  process.exit(0)
}
const watched = args.includes("--attach")
if (watched && !(process.stdin.isTTY && process.stdout.isTTY)) {
  stop(1, "--attach shows tmux in this terminal, and this is not one; run npm run demo without it.")
}
if (!fs.existsSync("/proc/self/environ")) {
  stop(1, "The demo proves through /proc what it left behind, so it needs Linux.")
}
const tmux = tmuxVersion()
if (tmux === undefined) stop(1, "The demo needs tmux, and there is none here; install it and run the demo again.")
else if (!isSupported(tmux)) stop(1, `The demo needs tmux 3.2 or newer, and this is ${tmux}.`)

const print = (line: string) => void process.stdout.write(`${line}\n`)

/** The last screenful, without the empty lines that a terminal has. */
const lastScreen = (screen: string): string =>
  screen.split("\n").map((line) => line.trimEnd()).filter((line) => line !== "").slice(-40).map((line) => `  | ${line}`)
    .join("\n")

const explain = (cause: Cause.Cause<unknown>): string => {
  const failure = Cause.squash(cause)
  if (!(failure instanceof StepFailed)) return Cause.pretty(cause)
  const screen = lastScreen(failure.screen)
  return `${failure.step}: ${failure.why}` + (screen === "" ? "" : `\nThe last screen:\n${screen}`)
}

let interrupted = false
/** Once only: npm passes a terminal's Ctrl-C on to a process that got it already. */
const interrupt = (why: string) => () => {
  if (interrupted) return
  interrupted = true
  print(`${clock()}${why}: ending everything.`)
  story.unsafeInterruptAsFork(FiberId.none)
}
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, interrupt("Interrupted"))
// Nobody reads any more (`npm run demo | head`): what was started must end all the same.
process.stdout.on("error", interrupt("Nobody reads this"))
process.stderr.on("error", interrupt("Nobody reads this"))

const folder = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), "pi-intercom-demo-")))
// Where the harness makes its folder, and so how everything that it starts is recognized.
process.env["TMPDIR"] = folder
const leftovers = Leftovers.make(folder)
const story = Effect.runFork(
  Effect.scoped(perform(leftovers, print, watched, surroundings))
)

const exit = await Effect.runPromise(Fiber.await(story))
if (Exit.isFailure(exit) && !interrupted) print(`\nFAILED: ${explain(exit.cause)}\n`)
await Effect.runPromise(leftovers.end)
fs.rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
const left = await Effect.runPromise(leftovers.left)
const { ports, processes } = leftovers.seen()
const ended = processes === 0
  ? "Nothing is left: no session had been started yet"
  : `Nothing is left: all ${processes} processes have ended, all ${ports} ports are free`
print(
  clock() + (left.length > 0 ? `LEFT BEHIND: ${left.join("; ")}` : `${ended}, the temporary folder is gone.`)
)
process.exit(left.length > 0 ? 1 : interrupted ? 130 : Exit.isSuccess(exit) ? 0 : 1)
