import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { toolRules } from "../../domain/Permissions.ts"
import { target, unfenced } from "../../domain/Roster.ts"
import { Refused } from "../../domain/SessionErrors.ts"
import type { ToolName } from "../../domain/ToolCatalogue.ts"
import { type Member, Membership } from "../Membership.ts"

/** The member a tool is aimed at, by name; refused under the close fence where the tool's rule says so (spec 4). */
export const findTarget = Effect.fn("findTarget")(function*(
  tool: ToolName,
  standing: Member,
  name: string,
  want: "worker" | "member"
) {
  const { sessionId } = yield* Membership
  const found = target(standing.config, name, sessionId, want)
  if (found instanceof Refused) return yield* found
  const fenced = toolRules[tool].fenced ? unfenced(found, yield* Clock.currentTimeMillis, false) : undefined
  if (fenced !== undefined) return yield* fenced
  return found
})
