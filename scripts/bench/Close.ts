import * as ConfigProvider from "effect/ConfigProvider"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Queue from "effect/Queue"
import * as fs from "node:fs"
import { IdentityFailed } from "../../src/domain/Pane.ts"
import * as Multiplexers from "../../src/layers/Multiplexers/Live.ts"
import { runTool } from "../../src/programs/tools/RunTool.ts"
import { ConfigStore } from "../../src/services/ConfigStore.ts"
import { HostSession } from "../../src/services/HostSession.ts"
import { IntercomClient } from "../../src/services/IntercomClient.ts"
import { ProcessIdentity } from "../../src/services/ProcessIdentity.ts"
import { answer, inside, pane } from "../../test/layers/Multiplexers/HerdrWorld.ts"
import { scripted } from "../../test/support/CommandScripted.ts"
import { makeHost } from "../../test/support/HostSimulated.ts"
import { median, round, timed } from "./Measure.ts"
import { connected, open } from "./Session.ts"
import { coordinatorId, place, team, workerId, workerName } from "./Team.ts"

class NotClosed extends Data.TaggedError("NotClosed")<{ readonly message: string }> {}

const rounds = { warmUp: 20, counted: 60 }

/** The panes and processes of both, by which Herdr and procfs know them. */
const ours = { number: 1, pid: 1001 }
const theirs = { number: 7, pid: 1007 }

/** A Herdr and a procfs in memory: the worker's pane and process are there until the one close command is given. */
const makeWorld = () => {
  const world = { gone: false }
  const herdr = (own: typeof ours) =>
    scripted(({ args: [noun, verb] }) => {
      switch (`${noun} ${verb}`) {
        case "pane current":
          return answer("pane_current", { pane: pane(own.number) })
        case "pane get":
          return answer("pane_info", { pane: pane(theirs.number) })
        case "pane process-info":
          return answer("pane_process_info", {
            process_info: { pane_id: pane(theirs.number).pane_id, foreground_processes: [{ pid: theirs.pid }] }
          })
        case "pane close":
          world.gone = true
          return answer("ok", {})
        case "pane list":
          return answer("pane_list", { panes: [pane(ours.number), ...(world.gone ? [] : [pane(theirs.number)])] })
        default:
          return { code: 2 }
      }
    })
  const known = { startTicks: "500", bootId: "boot", machineId: "machine", pidNamespace: "pid:[1]" }
  const processes = ({ pid: own }: typeof ours) =>
    Layer.succeed(ProcessIdentity, {
      own: { ...known, pid: own },
      look: ({ pid }) => Effect.sync(() => pid === theirs.pid && world.gone ? "gone" : "alive"),
      facts: (pid) =>
        Effect.suspend(() =>
          pid === theirs.pid && world.gone
            ? new IdentityFailed({ detail: "its process is not there any more" })
            : Effect.succeed({ ...known, state: "S", session: pid, tty: { major: 136, minor: 1 }, uid: 1000 })
        ),
      environment: () => Effect.succeed(Option.some(pane(theirs.number).pane_id)),
      deviceOf: () => Effect.dieMessage("Herdr's terminals are not looked at")
    })
  /** The Herdr and the processes that a session in that pane has. */
  const at = (own: typeof ours) => {
    const commands = herdr(own)
    const layer = Layer.fresh(Multiplexers.layer).pipe(
      Layer.provide(commands.layer),
      Layer.provideMerge(processes(own))
    )
    return { calls: () => commands.calls.length, layer }
  }
  return { world, at }
}

/** Counts what a session does from here on; each count is of one thing that really happened. */
const makeCounts = (file: string) => {
  const counts = { posts: 0, writes: 0 }
  let inode = fs.statSync(file).ino
  // A published file is another file than the one it replaced.
  const look = Effect.sync(() => {
    const now = fs.statSync(file).ino
    if (now !== inode) counts.writes += 1
    inode = now
  })
  const store = Layer.effect(
    ConfigStore,
    Effect.map(ConfigStore, (real) => ({
      ...real,
      update: (root, caller, guard, change) => Effect.tap(real.update(root, caller, guard, change), look)
    }))
  )
  const client = Layer.effect(
    IntercomClient,
    Effect.map(IntercomClient, (real) => ({
      ...real,
      send: (root, to, envelope) =>
        Effect.zipRight(Effect.sync(() => (counts.posts += 1)), real.send(root, to, envelope))
    }))
  )
  return { counts, layer: Layer.merge(store, client) }
}

