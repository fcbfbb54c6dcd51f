import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as fs from "node:fs"
import * as path from "node:path"
import { writeProbe } from "../support/epochs/Build.ts"
import { eventually } from "../support/Eventually.ts"
import { type HostVersion, hostVersions } from "../support/HostVersions.ts"
import * as PiHarness from "../support/PiHarness.ts"
import { call, held, say, type Script } from "../support/ScriptedModel.ts"

const bound = 240_000

/** What the adapters said at one event (see Probe.ts). */
const Look = Schema.Struct({
  at: Schema.String,
  epoch: Schema.Number,
  busy: Schema.Boolean,
  succeeded: Schema.Array(Schema.String),
  kept: Schema.Boolean
})
type Look = typeof Look.Type
const decodeLook = Schema.decodeUnknownSync(Schema.parseJson(Look))

/** A Pi with the probe in it; what it logged is read step by step. */
const startProbed = (version: HostVersion, script: Script) =>
  Effect.gen(function*() {
    const harness = yield* PiHarness.make(version, script)
    const folder = yield* harness.folder("probe")
    const log = path.join(folder, "log")
    fs.writeFileSync(log, "")
    const entry = yield* writeProbe(folder)
    const pi = yield* harness.start({ extensions: [entry], environment: { PROBE_LOG: log } })
    let read = 0
    /** Does something and answers what was logged since the last time, up to the first look at that event. */
    const until = <E, R>(at: string, action: Effect.Effect<unknown, E, R>) =>
      Effect.zipRight(
        action,
        eventually(
          at,
          Effect.sync(() => {
            const fresh = fs.readFileSync(log, "utf8").split("\n").slice(read, -1).map((line) => decodeLook(line))
            const end = fresh.findIndex((look) => look.at === at)
            if (end < 0) return Option.none()
            read += end + 1
            return Option.some(fresh.slice(0, end + 1))
          }),
          Effect.sync(() => fs.readFileSync(log, "utf8"))
        )
      )
    return { pi, until }
  })

const at = (looks: ReadonlyArray<Look>, event: string): Look =>
  looks.find((look) => look.at === event) ?? assert.fail(`no ${event} in ${looks.map((look) => look.at).join(", ")}`)
const last = (looks: ReadonlyArray<Look>): Look => looks.at(-1) ?? assert.fail("no look")
/** Asserts that a new epoch began with that event, as compared with the look before it. */
const begins = (looks: ReadonlyArray<Look>, event: string, before: number) => {
  const index = looks.findIndex((look) => look.at === event)
  assert.isAbove(at(looks, event).epoch, looks[index - 1]?.epoch ?? before, event)
}

