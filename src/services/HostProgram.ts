import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type { LaunchFailed } from "../domain/Launch.ts"
import type { MonitorFailed } from "../domain/MonitorPane.ts"

/** The Pi that runs this session, as a program that can be started again (spec 5). */
export class HostProgram extends Context.Tag("pi-intercom/HostProgram")<HostProgram, {
  /** `<pi> -e <this extension's entry>`: this runtime and CLI script, or `PI_INTERCOM_PI`. */
  readonly argv: Effect.Effect<readonly [string, ...ReadonlyArray<string>]>
  /** The monitor of this very package, for a root; fails where it does not lie beside the extension's entry. */
  readonly monitor: (root: string) => Effect.Effect<readonly [string, ...ReadonlyArray<string>], MonitorFailed>
  /** The variables that a child needs and a multiplexer's server may not have (PATH, PI_CODING_AGENT_DIR, …). */
  readonly environment: Effect.Effect<Readonly<Record<string, string>>>
  /** Fails with `other_copy`, naming both, if Pi started in `directory` would load another copy of this extension. */
  readonly checkCopies: (directory: string) => Effect.Effect<void, LaunchFailed>
}>() {}
