import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as path from "node:path"
import type { PaneIdentity } from "../../domain/Envelope.ts"
import { type HerdrPane, isId } from "../../domain/HerdrAnswers.ts"
import { IdentityFailed, type Pane, type PaneTrace } from "../../domain/Pane.ts"
import type { VerifiedPane } from "../../domain/PaneClosing.ts"
import { forbidden } from "../../domain/PaneRules.ts"
import type { SessionId } from "../../domain/Primitives.ts"
import type { ProcessIdentity } from "../../services/ProcessIdentity.ts"
import { realPath } from "../Files.ts"
import type { HerdrClient } from "./HerdrClient.ts"

const unless = (holds: boolean, detail: string): Effect.Effect<void, IdentityFailed> =>
  holds ? Effect.void : Effect.fail(new IdentityFailed({ detail }))

const paneOf = (pane: HerdrPane): Pane => ({
  workspaceId: pane.workspace_id,
  paneId: pane.pane_id,
  terminalId: pane.terminal_id
})

/** A path with the links of its directory resolved: the file itself may not exist yet. */
const resolved = (file: string): Effect.Effect<string, IdentityFailed> =>
  unless(path.isAbsolute(file), "its session file has no absolute path").pipe(
    Effect.zipRight(realPath(path.dirname(file))),
    Effect.map((directory) => path.join(directory, path.basename(file))),
    Effect.catchTag("FileFailed", () => new IdentityFailed({ detail: "the folder of its session file is not there" }))
  )

/** Recognising Herdr's panes (spec 6.3). `own` is this session's pane, as Herdr says now. */
export const make = (
  client: HerdrClient,
  processes: ProcessIdentity["Type"],
  own: Effect.Effect<HerdrPane, { readonly detail: string }>
) => {
  const asked = <A>(effect: Effect.Effect<A, { readonly detail: string }>): Effect.Effect<A, IdentityFailed> =>
    Effect.mapError(effect, ({ detail }) => new IdentityFailed({ detail }))

  /** Herdr's word for the session in the pane or, where its Pi integration is not installed, the process's own. */
  const checkSession = Effect.fnUntraced(function*(pane: HerdrPane, worker: PaneIdentity) {
    yield* unless((pane.agent ?? "pi") === "pi", "Herdr sees another program than Pi in it")
    const session = pane.agent_session ?? undefined
    if (session === undefined) {
      const named = yield* processes.environment(worker.pid, "HERDR_PANE_ID")
      return yield* unless(
        Option.isSome(named) && named.value === worker.paneId,
        "its process was not started in that pane"
      )
    }
    yield* unless(
      session.source === "herdr:pi" && session.kind === "path" &&
        (yield* resolved(session.value)) === (yield* resolved(worker.sessionFile)),
      "Herdr sees another session in it"
    )
  })

  const verify = Effect.fn("Herdr.verify")(function*(worker: PaneIdentity, sessionId: SessionId) {
    yield* unless(
      isId(worker.workspaceId) && isId(worker.paneId) && isId(worker.terminalId),
      "what should be Herdr's ids are none"
    )
    const closer = yield* asked(own)
    const pane = yield* asked(client.get(worker.paneId))
    yield* unless(
      pane.pane_id === worker.paneId && pane.terminal_id === worker.terminalId &&
        pane.workspace_id === worker.workspaceId,
      "Herdr has another pane or terminal under its id"
    )
    yield* unless(pane.workspace_id === closer.workspace_id, "it is not in this session's Herdr workspace")
    const inside = yield* asked(client.processes(worker.paneId))
    yield* unless(
      inside.pane_id === worker.paneId && (inside.foreground_processes ?? []).some(({ pid }) => pid === worker.pid),
      "its process does not run in the foreground there"
    )
    yield* checkSession(pane, worker)
    // Last: everything that was said of the pid must have been of this process.
    const [ours, process] = [yield* processes.facts(processes.own.pid), yield* processes.facts(worker.pid)]
    const problem = forbidden(worker, process, {
      pane: paneOf(closer),
      pid: processes.own.pid,
      sessionId,
      uid: ours.uid
    })
    yield* unless(problem === undefined, problem ?? "")
    return { ...paneOf(pane), firstPid: undefined, verifier: paneOf(closer) } satisfies VerifiedPane
  })

  /**
   * Whether a pane is proven gone: by a whole list of the workspace it was opened in that lacks it, and by one of all
   * panes that lacks its terminal, which stays with a pane that gets another id in another workspace (facts/herdr). A
   * list without this session's own pane, where that belongs, is not whole.
   */
  const lacks = Effect.fn("Herdr.lacks")(
    function*(
      { paneId, terminalId, workspaceId }: Pick<PaneTrace, "paneId" | "terminalId" | "workspaceId">,
      from: Effect.Effect<Pane, { readonly detail: string }>
    ) {
      if (!isId(workspaceId) || !isId(paneId) || !isId(terminalId)) return false
      const { paneId: caller, workspaceId: here } = yield* from
      const inIt = yield* client.list(workspaceId)
      if (!inIt.every((pane) => pane.workspace_id === workspaceId && pane.pane_id !== paneId)) return false
      if (here === workspaceId && !inIt.some((pane) => pane.pane_id === caller)) return false
      const all = yield* client.list()
      return all.every((pane) => pane.pane_id !== paneId && pane.terminal_id !== terminalId) &&
        all.some((pane) => pane.pane_id === caller)
    },
    Effect.orElseSucceed(() => false)
  )

  const identify = Effect.map(asked(own), paneOf)
  const gone = (trace: PaneTrace) => lacks(trace, identify)
  // Who verified it moments ago is not asked for again: a close has few calls (spec 6.2, cost).
  const isGone = (pane: VerifiedPane) => lacks(pane, Effect.succeed(pane.verifier ?? pane))

  return { identify, verify, gone, isGone }
}