/** The host of a session, which also tells of each text that it was given. */
const telling = (host: ReturnType<typeof makeHost>, tell: (text: string) => void) =>
  Layer.effect(
    HostSession,
    Effect.map(HostSession, (pi) => ({
      ...pi,
      deliver: (text, options) => Effect.tap(pi.deliver(text, options), () => Effect.sync(() => tell(text)))
    }))
  ).pipe(Layer.provideMerge(host.layer))

/**
 * One close from the tool call until the coordinator's model has its notice, both sessions in this process: config and
 * ledger in real files, HTTP real, the Herdr adapter over a Herdr in memory, and a worker whose model reports in the
 * moment in which it is asked and ends its turn then.
 *
 * `muxCalls` counts every command that either session runs, the close command among them; `messages` every POST of both;
 * `configWrites` the team files published. The counts are the highest of all rounds, the time is the middle.
 */
export const figures = (folder: string) =>
  Effect.gen(function*() {
    const file = place(folder, team(1))
    const { at, world } = makeWorld()
    const [here, there] = [at(ours), at(theirs)]
    const { counts, layer: counted } = makeCounts(file)
    const notices = yield* Queue.unbounded<string>()
    const asked = yield* Queue.unbounded<string>()

    const coordinator = yield* open(
      coordinatorId,
      folder,
      telling(
        makeHost(coordinatorId, folder),
        (text) => void (text.startsWith("[Intercom close notice") && notices.unsafeOffer(text))
      ),
      Layer.merge(here.layer, counted)
    )
    const host = makeHost(workerId(0), folder)
    const worker = yield* open(
      workerId(0),
      folder,
      telling(host, (text) => void asked.unsafeOffer(text)),
      Layer.merge(there.layer, counted)
    )
    yield* connected(coordinator, worker, workerId(0))

    /** The run that a text begins, with the events that Pi tells of one. */
    const turn = (text: string) => {
      const [, jobId = ""] = /^jobId: (.+)$/m.exec(text) ?? []
      host.idle = false
      host.work.input({ source: "extension", text })
      host.work.beforeAgentStart(text)
      host.work.see({ type: "agent_start" })
      host.work.userMessage(text)
      const args = { jobId, summary: "All is done; the tests are green." }
      return Effect.map(
        Effect.exit(runTool("intercom_report_handoff", args, { id: jobId, epoch: host.work.state().epoch })),
        (exit) => {
          host.results = [{ toolCallId: jobId, isError: Exit.isFailure(exit) }]
          host.idle = true
          host.work.see({ type: "settled", restarted: false })
        }
      )
    }
    worker.bridge.now(Effect.forever(Effect.flatMap(Queue.take(asked), turn)))

    const close = Effect.gen(function*() {
      const args = { to: workerName(0) }
      const begun = yield* Effect.promise(() =>
        coordinator.bridge.run(runTool("intercom_close_worker", args, { id: "", epoch: 0 }))
      )
      if (begun._tag === "Failed") return yield* new NotClosed({ message: begun.sentence })
      const notice = yield* Queue.take(notices)
      if (!notice.includes("state: closed\nhandoff of this close: saved")) {
        return yield* new NotClosed({ message: notice })
      }
    })
    const one = Effect.gen(function*() {
      world.gone = false
      const before = { ...counts, calls: here.calls() + there.calls() }
      const ms = yield* timed(close)
      return {
        ms,
        posts: counts.posts - before.posts,
        writes: counts.writes - before.writes,
        calls: here.calls() + there.calls() - before.calls
      }
    })
    yield* Effect.replicateEffect(one, rounds.warmUp)
    const seen = yield* Effect.replicateEffect(one, rounds.counted)
    return {
      "close.ms": round(median(seen.map(({ ms }) => ms)), 1),
      "close.configWrites": Math.max(...seen.map(({ writes }) => writes)),
      "close.messages": Math.max(...seen.map(({ posts }) => posts)),
      "close.muxCalls": Math.max(...seen.map(({ calls }) => calls))
    }
  }).pipe(Effect.withConfigProvider(ConfigProvider.fromMap(new Map(Object.entries({ ...process.env, ...inside })))))
