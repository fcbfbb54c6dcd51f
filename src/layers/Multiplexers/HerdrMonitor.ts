import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { StateUnusable } from "../../domain/ConfigErrors.ts"
import { type HerdrPane, isAbove } from "../../domain/HerdrAnswers.ts"
import type { LaunchFailed, LaunchRequest } from "../../domain/Launch.ts"
import {
  decide,
  leftBehind,
  MonitorFailed,
  type MonitorPlaced,
  type MonitorRequest,
  monitorTitle,
  noMonitor,
  onceDone
} from "../../domain/MonitorPane.ts"
import type { OwnedMonitor } from "../../domain/OwnedMonitor.ts"
import { type PaneTrace, parseTrace } from "../../domain/Pane.ts"
import type { MonitorRecord } from "../../services/MonitorRecord.ts"
import type { HerdrClient } from "./HerdrClient.ts"

/** What the monitor's pane needs of the Herdr that this session runs in. */
export interface Around {
  readonly client: HerdrClient
  readonly records: MonitorRecord["Type"]
  /** This session's own pane, as Herdr says now. */
  readonly own: Effect.Effect<HerdrPane, LaunchFailed>
  /** What the workspace of a trace begins with under this server; undefined where no server is named. */
  readonly server: string | undefined
  readonly traceOf: (pane: HerdrPane) => { readonly trace?: string }
  readonly gone: (trace: PaneTrace) => Effect.Effect<boolean>
  /** The short line that starts a program in a pane, and what removes it when it is surely never typed. */
  readonly lineFor: (
    request: LaunchRequest
  ) => Effect.Effect<{ readonly line: string; readonly discard: Effect.Effect<void> }, LaunchFailed>
}

const isBeside = (pane: HerdrPane, caller: HerdrPane): boolean =>
  pane.workspace_id === caller.workspace_id && pane.tab_id === caller.tab_id && pane.pane_id !== caller.pane_id &&
  pane.terminal_id !== caller.terminal_id

type Panes = Effect.Effect.Success<ReturnType<HerdrClient["list"]>>

const none = ({ detail }: { readonly detail: string }) => noMonitor(detail)
const unusable = ({ message }: StateUnusable) => noMonitor(message.replace(/\.$/, ""))

/**
 * The monitor's pane in this session's Herdr (spec 5.6). Whose it is stands in a record of the state folder, written
 * before and after each thing that is done: at no moment does it say less than what there may be.
 */
