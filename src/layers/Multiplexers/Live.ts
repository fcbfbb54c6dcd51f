import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { parseTrace } from "../../domain/Pane.ts"
import type { CommandRunner } from "../../services/CommandRunner.ts"
import { Multiplexers } from "../../services/Multiplexers.ts"
import { Platform } from "../../services/Platform.ts"
import type { ProcessIdentity } from "../../services/ProcessIdentity.ts"
import * as Tmux from "./Tmux.ts"
import * as Unavailable from "./Unavailable.ts"

const make = Effect.gen(function*() {
  const platform = yield* Platform
  const tmux = yield* Tmux.make
  const inside = yield* Effect.orDie(Config.all({
    herdr: Config.withDefault(Config.string("HERDR_ENV"), ""),
    tmux: Config.withDefault(Config.string("TMUX"), "")
  }))
  const all = { herdr: Unavailable.herdr, tmux, none: Unavailable.none }
  const surrounding = inside.herdr === "1" ? "herdr" : inside.tmux !== "" ? "tmux" : undefined
  return Multiplexers.of({
    of: (kind) => all[kind],
    gone: (trace) => {
      const parts = parseTrace(trace)
      return parts?.multiplexer === "tmux" ? tmux.gone(parts.workspaceId, parts.paneId) : Effect.succeed(false)
    },
    here: Effect.succeed(surrounding ?? (platform.os === "win32" ? "none" : "herdr")),
    title: (name) => all[surrounding ?? "none"].title(name)
  })
})

/** The multiplexers of this machine, by the environment that this process was started with. */
export const layer: Layer.Layer<Multiplexers, never, CommandRunner | Platform | ProcessIdentity> = Layer.effect(
  Multiplexers,
  make
)
