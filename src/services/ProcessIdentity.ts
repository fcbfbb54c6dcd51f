import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type * as Option from "effect/Option"
import type { IdentifiedProcess, Liveness } from "../domain/IdentifiedProcess.ts"
import type { IdentityFailed } from "../domain/Pane.ts"
import type { Device, ProcessFacts } from "../domain/ProcessFacts.ts"

/** Who this process is, and what is known of another one (spec 6.3). */
export class ProcessIdentity extends Context.Tag("pi-intercom/ProcessIdentity")<ProcessIdentity, {
  /** This process. Where procfs is missing or cannot be read: its pid only. */
  readonly own: IdentifiedProcess
  /** Looks now. Everything that proves neither is unknown; never fails. */
  readonly look: (process: IdentifiedProcess) => Effect.Effect<Liveness>
  /**
   * What procfs says of a pid now, all of one and the same process; one that ended and was not collected has facts too.
   * Fails where there is no procfs that shows this very process, and when the process is gone or cannot be read.
   */
  readonly facts: (pid: number) => Effect.Effect<ProcessFacts, IdentityFailed>
  /**
   * One variable that a pid was started with; nothing else of its environment leaves. Fails like `facts`, and above
   * 4 MiB. The pid may have been given out again: who wants this of one process compares `facts` afterwards.
   */
  readonly environment: (pid: number, name: string) => Effect.Effect<Option.Option<string>, IdentityFailed>
  /** The device that a terminal's path, such as `/dev/pts/3`, stands for. Fails when it is no character device. */
  readonly deviceOf: (path: string) => Effect.Effect<Device, IdentityFailed>
}>() {}
