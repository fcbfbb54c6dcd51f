import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import { posix } from "node:path"
import { ConfigNotWritten, ConfigRefused, ConfigUnusable } from "../../src/domain/ConfigErrors.ts"
import { configureAgent } from "../../src/domain/Configure.ts"
import type { SessionId } from "../../src/domain/Primitives.ts"
import { describe } from "../../src/domain/Problems.ts"
import type { SessionReplaced } from "../../src/domain/SessionErrors.ts"
import type { TeamConfig } from "../../src/domain/TeamConfig.ts"
import { coordinatorOf, decodeConfig, encodeConfig, ensureChange } from "../../src/domain/TeamConfig.ts"
import { ConfigReader } from "../../src/services/ConfigReader.ts"
import { ConfigStore } from "../../src/services/ConfigStore.ts"
import { ProjectDirectories } from "../../src/services/ProjectDirectories.ts"

/** A machine's team files and folders in memory, shared by every session that is given `layer`. */
export interface TeamWorld {
  /** The text of each root's team file; tests may write it as an outside editor would. */
  readonly files: Map<string, string>
  /** The folders that exist, each with its real path (itself, unless it is a link). */
  readonly folders: Map<string, string>
  /** While set, no update is written. */
  readonly failing: { now: boolean }
  /** The roots that were swept, in order. */
  readonly swept: ReadonlyArray<string>
  readonly layer: Layer.Layer<ConfigReader | ConfigStore | ProjectDirectories>
}

const fileOf = (root: string): string => posix.join(root, ".pi-intercom", "config.json")

const refuse = (reason: ConfigNotWritten["reason"], root: string, detail: string) =>
  new ConfigNotWritten({ reason, file: fileOf(root), detail })

/** A new world in which only `folders` exist. */
export const makeTeamWorld = (...folders: ReadonlyArray<string>): TeamWorld => {
  const files = new Map<string, string>()
  const existing = new Map(folders.map((folder) => [folder, folder]))
  const swept: Array<string> = []
  const failing = { now: false }
  const semaphore = Effect.unsafeMakeSemaphore(1)

  const read = (root: string): Effect.Effect<Option.Option<TeamConfig>, ConfigUnusable> =>
    Effect.suspend(() => {
      const text = files.get(root)
      if (text === undefined) return Effect.succeed(Option.none())
      return Either.match(decodeConfig(text), {
        onLeft: (invalid) => new ConfigUnusable({ reason: "invalid", file: fileOf(root), detail: describe(invalid) }),
        onRight: (config) => Effect.succeed(Option.some(config))
      })
    })

  const reader = ConfigReader.of({
    discover: (directory) =>
      Effect.sync(() => {
        for (let candidate = directory;; candidate = posix.dirname(candidate)) {
          if (files.has(candidate)) return Option.some(candidate)
          if (candidate === posix.dirname(candidate)) return Option.none()
        }
      }),
    read
  })

  const directories = ProjectDirectories.of({
    resolve: (root, directory) =>
      Effect.suspend(() => {
        const real = existing.get(posix.resolve(root, directory))
        if (real === undefined) return new ConfigRefused({ detail: "the project directory does not exist" })
        const below = posix.relative(root, real)
        return below === ".." || below.startsWith("../")
          ? new ConfigRefused({ detail: "the project directory is outside the team's root" })
          : Effect.succeed({ real, relative: below === "" ? "." : below })
      })
  })

  const run = <A, E>(
    root: string,
    caller: SessionId,
    fence: Effect.Effect<void, SessionReplaced>,
    change: (config: TeamConfig) => Either.Either<readonly [TeamConfig, A], E>
  ) =>
    semaphore.withPermits(1)(Effect.gen(function*() {
      yield* fence
      const before = yield* read(root)
      if (Option.isNone(before)) return yield* refuse("absent", root, "it does not exist")
      const config = before.value
      if (coordinatorOf(config).sessionId !== caller) {
        return yield* refuse("not_coordinator", root, "another session coordinates this team")
      }
      yield* fence
      const [wanted, answer] = yield* change(config)
      if (wanted === config) return [config, answer] as const
      const next = yield* Either.mapLeft(
        ensureChange(config, wanted),
        (invalid) => refuse("invalid", root, describe(invalid))
      )
      yield* fence
      yield* Effect.yieldNow()
      yield* fence
      if (failing.now) return yield* refuse("write_failed", root, "the disk is full")
      yield* Effect.sync(() => files.set(root, encodeConfig(next)))
      return [next, answer] as const
    }))

  const store = ConfigStore.of({
    publish: (root, config, fence) =>
      Effect.gen(function*() {
        yield* fence
        yield* Effect.yieldNow()
        yield* fence
        const won = !files.has(root)
        if (won) files.set(root, encodeConfig(config))
        const now = yield* read(root)
        if (Option.isNone(now)) return yield* refuse("conflict", root, "it was removed")
        return { _tag: won ? "Published" : "Lost", config: now.value } as const
      }),
    update: (root, caller, fence, change) =>
      run(root, caller, fence, (config) => Either.map(change(config), (next) => [next, undefined] as const)).pipe(
        Effect.map(([config]) => config)
      ),
    configure: (root, caller, fence, values, allow) =>
      directories.resolve(root, values.projectDirectory).pipe(
        Effect.flatMap(({ relative }) =>
          run(root, caller, fence, (config) =>
            Either.map(
              configureAgent(config, { ...values, projectDirectory: relative }, allow),
              ({ agent, config: next, first }) => [next, { agent, first }] as const
            ))
        ),
        Effect.map(([_, configured]) => configured)
      ),
    ensureGitignore: () => Effect.void,
    sweep: (root) => Effect.sync(() => void swept.push(root))
  })

  return {
    files,
    folders: existing,
    swept,
    failing,
    layer: Layer.mergeAll(
      Layer.succeed(ConfigReader, reader),
      Layer.succeed(ConfigStore, store),
      Layer.succeed(ProjectDirectories, directories)
    )
  }
}
