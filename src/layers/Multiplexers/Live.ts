import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import { parseTrace } from "../../domain/Pane.ts"
import type { CommandRunner } from "../../services/CommandRunner.ts"
import type { Ids } from "../../services/Ids.ts"
import { Multiplexers } from "../../services/Multiplexers.ts"
import { Platform } from "../../services/Platform.ts"
import type { ProcessIdentity } from "../../services/ProcessIdentity.ts"
import type { StateDir } from "../../services/StateDir.ts"
import * as LaunchScripts from "../LaunchScripts/File.ts"
import * as MonitorRecord from "../MonitorRecord/File.ts"
import * as Herdr from "./Herdr.ts"
import * as Tmux from "./Tmux.ts"
import * as Unavailable from "./Unavailable.ts"
import * as WindowsTerminal from "./WindowsTerminal.ts"

const make = Effect.gen(function*() {
  const platform = yield* Platform
  const [herdr, tmux] = [yield* Herdr.make, yield* Tmux.make]
  const none = platform.os === "win32" ? yield* WindowsTerminal.make : Unavailable.none
  const inside = yield* Effect.orDie(Config.all({
    herdr: Config.withDefault(Config.string("HERDR_ENV"), ""),
    tmux: Config.withDefault(Config.string("TMUX"), "")
  }))
  const all = { herdr, tmux, none }
  const surrounding = inside.herdr === "1" ? "herdr" : inside.tmux !== "" ? "tmux" : undefined
  return Multiplexers.of({
    of: (kind) => all[kind],
    own: Option.fromNullable(surrounding && all[surrounding]),
    gone: (trace) => {
      const pane = parseTrace(trace)
      const asked = pane?.multiplexer === "herdr" ? herdr : pane?.multiplexer === "tmux" ? tmux : undefined
      return pane === undefined || asked === undefined ? Effect.succeed(false) : asked.gone(pane)
    },
    here: Effect.succeed(surrounding ?? (platform.os === "win32" ? "none" : "herdr")),
    title: (name) => all[surrounding ?? "none"].title(name)
  })
})

/** The multiplexers of this machine, by the environment that this process was started with. */
export const layer: Layer.Layer<Multiplexers, never, CommandRunner | Ids | Platform | ProcessIdentity | StateDir> =
  Layer
    .provide(Layer.effect(Multiplexers, make), Layer.merge(LaunchScripts.layer, MonitorRecord.layer))
