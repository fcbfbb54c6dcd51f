import * as Effect from "effect/Effect"
import { makeLockWorld } from "../../support/LockMemory.ts"
import { contract } from "./Contract.ts"

contract(
  "in memory",
  Effect.sync(() => ({
    ...makeLockWorld(),
    root: "/team",
    config: "/team/config.lock",
    session: (sessionId: string) => `/team/session-${sessionId}.lock`
  }))
)
