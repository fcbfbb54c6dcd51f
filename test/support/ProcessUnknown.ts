import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { IdentityFailed } from "../../src/domain/Pane.ts"
import { ProcessIdentity } from "../../src/services/ProcessIdentity.ts"

const unknown = () => Effect.fail(new IdentityFailed({ detail: "nothing is known of any process here" }))

/** For a `ProcessIdentity` of a test in which nobody looks at a process closely. */
export const unknownFacts = {
  facts: unknown,
  environment: unknown,
  deviceOf: unknown
} satisfies Partial<ProcessIdentity["Type"]>

/** A machine that knows nothing of its processes, this one's pid excepted. */
export const unknownProcesses = Layer.succeed(ProcessIdentity, {
  ...unknownFacts,
  own: { pid: process.pid },
  look: () => Effect.succeed("unknown")
})
