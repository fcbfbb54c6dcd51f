import * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Live from "../../../src/layers/Multiplexers/Live.ts"
import { Multiplexers } from "../../../src/services/Multiplexers.ts"
import { type Behaviour, scripted } from "../../support/CommandScripted.ts"
import * as IdsTest from "../../support/IdsTest.ts"
import { platformAs } from "../../support/PlatformAs.ts"
import { unknownProcesses } from "../../support/ProcessUnknown.ts"
import * as StateMemory from "../../support/StateMemory.ts"

/** What a session in a pane of tmux has. */
export const inside = { TMUX: "/tmp/a,b/default,77,1", TMUX_PANE: "%3" }
/** Two sessions with this one's pane, and a dead one. */
export const panes = [
  "77|0|%3|@1|$0|80|/dev/pts/1|3.3a\n",
  "77|0|%3|@1|$1|80|/dev/pts/1|3.3a\n",
  "77|1|%4|@2|$1|81|/dev/pts/2|3.3a\n"
].join("")

/** tmux as told for its two kinds of calls. */
export const tmux = (list: Behaviour, other: Behaviour = {}) =>
  scripted((command) => command.args[3] === "list-panes" ? list : other)

/** The multiplexers over such a tmux. */
export const use = <A, E>(
  script: ReturnType<typeof scripted>,
  variables: Readonly<Record<string, string>>,
  effect: Effect.Effect<A, E, Multiplexers>,
  os: "linux" | "win32" = "linux"
) =>
  Effect.provide(
    effect,
    Live.layer.pipe(
      Layer.provide(script.layer),
      Layer.provide(platformAs(os)),
      Layer.provide(unknownProcesses),
      Layer.provide(Layer.merge(StateMemory.layer, IdsTest.layer)),
      Layer.provide(Layer.setConfigProvider(ConfigProvider.fromMap(new Map(Object.entries(variables)))))
    )
  )

export const request = {
  root: "/",
  argv: ["/bin/pi", "-e", "x"],
  directory: process.cwd(),
  environment: { A: "1" }
} as const
/** A launch in one of them. */
export const launch = (kind: "tmux" | "herdr" | "none", asked: Parameters<typeof launchOf>[1] = request) =>
  Effect.flatMap(Multiplexers, (all) => launchOf(all, asked, kind))
const launchOf = (
  all: typeof Multiplexers.Service,
  asked: { argv: readonly [string, ...ReadonlyArray<string>]; directory: string; environment: Record<string, string> },
  kind: "tmux" | "herdr" | "none"
) => all.of(kind).launch({ root: "/", ...asked })
export const title = (name: string) => Effect.flatMap(Multiplexers, (all) => all.title(name))
/** The message of a launch that surely opened nothing. */
export const notLaunched = (detail: string) => `The worker was not launched: ${detail}. No tab was opened.`
