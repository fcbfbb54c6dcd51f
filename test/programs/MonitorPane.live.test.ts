import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { execFileSync } from "node:child_process"
import { createHash } from "node:crypto"
import * as fs from "node:fs"
import { dirname, join } from "node:path"
import { SessionId } from "../../src/domain/Primitives.ts"
import * as LockFile from "../../src/layers/OwnedLock/File.ts"
import * as Platform from "../../src/layers/Platform/Node.ts"
import * as Procfs from "../../src/layers/ProcessIdentity/Procfs.ts"
import { OwnedLock } from "../../src/services/OwnedLock.ts"
import { StateDir } from "../../src/services/StateDir.ts"
import { from, whatIs } from "../layers/Multiplexers/TmuxTeam.ts"
import { eventuallyTrue } from "../support/Eventually.ts"
import * as Pane from "../support/member/Pane.ts"
import * as Place from "../support/member/Place.ts"
import { isRunning } from "../support/Processes.ts"
import { type RealTmux, realTmux } from "../support/Tmux.ts"

const owner = createHash("sha256").update("c-1").digest("hex").slice(0, 24)

/** A tmux that notes its calls; while there is a file `halt`, it does a split and then keeps its answer to itself. */
const watchedTmux = (base: string): string => {
  const real = execFileSync("sh", ["-c", "command -v tmux"], { encoding: "utf8" }).trim()
  const script = `#!/bin/sh
echo "$*" >>"${base}/calls"
case " $* " in
*" split-window "*)
  if [ -e "${base}/halt" ]; then
    "${real}" "$@" >/dev/null
    : >"${base}/halted"
    while kill -0 "$PPID"; do sleep 0.05; done
    exit 1
  fi
esac
exec "${real}" "$@"
`
  fs.mkdirSync(join(base, "bin"))
  fs.writeFileSync(join(base, "bin/tmux"), script, { mode: 0o755 })
  return join(base, "bin")
}

/** A team on disk whose coordinator has not started, and a process for it in a window of 100 by 40. */
const team = Effect.gen(function*() {
  const tmux = yield* realTmux()
  yield* Pane.prepare(tmux)
  const place = yield* Place.make(tmux, "1.6.0")
  const monitor = join(dirname(place.entry), "monitor.cjs")
  fs.writeFileSync(monitor, "setInterval(() => {}, 1e6)\n")
  const environment = { PATH: `${watchedTmux(place.base)}:${process.env["PATH"] ?? ""}` }
  const pane = yield* Pane.start(tmux, "coordinator")
  yield* tmux.run(["resize-window", "-t", pane.pane, "-x", "100", "-y", "40"])
  const state = dirname(place.ledger)
  const lock = join(state, "monitor.lock")
  const looks = () => {
    const file = join(place.base, "calls")
    const calls = fs.existsSync(file) ? fs.readFileSync(file, "utf8") : ""
    return calls.split("#{pane_start_command}").length - 1
  }
  /** Opens the coordinator's session there, as a start of Pi or `/reload` does, and waits for the end of its look. */
  const open = (at = pane) =>
    Effect.gen(function*() {
      const before = looks()
      assert.deepInclude(yield* at.ask(place.open("c-1", environment)), { ok: true, text: "coordinator" })
      yield* eventuallyTrue("the look", Effect.sync(() => looks() > before && !fs.existsSync(lock)))
    })
  const said = (at = pane) => Effect.map(at.ask({ _tag: "Shown" }), ({ text }) => text)
  /** Waits until the person there has been told. */
  const says = (at: Pane.Pane, what: RegExp) =>
    eventuallyTrue(String(what), Effect.map(said(at), (text) => what.test(text)), said(at))
  return { ...place, tmux, pane, environment, open, order: place.open, said, says, lock, monitor }
})

/** The panes that were started as the coordinator's monitor. */
const monitors = (tmux: RealTmux) =>
  Effect.map(
    tmux.run(["list-panes", "-a", "-F", "#{pane_id} #{window_id} #{pane_pid} #{pane_start_command}"]),
    (text) =>
      text.trim().split("\n").filter((line) => line.includes(`--owner ${owner}`)).map((line) => {
        const [pane = "", window = "", pid = ""] = line.split(" ")
        return { pane, window, pid: Number(pid) }
      })
  )
const windowOf = (tmux: RealTmux, pane: string) =>
  Effect.map(
    tmux.run(["list-panes", "-t", pane, "-F", "#{pane_top} #{pane_id}#{?pane_active,*,}"]),
    (text) =>
      text.trim().split("\n").map((line) => line.split(" "))
        .toSorted(([one], [two]) => Number(one) - Number(two)).map(([, id]) => id)
  )

