import * as Context from "effect/Context"
import * as Data from "effect/Data"
import type * as Effect from "effect/Effect"

/** What the system answered to a rename: its code, for example `EPERM`. The target is as it was. */
export class RenameFailed extends Data.TaggedError("RenameFailed")<{ readonly code: string }> {}

/** What the product needs to know of the operating system. */
export class Platform extends Context.Tag("pi-intercom/Platform")<Platform, {
  readonly os: "linux" | "darwin" | "win32" | "other"
  /** The person's home directory, for shortening paths that people see. */
  readonly home: string
  /** Renames a file over another one: one synchronous step, so it cannot be interrupted. */
  readonly rename: (from: string, to: string) => Effect.Effect<void, RenameFailed>
}>() {}
