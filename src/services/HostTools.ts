import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type { ToolName } from "../domain/ToolCatalogue.ts"

/** Which of our tools the host offers its model. */
export class HostTools extends Context.Tag("pi-intercom/HostTools")<HostTools, {
  /** Activates exactly these of ours and leaves all others as they are (spec 4). Safe after the session was replaced. */
  readonly activate: (names: ReadonlyArray<ToolName>) => Effect.Effect<void>
}>() {}