describe("the coordinator's monitor pane, with real processes in real tmux", () => {
  it.scopedLive("a start makes it above this session's pane, runs the monitor of this package, and keeps the focus", () =>
    Effect.gen(function*() {
      const { environment, monitor, open, pane, root, said, state, tmux } = yield* team
      yield* open()
      const [made, ...more] = yield* monitors(tmux)
      assert(made !== undefined)
      assert.lengthOf(more, 0)
      assert.deepStrictEqual(yield* windowOf(tmux, pane.pane), [made.pane, `${pane.pane}*`])
      const read = (name: string) => fs.readFileSync(`/proc/${made.pid}/${name}`, "utf8").split("\0").slice(0, -1)
      yield* eventuallyTrue("the monitor's program", Effect.sync(() => read("cmdline")[1] === monitor))
      assert.deepStrictEqual(read("cmdline").slice(1), [monitor, "--root", root, "--owner", owner])
      assert.strictEqual(fs.readlinkSync(`/proc/${made.pid}/cwd`), root)
      const variables = read("environ")
      for (
        const [name, value] of [["PI_INTERCOM_ROOT", root], ["PI_INTERCOM_STATE_DIR", state], [
          "PATH",
          environment.PATH
        ]]
      ) {
        assert.include(variables, `${name}=${value}`)
      }
      assert.deepStrictEqual(variables.filter((one) => /^(HERDR_|PI_SESSION_)/.test(one)), [])
      assert.notInclude(yield* said(), "monitor")
    }))

  it.scopedLive("a reload keeps it, and so does a restart in another pane of the window; in another window it says so", () =>
    Effect.gen(function*() {
      const { open, pane, said, says, tmux } = yield* team
      yield* open()
      const made = yield* monitors(tmux)
      yield* open()
      assert.deepStrictEqual(yield* monitors(tmux), made)
      yield* pane.ask({ _tag: "Close" })
      const beside = yield* Pane.start(tmux, "beside", pane.pane)
      yield* open(beside)
      assert.deepStrictEqual(yield* monitors(tmux), made)
      assert.notInclude(yield* said(beside), "monitor")
      yield* beside.ask({ _tag: "Close" })
      const elsewhere = yield* Pane.start(tmux, "elsewhere")
      yield* open(elsewhere)
      assert.deepStrictEqual(yield* monitors(tmux), made)
      yield* says(elsewhere, /Intercom: The monitor pane was left alone: it is the pane %\d+, which is in another tab/)
      // It coordinates all the same.
      assert.match((yield* elsewhere.ask({ _tag: "Command", args: "", yes: false })).text, /coordinator/)
      yield* tmux.run(["kill-pane", "-t", made[0]?.pane ?? ""])
      yield* open(elsewhere)
      const [again] = yield* monitors(tmux)
      assert.deepStrictEqual(
        again?.window,
        (yield* tmux.run(["display-message", "-p", "-t", elsewhere.pane, "#{window_id}"])).trim()
      )
    }))

  it.scopedLive("killed while it is made, it leaves a lock that the next one takes over, and one pane", () =>
    Effect.gen(function*() {
      const { base, environment, flag, lock, open: opened, pane, said, tmux, ...place } = yield* team
      flag("halt", true)
      assert.deepInclude(yield* pane.ask(place.order("c-1", environment)), { ok: true })
      yield* eventuallyTrue("the split", Effect.sync(() => fs.existsSync(join(base, "halted"))))
      const beside = yield* Pane.start(tmux, "beside", pane.pane)
      const made = yield* monitors(tmux)
      assert.lengthOf(made, 1)
      pane.signal("SIGKILL")
      yield* eventuallyTrue("its end", Effect.sync(() => !isRunning(pane.pid)))
      assert.strictEqual(JSON.parse(fs.readFileSync(lock, "utf8")).pid, pane.pid)
      flag("halt", false)
      yield* opened(beside)
      assert.deepStrictEqual(yield* monitors(tmux), made)
      assert.notInclude(yield* said(beside), "monitor")
    }))

  it.scopedLive("of several that look at once, one makes it and the others keep it or find the lock held", () =>
    Effect.gen(function*() {
      const { ledger, monitor, pane, root, tmux } = yield* team
      const folder = dirname(ledger)
      fs.mkdirSync(folder, { recursive: true })
      const locks = LockFile.layer.pipe(
        Layer.provide(Layer.provide(Procfs.layer, Platform.layer)),
        Layer.provide(Layer.succeed(StateDir, { base: Effect.succeed(folder), of: () => Effect.succeed(folder) }))
      )
      const session = from(tmux, yield* whatIs(tmux, pane.pane), tmux.serverPid)
      const one = Effect.flatMap(OwnedLock, (lock) =>
        lock.monitor(
          root,
          session.placeMonitor({
            root,
            sessionId: SessionId.make("c-1"),
            argv: [process.execPath, monitor],
            directory: root,
            environment: {}
          })
        )).pipe(
          Effect.provide(Layer.fresh(locks)),
          Effect.map(({ outcome }): string => outcome),
          Effect.catchTag("LockNotTaken", () => Effect.succeed("held"))
        )
      const outcomes = yield* Effect.replicateEffect(one, 5).pipe(Effect.withConcurrency("unbounded"))
      assert.lengthOf(outcomes.filter((outcome) => outcome === "created"), 1)
      assert.lengthOf(yield* monitors(tmux), 1)
    }))

  it.scopedLive("a window that is too small is said to the person", () =>
    Effect.gen(function*() {
      const { open, pane, says, tmux } = yield* team
      yield* tmux.run(["resize-window", "-t", pane.pane, "-y", "10"])
      yield* open()
      yield* says(pane, /Intercom: There is no monitor pane: this tab has 10 rows, and it needs 12;/)
      assert.lengthOf(yield* monitors(tmux), 0)
    }))
})
