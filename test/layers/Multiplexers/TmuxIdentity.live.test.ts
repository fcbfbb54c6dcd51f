import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { join } from "node:path"
import { published } from "../../support/Processes.ts"
import { ada, child, ended, open, startOf, stay, team, whatIs } from "./TmuxTeam.ts"

const Said = Schema.parseJson(Schema.Struct({
  workspaceId: Schema.optional(Schema.String),
  paneId: Schema.optional(Schema.String),
  terminalId: Schema.optional(Schema.String),
  pid: Schema.optional(Schema.Number),
  refused: Schema.optional(Schema.String)
}))
const program = [
  process.execPath,
  "--experimental-strip-types",
  "--no-warnings",
  join(import.meta.dirname, "identify.ts")
]

describe("tmux panes, for real", () => {
  it.scopedLive("a program says in which pane it runs, and the coordinator agrees", () =>
    Effect.gen(function*() {
      const { claim, tmux, verify } = yield* team
      const out = join(tmux.folder, "said")
      const quoted = [...program, out].map((word) => `'${word}'`).join(" ")
      const worker = yield* open(tmux, `exec ${quoted}`)
      const said = yield* Effect.flatMap(published(out), Schema.decode(Said))
      assert.deepStrictEqual(
        { ...said },
        {
          workspaceId: `tmux:${tmux.serverPid}:${yield* startOf(tmux.serverPid)}`,
          paneId: worker.pane,
          terminalId: worker.tty,
          pid: worker.pid
        }
      )
      yield* verify(yield* claim(worker))
    }))

  it.scopedLive("a program that left its terminal, or has the variables of another pane, does not know where it is", () =>
    Effect.gen(function*() {
      const { tmux } = yield* team
      const other = yield* open(tmux)
      const [left, strange] = [join(tmux.folder, "left"), join(tmux.folder, "strange")]
      const quoted = program.map((word) => `'${word}'`).join(" ")
      yield* open(tmux, `setsid ${quoted} '${left}' & TMUX_PANE=${other.pane} exec ${quoted} '${strange}'`)
      const escaped = yield* child(tmux, [...program, left].join(" "))
      yield* Effect.addFinalizer(() => Effect.sync(() => process.kill(escaped, "SIGKILL")))
      for (const out of [left, strange]) {
        const { refused } = yield* Effect.flatMap(published(out), Schema.decode(Said))
        assert.strictEqual(
          refused,
          "The pane could not be verified: this session does not run in the tmux pane that its environment names: " +
            "its process runs in another terminal."
        )
      }
    }))

  it.scopedLive("joined, broken out, swapped, moved to another window or into a grouped session it is the same pane", () =>
    Effect.gen(function*() {
      const { claim, gone, launch, own, refusal, tmux, verify } = yield* team
      const launched = yield* launch
      const worker = yield* whatIs(tmux, launched.pane)
      const identity = yield* claim(worker)
      const other = yield* open(tmux)
      yield* verify(identity)
      // Too small for a second pane as it was started.
      yield* tmux.run(["resize-window", "-t", own.pane, "-x", "80", "-y", "40"])
      const moves: ReadonlyArray<ReadonlyArray<string>> = [
        ["join-pane", "-d", "-s", worker.pane, "-t", own.pane],
        ["swap-pane", "-d", "-s", worker.pane, "-t", other.pane],
        ["break-pane", "-d", "-s", other.pane],
        ["move-window", "-d", "-s", worker.pane, "-t", "anchor:77"],
        ["new-session", "-d", "-s", "grouped", "-t", "anchor"]
      ]
      for (const move of moves) {
        yield* tmux.run(move)
        yield* verify(identity)
        assert.isFalse(yield* gone(launched.trace), move[0])
      }
      const rows = yield* tmux.run(["list-panes", "-a", "-F", "#{pane_id}"])
      assert.strictEqual(rows.split("\n").filter((row) => row === worker.pane).length, 2)

      yield* tmux.run(["new-session", "-d", "-s", "elsewhere", "--", "/bin/sh", "-c", stay])
      yield* tmux.run(["join-pane", "-d", "-s", worker.pane, "-t", "elsewhere:"])
      assert.strictEqual(yield* refusal(identity), "it is not in this session's tmux session")
      assert.isFalse(yield* gone(launched.trace))
      yield* tmux.run(["link-window", "-d", "-s", "elsewhere:", "-t", "anchor:88"])
      yield* verify(identity)
    }))

  it.scopedLive("respawned it is the same pane with another process", () =>
    Effect.gen(function*() {
      const { claim, gone, launch, refusal, tmux, verify } = yield* team
      const launched = yield* launch
      const before = yield* whatIs(tmux, launched.pane)
      const identity = yield* claim(before)
      yield* tmux.run(["respawn-pane", "-k", "-t", before.pane, "--", "/bin/sh", "-c", stay])
      const after = yield* whatIs(tmux, before.pane)
      assert.notStrictEqual(after.pid, before.pid)
      yield* ended(before.pid)
      assert.include(["its process is not there any more", "its process has ended"], yield* refusal(identity))
      // Also to who names the new process without being in its place.
      const start = yield* startOf(after.pid)
      if (after.tty !== before.tty) {
        assert.strictEqual(
          yield* refusal({ ...identity, pid: after.pid, processStart: start }),
          "it has another terminal now"
        )
      }
      yield* verify(yield* claim(after))
      assert.isFalse(yield* gone(launched.trace))
    }))

  it.scopedLive("what runs below the pane's first process is in it, what left its session or is in another pane is not", () =>
    Effect.gen(function*() {
      const { claim, own, refusal, tmux, verify } = yield* team
      const script = "sleep 86401 & (sleep 86402 &) ; (setsid sleep 86403 &) ; exec sleep 86404"
      const worker = yield* open(tmux, script)
      const escaped = yield* child(tmux, "sleep 86403")
      yield* Effect.addFinalizer(() => Effect.sync(() => process.kill(escaped, "SIGKILL")))
      for (const below of ["sleep 86401", "sleep 86402", "sleep 86404"]) {
        yield* verify(yield* claim(worker, yield* child(tmux, below)))
      }
      assert.strictEqual(yield* refusal(yield* claim(worker, escaped)), "its process runs in another terminal")
      const other = yield* open(tmux)
      assert.strictEqual(yield* refusal(yield* claim(worker, other.pid)), "its process runs in another terminal")
      assert.strictEqual(yield* refusal(yield* claim(own)), "it is this session's own pane")
      assert.strictEqual(yield* refusal(yield* claim(worker, own.pid)), "its process is this session's own")
      assert.strictEqual(yield* refusal({ ...(yield* claim(worker)), processStart: "1" }), "its process has ended")
      assert.strictEqual(yield* refusal({ ...(yield* claim(worker)), sessionId: ada }), "its session is this one")
      const terminal = yield* Effect.map(claim(worker), (claimed) => ({ ...claimed, terminalId: other.tty }))
      assert.strictEqual(yield* refusal(terminal), "it has another terminal now")
    }))

  it.scopedLive("another user's process is not closed", () =>
    Effect.gen(function*() {
      if (process.getuid?.() !== 0) return
      const { claim, refusal, tmux } = yield* team
      const worker = yield* open(tmux, "exec setpriv --reuid=65534 --clear-groups sleep 86400")
      yield* child(tmux, "sleep 86400")
      assert.strictEqual(yield* refusal(yield* claim(worker)), "its process belongs to another user")
    }))

  it.scopedLive("a process in a terminal of its own within the pane is not the pane's", () =>
    Effect.gen(function*() {
      const { claim, refusal, tmux } = yield* team
      const worker = yield* open(tmux, "exec script -qec 'sleep 86405' /dev/null")
      const inner = yield* child(tmux, "sleep 86405")
      // `script` does not end with its terminal.
      yield* Effect.addFinalizer(() =>
        Effect.sync(() => [worker.pid, inner].forEach((pid) => process.kill(pid, "SIGKILL")))
      )
      assert.strictEqual(yield* refusal(yield* claim(worker, inner)), "its process runs in another terminal")
    }))

  it.scopedLive("a server that hangs is unknown within the deadline", () =>
    Effect.gen(function*() {
      const { claim, gone, launch, refusal, tmux } = yield* team
      const launched = yield* launch
      const identity = yield* claim(yield* whatIs(tmux, launched.pane))
      yield* tmux.run(["kill-pane", "-t", launched.pane])
      const worker = yield* open(tmux)
      yield* Effect.acquireRelease(
        Effect.sync(() => process.kill(tmux.serverPid, "SIGSTOP")),
        () => Effect.sync(() => process.kill(tmux.serverPid, "SIGCONT"))
      )
      const claimed = yield* claim(worker)
      const [isGone, why] = yield* Effect.all([gone(launched.trace), refusal(claimed), refusal(identity)], {
        concurrency: 3
      })
      assert.isFalse(isGone)
      assert.strictEqual(why, "tmux did not answer in time and was ended")
    }))

  it.scopedLive("a pane without a program spoils nothing", () =>
    Effect.gen(function*() {
      const { claim, own, refusal, tmux, verify } = yield* team
      yield* tmux.run(["resize-window", "-t", own.pane, "-x", "80", "-y", "40"])
      const empty = (yield* tmux.run(["split-window", "-d", "-P", "-F", "#{pane_id}", "-t", own.pane, ""])).trim()
      const worker = yield* open(tmux)
      const identity = yield* claim(worker)
      yield* verify(identity)
      assert.strictEqual(yield* refusal({ ...identity, paneId: empty }), "its program has ended")
    }))
})