export const make = ({ client, gone, lineFor, own, records, server, traceOf }: Around) => {
  /** The recorded pane, or none when that is proven gone; fails unless one of the two is certain. */
  const find = Effect.fnUntraced(function*(panes: Panes, file: string, { pane, stage }: OwnedMonitor) {
    const trace = pane === undefined ? undefined : parseTrace(pane)
    const [named, closed] = trace === undefined
      ? ["a pane that is not known", "closed that pane, if it is there,"]
      : [`the pane ${trace.paneId}`, "closed that pane"]
    const doubt = (detail: string) =>
      new MonitorFailed({ reason: "doubt", detail, mend: onceDone(`${closed} and removed ${file}`) })
    if (stage === "creating") return yield* doubt(`one was begun and not finished, perhaps as ${named}`)
    if (trace !== undefined && server !== undefined && trace.workspaceId.startsWith(server)) {
      // It stays with a pane that gets another id in another workspace (facts/herdr).
      const found = panes.filter(({ terminal_id }) => terminal_id === trace.terminalId)
      if (found.length > 0 || (yield* gone(trace))) return found
    }
    return yield* doubt(`it cannot be told from here whether it is still there, as ${named}`)
  })

  /** All panes, this session's own among them, or the list is not whole. */
  const look = Effect.fnUntraced(function*(caller: HerdrPane) {
    const panes = yield* Effect.mapError(client.list(), none)
    return panes.some(({ pane_id, tab_id }) => pane_id === caller.pane_id && tab_id === caller.tab_id)
      ? panes
      : yield* noMonitor("Herdr lists its panes without this session's own")
  })

  /** Puts the new pane in its place: above this session's, with its title, without the focus. Fails with a detail. */
  const arrange = Effect.fnUntraced(function*(pane: HerdrPane, caller: HerdrPane) {
    yield* client.renamePane(pane.pane_id, monitorTitle)
    const { changed, reason } = yield* client.swap(caller.pane_id, pane.pane_id)
    if (!changed) {
      return yield* noMonitor(`Herdr did not swap it with this session's pane${reason == null ? "" : ` (${reason})`}`)
    }
    if (!isAbove(yield* client.layout(caller.pane_id), pane.pane_id, caller.pane_id)) {
      return yield* noMonitor("it does not lie above this session's pane, or that has not the focus")
    }
  })

  /** From its first record on what was done stays, whatever happens (spec 5.6, rules 5 and 6). */
  const create = Effect.fnUntraced(function*(request: MonitorRequest, caller: HerdrPane, file: string) {
    const { discard, line } = yield* Effect.mapError(lineFor(request), none)
    const begun: OwnedMonitor = {
      version: 1,
      sessionId: request.sessionId,
      workspace: caller.workspace_id,
      caller: caller.pane_id,
      stage: "creating"
    }
    const save = (record: OwnedMonitor) => Effect.mapError(records.write(request.root, record), unusable)
    const left = (detail: string, pane?: string) => {
      const mend = onceDone(`closed it and removed ${file}`)
      return new MonitorFailed({ reason: "left", detail, left: leftBehind(pane), mend })
    }
    const unopened = (detail: string) => {
      const mend = onceDone(`removed ${file}`)
      return new MonitorFailed({ reason: "left", detail, left: "No pane was opened", mend })
    }

    const { known, pane } = yield* Effect.gen(function*() {
      yield* save(begun)
      const pane = yield* Effect.mapError(
        client.splitBelow(caller.pane_id, request.directory),
        ({ detail, reason }) => reason === "unanswered" ? left(detail) : unopened(detail)
      )
      if (!isBeside(pane, caller)) {
        return yield* left("Herdr answered with a pane that does not fit the one asked for", pane.pane_id)
      }
      const { trace } = traceOf(pane)
      const known: OwnedMonitor = { ...begun, ...(trace === undefined ? {} : { pane: trace }) }
      yield* Effect.mapError(
        Effect.zipRight(save(known), arrange(pane, caller)),
        ({ detail }) => left(detail, pane.pane_id)
      )
      return { known, pane: pane.pane_id }
    }).pipe(Effect.tapError(() => discard))

    yield* client.run(pane, line).pipe(
      Effect.tapError(({ reason }) => reason === "unanswered" ? Effect.void : discard),
      Effect.zipRight(save({ ...known, stage: "submitted" })),
      Effect.mapError(({ detail }) => left(detail, pane))
    )
    return pane
  }, Effect.uninterruptible)

  const placeMonitor = Effect.fn("Herdr.placeMonitor")(function*(request: MonitorRequest) {
    const caller = yield* Effect.mapError(own, none)
    if (server === undefined) {
      return yield* noMonitor("this session does not know its Herdr's socket; open this session in a new Herdr pane")
    }
    const { file, record } = yield* Effect.mapError(records.read(request.root, request.sessionId), unusable)
    const panes = yield* look(caller)
    const owned = Option.isSome(record) ? yield* find(panes, file, record.value) : []
    const strangers = panes.filter((pane) =>
      pane.tab_id === caller.tab_id && pane.label === monitorTitle && !owned.includes(pane)
    )
    const kept = yield* decide(
      owned.map((pane) => ({ pane: pane.pane_id, tab: pane.tab_id })),
      caller.tab_id,
      strangers.map((pane) => pane.pane_id)
    )
    const placed: MonitorPlaced = kept === undefined
      ? { outcome: "created", pane: yield* create(request, caller, file) }
      : { outcome: "kept", pane: kept }
    return placed
  })

  return { placeMonitor }
}
