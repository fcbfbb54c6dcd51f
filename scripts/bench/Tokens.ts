import * as Effect from "effect/Effect"
import { section } from "../../src/domain/Prompt.ts"
import type { Role } from "../../src/domain/Role.ts"
import { activeTools, tools } from "../../src/domain/ToolCatalogue.ts"
import { parametersOf } from "../../src/domain/ToolJsonSchema.ts"

/** 4 characters are a token (spec 3.5, 4). */
const tokensOf = (text: string): number => Math.ceil(text.length / 4)

const toolsOf = (role: Role): number =>
  tokensOf(
    activeTools(role, { canClose: true, reports: false }).map((name) =>
      name + tools[name].description + JSON.stringify(parametersOf(name))
    ).join("")
  )
const promptOf = (role: Role): number => tokensOf(section(role, undefined))

/** What a session of each role costs its model on every turn. */
export const figures = () =>
  Effect.succeed({
    "tokens.coordinatorTools": toolsOf("coordinator"),
    "tokens.workerTools": toolsOf("worker"),
    "tokens.soloTools": toolsOf("solo"),
    "tokens.coordinatorPrompt": promptOf("coordinator"),
    "tokens.workerPrompt": promptOf("worker"),
    "tokens.soloPrompt": promptOf("solo")
  })
