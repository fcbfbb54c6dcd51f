import * as Context from "effect/Context"

/** What the product needs to know of the operating system. */
export class Platform extends Context.Tag("pi-intercom/Platform")<Platform, {
  readonly os: "linux" | "darwin" | "win32" | "other"
  /** The person's home directory, for shortening paths that people see. */
  readonly home: string
}>() {}
