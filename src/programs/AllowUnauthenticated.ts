import * as Config from "effect/Config"
import * as Effect from "effect/Effect"

/** Whether unsigned messages are taken, for teams with 0.6.1 workers: `PI_INTERCOM_ALLOW_UNAUTHENTICATED=1` (spec 2.2). */
export const AllowUnauthenticated = Config.string("PI_INTERCOM_ALLOW_UNAUTHENTICATED").pipe(
  Effect.map((value) => value === "1"),
  Effect.orElseSucceed(() => false)
)
