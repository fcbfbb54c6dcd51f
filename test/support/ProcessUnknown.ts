import * as Effect from "effect/Effect"
import { IdentityFailed } from "../../src/domain/Pane.ts"
import type { ProcessIdentity } from "../../src/services/ProcessIdentity.ts"

const unknown = () => Effect.fail(new IdentityFailed({ detail: "nothing is known of any process here" }))

/** For a `ProcessIdentity` of a test in which nobody looks at a process closely. */
export const unknownFacts = {
  facts: unknown,
  environment: unknown,
  deviceOf: unknown
} satisfies Partial<ProcessIdentity["Type"]>
