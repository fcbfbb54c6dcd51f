import * as Effect from "effect/Effect"
import { refusal } from "../../domain/CloseConversation.ts"
import type { PaneIdentity } from "../../domain/Envelope.ts"
import { HostWork } from "../../services/HostWork.ts"
import { Multiplexers } from "../../services/Multiplexers.ts"
import { ProcessIdentity } from "../../services/ProcessIdentity.ts"
import { SessionScope } from "../../services/SessionScope.ts"
import { refused } from "../receive/Context.ts"

/** The worker finds out its own pane within this (spec 6.2, message 1). */
const within = "2 seconds"

/** Finds out this session's pane and process, as its multiplexer and procfs say now (spec 6.3). */
export const ownPane = Effect.gen(function*() {
  const multiplexers = yield* Multiplexers
  const processes = yield* ProcessIdentity
  const work = yield* HostWork
  const { sessionId } = yield* SessionScope
  const { pid } = processes.own
  return Effect.gen(function*() {
    const { paneId, terminalId, workspaceId } = yield* (yield* multiplexers.own).identify
    const sessionFile = yield* yield* work.file
    const { startTicks: processStart } = yield* processes.facts(pid)
    const identity: PaneIdentity = { workspaceId, paneId, terminalId, sessionId, sessionFile, pid, processStart }
    return identity
  }).pipe(
    Effect.disconnect,
    Effect.timeout(within),
    Effect.mapError(() => refused(refusal("identity_failed", "this session could not find out which pane it runs in")))
  )
})
