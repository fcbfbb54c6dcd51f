import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Ref from "effect/Ref"
import { section } from "../domain/Prompt.ts"
import { Membership } from "./Membership.ts"
import { enterTeam } from "./Team.ts"

/**
 * The text that this agent start adds to the system prompt (spec 3.5). While the team file cannot be read or acted on the
 * session is what it last was, so that the text, and with it the provider's cache, stays; none for a session that was replaced.
 */
export const promptSection = Effect.gen(function*() {
  const { lastRole, loaded } = yield* Membership
  const role = yield* enterTeam.pipe(
    Effect.map((standing) => standing.role),
    Effect.catchIf((error) => error._tag !== "SessionReplaced", () => Effect.flatten(lastRole))
  )
  const identity = yield* Ref.get(loaded)
  return section(role, Option.getOrUndefined(identity))
}).pipe(Effect.option, Effect.withSpan("promptSection"))
