import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Ref from "effect/Ref"
import { hasWorkers } from "../domain/TeamConfig.ts"
import { HostProgram } from "../services/HostProgram.ts"
import { HostSession } from "../services/HostSession.ts"
import { Multiplexers } from "../services/Multiplexers.ts"
import { OwnedLock } from "../services/OwnedLock.ts"
import { SessionScope } from "../services/SessionScope.ts"
import { childEnvironment } from "./LaunchPi.ts"
import { Membership } from "./Membership.ts"

type Turn = "idle" | "looking" | "again"

/** Whether a session looks after its monitor pane just now, and has been asked to again meanwhile. */
export class MonitorTurn extends Context.Tag("pi-intercom/MonitorTurn")<MonitorTurn, Ref.Ref<Turn>>() {
  static readonly layer = Layer.effect(MonitorTurn, Ref.make<Turn>("idle"))
}

/** Who coordinates is read under the lock: of two that race only the one that the file names then makes a pane. */
const place = Effect.fn("MonitorPane.place")(function*(root: string) {
  const { standing } = yield* (yield* Membership).enter
  if (standing.role !== "coordinator" || !hasWorkers(standing.config)) return
  const { multiplexer } = standing.config
  if (multiplexer === "none") return
  const { sessionId } = yield* SessionScope
  yield* (yield* Multiplexers).of(multiplexer).placeMonitor({
    root,
    sessionId,
    argv: yield* (yield* HostProgram).monitor(root),
    directory: root,
    environment: yield* childEnvironment(root)
  })
})

/** One look. Whatever fails is a warning: nobody needs the monitor but the person (spec 5.6). */
const look = Effect.fn("MonitorPane.look")(function*(root: string) {
  const host = yield* HostSession
  yield* (yield* OwnedLock).monitor(root, place(root)).pipe(
    Effect.catchTag("SessionReplaced", () => Effect.void),
    Effect.catchAll(({ message }) => host.notify(`Intercom: ${message}`, "warning"))
  )
})

/** What a turn is once somebody asks: looking, and once more if it was already. */
const asked = (turn: Turn): readonly [boolean, Turn] => turn === "idle" ? [true, "looking"] : [false, "again"]
/** What a turn is at the end of a look, and whether another one follows. */
const looked = (turn: Turn): readonly [boolean, Turn] => turn === "again" ? [true, "looking"] : [false, "idle"]

/**
 * Makes sure, in the background, that the coordinator's monitor pane exists (spec 5.6). Whoever asks during a look adds at
 * most one more after it. Outside any multiplexer there are no panes, and nothing to say.
 */
export const ensureMonitor = Effect.fn("ensureMonitor")(function*(root: string) {
  const turn = yield* MonitorTurn
  if (Option.isNone((yield* Multiplexers).own)) return
  const looks = Effect.zipRight(look(root), Ref.modify(turn, looked)).pipe(
    Effect.repeat({ while: (more) => more }),
    Effect.onError(() => Ref.set(turn, "idle"))
  )
  if (yield* Ref.modify(turn, asked)) yield* (yield* SessionScope).fork(looks)
})
