import * as Config from "effect/Config"

/** Whether unsigned messages are taken, for teams with 0.6.1 workers: `PI_INTERCOM_ALLOW_UNAUTHENTICATED=1` (spec 2.2). */
export const AllowUnauthenticated: Config.Config<boolean> = Config.string("PI_INTERCOM_ALLOW_UNAUTHENTICATED").pipe(
  Config.withDefault(""),
  Config.map((value) => value === "1")
)