describe.each(hostVersions)("what Pi %s works on", (version) => {
  it.scopedLive("runs, results, and the epochs that texts and runs begin", () =>
    Effect.gen(function*() {
      const gate = yield* Deferred.make<void>()
      const { pi, until } = yield* startProbed(version, (request) => {
        if (request.lastRole !== "user") return say("ok")
        if (request.lastUser === "wait") return held(Deferred.await(gate))
        if (request.lastUser.startsWith("report")) return call("succeed")
        return request.lastUser === "break" ? call("fail") : say("ok")
      })
      const start = last(yield* until("session_start startup", Effect.void))
      assert.deepInclude(start, { busy: false, kept: false })

      // A typed text begins one when it comes, when its run starts, and when the model gets it.
      const typed = yield* until("agent_settled", pi.type("report"))
      for (const event of ["input interactive idle", "agent_start", "message_start user"]) {
        begins(typed, event, start.epoch)
      }
      const began = at(typed, "execute succeed")
      assert.isTrue(began.busy)
      assert.strictEqual(began.epoch, at(typed, "tool_execution_start").epoch)
      // Its result is there from the turn's end on, and the epoch of the call is still the current one at the end.
      assert.deepStrictEqual(at(typed, "tool_execution_end").succeeded, [])
      assert.lengthOf(at(typed, "turn_end").succeeded, 1)
      assert.deepInclude(last(typed), { busy: false, kept: true, epoch: began.epoch })
      const good = last(typed).succeeded
      assert.lengthOf(good, 1)

      const failed = yield* until("agent_settled", pi.type("break"))
      assert.isAbove(at(failed, "execute fail").epoch, began.epoch)
      assert.deepStrictEqual(last(failed).succeeded, good, "a failed call has no successful result")

      // While busy: when it comes, and when the running model gets it.
      const waiting = yield* until("message_start assistant", pi.type("wait"))
      const steered = yield* until("input interactive steer", pi.type("more"))
      begins(steered, "input interactive steer", last(waiting).epoch)
      const shell = yield* until("user_bash", pi.type("!true"))
      begins(shell, "user_bash", last(steered).epoch)
      const taken = yield* until("agent_settled", Deferred.succeed(gate, undefined))
      begins(taken, "message_start user", last(shell).epoch)
      begins(yield* until("user_bash", pi.type("!true")), "user_bash", last(taken).epoch)

      // The job's own delivery begins none, in whatever run; another one, and a run without a text, does.
      const before = last(yield* until("probe job", pi.type("/probe job report please")))
      const job = yield* until("agent_settled", Effect.void)
      assert.deepStrictEqual([...new Set(job.map(({ epoch }) => epoch))], [before.epoch])
      assert.lengthOf(last(job).succeeded, 2)
      const other = yield* until("agent_settled", pi.type("/probe other a message"))
      begins(other, "input extension idle", before.epoch)
      assert.isAbove(at(other, "agent_start").epoch, at(other, "before_agent_start").epoch)
      const custom = yield* until("agent_settled", pi.type("/probe custom"))
      assert.isAbove(at(custom, "agent_start").epoch, last(other).epoch)
      // The same words are of the job only while the job's delivery of them is on its way.
      const again = yield* until("agent_settled", pi.type("/probe other report please"))
      begins(again, "input extension idle", last(custom).epoch)
    }), bound)

  it.scopedLive(
    "compaction, dialogs, the session tree, an aborted run, and other sessions",
    () =>
      Effect.gen(function*() {
        const summary = yield* Deferred.make<void>()
        const { pi, until } = yield* startProbed(version, (request) => {
          if (request.summary) return held(Deferred.await(summary))
          return request.lastUser === "wait" ? held(Effect.never) : say("ok")
        })
        const settled = last(yield* until("agent_settled", pi.type("hello")))

        // Busy until its end, whatever `isIdle` says.
        const compacting = yield* until("session_before_compact manual", pi.type("/compact"))
        assert.isAbove(last(compacting).epoch, settled.epoch)
        assert.isTrue(last(compacting).busy)
        const asked = last(yield* until("probe look", pi.type("/probe look")))
        assert.isTrue(asked.busy)
        const compacted = yield* until("session_compact", Deferred.succeed(summary, undefined))
        assert.strictEqual(last(compacted).epoch, asked.epoch)
        const nothing = yield* until("session_compact_failed", pi.type("/compact"))
        assert.deepInclude(last(nothing), { busy: false, epoch: asked.epoch })

        const dialog = yield* until("ui_prompt_start", pi.type("/probe ask"))
        begins(dialog, "ui_prompt_start", last(nothing).epoch)
        assert.isTrue(last(dialog).busy)
        assert.isFalse(last(yield* until("probed ask", Effect.zipRight(pi.shows("Really?"), pi.keys("Enter")))).busy)

        const running = yield* until("message_start assistant", pi.type("wait"))
        assert.isTrue(last(running).busy)
        const aborted = last(yield* until("agent_settled", pi.keys("Escape")))
        assert.deepInclude(aborted, { busy: false, epoch: last(running).epoch })

        yield* pi.type("/tree")
        yield* pi.shows("Session Tree")
        yield* pi.keys("Up", "Up", "Enter")
        yield* pi.shows("No summary")
        const moved = yield* until("session_tree", pi.keys("Enter"))
        begins(moved, "session_before_tree", aborted.epoch)
        begins(moved, "session_tree", aborted.epoch)

        yield* pi.keys("C-c")
        assert.isFalse(last(yield* until("session_start reload", pi.type("/reload"))).busy)
        // Before that 0.84.4 loses what is typed.
        yield* pi.shows("Reloaded")
        assert.deepInclude(last(yield* until("session_start new", pi.type("/new"))), { busy: false, kept: false })
      }),
    bound
  )
})
