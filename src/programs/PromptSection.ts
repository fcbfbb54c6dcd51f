import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Ref from "effect/Ref"
import { section } from "../domain/Prompt.ts"
import { Membership } from "./Membership.ts"
import { enterTeam } from "./Team.ts"

/**
 * The text that this agent start adds to the system prompt; none when the role cannot be decided now (spec 3.5). A
 * session that reached here without a readable team file goes on without the section rather than with a wrong one.
 */
export const promptSection = Effect.gen(function*() {
  const { loaded } = yield* Membership
  const standing = yield* enterTeam
  const own = yield* Ref.get(loaded)
  const identity = Option.map(own, (mine) => mine.identity)
  return section(standing.role, Option.getOrUndefined(identity))
}).pipe(Effect.option, Effect.withSpan("promptSection"))
