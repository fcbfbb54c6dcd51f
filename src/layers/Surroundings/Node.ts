import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import { CommandRunner } from "../../services/CommandRunner.ts"
import { Surroundings } from "../../services/Surroundings.ts"

const ask = Effect.gen(function*() {
  const program = yield* Effect.orDie(Config.withDefault(Config.nonEmptyString("PI_INTERCOM_PI"), "pi"))
  const runner = yield* CommandRunner
  const said = runner.run({ program, args: ["--version"], deadline: "10 seconds", maxOutputBytes: 4096 })
  return Effect.map(
    Effect.option(said),
    Option.flatMap(({ code, stdout }) =>
      Option.fromNullable(code === 0 ? /^\s*v?(\d+\.\d+\.\d+)\b/.exec(stdout)?.[1] : undefined)
    )
  )
})

/** Outside Pi: the Pi of `PI_INTERCOM_PI`, else of PATH, is asked. */
export const layer: Layer.Layer<Surroundings, never, CommandRunner> = Layer.effect(
  Surroundings,
  Effect.map(ask, (pi) => ({ node: process.versions.node, pi }))
)

/** Inside the Pi of that version. */
export const within = (version: string): Layer.Layer<Surroundings> =>
  Layer.succeed(Surroundings, { node: process.versions.node, pi: Effect.succeed(Option.some(version)) })
