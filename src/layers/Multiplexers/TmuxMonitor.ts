import * as Effect from "effect/Effect"
import type { LaunchFailed } from "../../domain/Launch.ts"
import {
  decide,
  leftBehind,
  MonitorFailed,
  type MonitorPlaced,
  type MonitorRequest,
  noMonitor,
  onceDone
} from "../../domain/MonitorPane.ts"
import { fits, joined, parseSubmitted } from "../../domain/TmuxArguments.ts"
import {
  minRows,
  monitorFormat,
  ownedBy,
  ownedPanes,
  parseMonitorRows,
  splitAbove,
  titlePane
} from "../../domain/TmuxMonitor.ts"
import type { PaneRow } from "../../domain/TmuxPanes.ts"
import { nameHash } from "../Hash.ts"
import type { TmuxClient } from "./TmuxClient.ts"

const left = (detail: string, pane?: string) =>
  new MonitorFailed({
    reason: "left",
    detail,
    left: leftBehind(pane),
    mend: onceDone("closed it")
  })

/**
 * The monitor's pane in this session's tmux server (spec 5.6). Whose it is stands in its own command: there from the
 * first instant, kept by moves, gone with the pane.
 */
export const make = (
  proven: Effect.Effect<{ readonly client: TmuxClient; readonly own: PaneRow }, LaunchFailed>
) => {
  /** Every pane of the server, and this session's own among them, all of one answer. */
  const look = Effect.fnUntraced(function*(client: TmuxClient, own: PaneRow, owner: string) {
    const answer = yield* Effect.mapError(
      client.call(["list-panes", "-a", "-F", monitorFormat(owner)]),
      ({ detail }) => noMonitor(detail)
    )
    const rows = parseMonitorRows(answer) ?? []
    const here = rows.find((row) => row.pane === own.pane)
    return here === undefined || rows.some((row) => row.serverPid !== own.serverPid)
      ? yield* noMonitor("tmux listed its panes in a form that cannot be read, or without this session's own")
      : { here, owned: ownedPanes(rows).map(({ pane, window }) => ({ pane, tab: window })) }
  })

  const create = Effect.fnUntraced(function*(client: TmuxClient, command: ReadonlyArray<string>) {
    const answer = yield* Effect.mapError(
      client.call(command),
      ({ detail, reason }) => reason === "unanswered" ? left(detail) : noMonitor(detail)
    )
    const made = parseSubmitted(answer)
    if (made === undefined) return yield* left("tmux did not say which pane it opened")
    yield* Effect.mapError(
      client.call(titlePane(made.pane)),
      ({ detail }) => left(`it could not be titled, which it cannot once its program has ended: ${detail}`, made.pane)
    )
    return made.pane
  }, Effect.uninterruptible)

  const placeMonitor = Effect.fn("Tmux.placeMonitor")(function*(request: MonitorRequest) {
    const { client, own } = yield* Effect.mapError(proven, ({ detail }) => noMonitor(detail))
    const owner = nameHash(request.sessionId)
    const { here, owned } = yield* look(client, own, owner)
    const kept = yield* decide(owned, here.window)
    if (kept !== undefined) return { outcome: "kept", pane: kept } satisfies MonitorPlaced
    if (here.rows < minRows) {
      return yield* noMonitor(
        `this tab has ${here.rows} rows, and it needs ${minRows}; make the terminal higher and run /reload`
      )
    }
    const command = splitAbove(here.pane, here.zoomed, { ...request, argv: [...request.argv, ...ownedBy(owner)] })
    if (!fits(joined([command]))) {
      return yield* noMonitor("its command and environment together are longer than tmux takes (15 KiB, 900 arguments)")
    }
    return { outcome: "created", pane: yield* create(client, command) } satisfies MonitorPlaced
  })

  return { placeMonitor }
}
