import * as Context from "effect/Context"
import * as Data from "effect/Data"
import type * as Effect from "effect/Effect"
import type { SessionId } from "../domain/Primitives.ts"

/** A saved session that a resume cannot use (spec 5.5); nothing was started. */
export class SessionNotSaved extends Data.TaggedError("SessionNotSaved")<{
  /** `absent`: no file of that id where the child would look. `header`: the file's first line does not carry the id. */
  readonly reason: "absent" | "header"
  readonly detail: string
}> {
  override get message(): string {
    return `Nothing was started: ${this.detail}.`
  }
}

/** What the first line of a file says of a session (spec 6.3); `wrong` is everything but a missing file or its header. */
export type Header = "right" | "wrong" | "absent"

/** Where the host keeps sessions (spec 5.5, 6.3). */
export class SavedSessions extends Context.Tag("pi-intercom/SavedSessions")<SavedSessions, {
  /**
   * The file of a session as Pi started in `directory` would find it: `PI_CODING_AGENT_SESSION_DIR`, else the project's
   * and then the user's `sessionDir` setting, else the default. Its header has been checked.
   */
  readonly find: (directory: string, sessionId: SessionId) => Effect.Effect<string, SessionNotSaved>
  /** Whether this file begins with the header of that session. Synchronous; reads at most 4096 bytes, blocks on nothing. */
  readonly header: (file: string, sessionId: SessionId) => Effect.Effect<Header>
}>() {}
