import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { MultiplexerKind } from "../domain/Primitives.ts"
import { Multiplexers } from "../services/Multiplexers.ts"
import { SessionScope } from "../services/SessionScope.ts"

const names = { herdr: "Herdr", tmux: "tmux" } as const

/** The multiplexer that workers could be opened with from where this session is; none outside any. */
const here = Effect.gen(function*() {
  const multiplexers = yield* Multiplexers
  const kind = yield* multiplexers.here
  return Option.isSome(multiplexers.own) || kind === "none" ? kind : undefined
})

const neither = "This Pi runs in neither tmux nor Herdr"

/** What a person should know before they begin a team where no workers can be opened; nothing where they can. */
export const outsideAny = Effect.map(here, (kind) =>
  kind === undefined
    ? [
      `${neither}, so no workers could be opened from here. Start tmux or Herdr, and pi in it, before you begin a team.`
    ]
    : [])

/** Why workers cannot be opened from where this session is, and what to do; nothing when they can (spec 5.4). */
export const outside = Effect.fn("outside")(function*(configured: MultiplexerKind) {
  const [kind, { sessionId }] = [yield* here, yield* SessionScope]
  if (kind === configured || configured === "none") return []
  // Pi finds no session by --session before its first turn; --session-id opens it, and otherwise begins one of that id.
  const open = `open this session in it (pi --session-id ${sessionId}, in the same folder)`
  return [
    kind === undefined
      ? `${neither}, so your agent cannot open, park or resume workers from here, and there is no monitor pane; all ` +
        `else works. To have these too, start tmux or Herdr, ${open}, and ask your agent to set the multiplexer to the ` +
        `one you chose; until then the team file says ${configured}. Or start each worker's pi yourself, in this ` +
        "project: it registers by itself."
      : `The team's multiplexer is ${configured}, and this Pi does not run in it, so your agent cannot open or resume ` +
        `workers from here; all else works. Ask it to set the multiplexer to ${kind}, or start ${
          names[configured]
        } and ${open}.`
  ]
})
