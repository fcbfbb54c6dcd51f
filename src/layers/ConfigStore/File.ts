import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as path from "node:path"
import type { ConfigUnusable } from "../../domain/ConfigErrors.ts"
import { ConfigNotWritten } from "../../domain/ConfigErrors.ts"
import { configureAgent } from "../../domain/Configure.ts"
import type { SessionId } from "../../domain/Primitives.ts"
import { describe } from "../../domain/Problems.ts"
import type { SessionReplaced } from "../../domain/SessionErrors.ts"
import type { TeamConfig } from "../../domain/TeamConfig.ts"
import { changeConfig, coordinatorOf, decodeConfig, encodeConfig, maxConfigBytes } from "../../domain/TeamConfig.ts"
import type { AgentValues, Change, Publication } from "../../services/ConfigStore.ts"
import { ConfigStore } from "../../services/ConfigStore.ts"
import { FileMutationQueue } from "../../services/FileMutationQueue.ts"
import { ProjectDirectories } from "../../services/ProjectDirectories.ts"
import * as TeamFile from "../ConfigReader/TeamFile.ts"
import { checkTrusted, type FileFailed, look, makeDirectory, readRegular } from "../Files.ts"
import { publishNew, rename, settle, temporary } from "../Writing.ts"

/** What is machine-local in `.pi-intercom` (spec 1.3). */
const gitignore = "logs/\nreports/\n*.tmp\n"

/** A comparison that fails is made again at most 3 times (spec 1.4, step 4). */
const restarts = 3

const notWritten = (file: string) => (failed: FileFailed): ConfigNotWritten =>
  new ConfigNotWritten({
    reason: failed.reason === "no_hard_links" ? "no_hard_links" : "write_failed",
    file,
    detail: failed.path === file ? failed.detail : `${failed.path}: ${failed.detail}`
  })

const refuse = (reason: ConfigNotWritten["reason"], file: string, detail: string) =>
  new ConfigNotWritten({ reason, file, detail })

const encode = (file: string, config: TeamConfig): Either.Either<Uint8Array, ConfigNotWritten> => {
  const bytes = Buffer.from(encodeConfig(config), "utf8")
  return bytes.length <= maxConfigBytes
    ? Either.right(bytes)
    : Either.left(refuse("too_large", file, "it would become larger than 8 MiB; remove workers or their handoffs"))
}

/** Whether the file still holds these bytes; anything else found there is judged by the next read. */
const holds = (file: string, bytes: Uint8Array): Effect.Effect<boolean> =>
  Effect.match(readRegular(file, maxConfigBytes), {
    onFailure: () => false,
    onSuccess: (now) => Buffer.compare(now.bytes, bytes) === 0
  })

const make = Effect.gen(function*() {
  const team = yield* TeamFile.TeamFile
  const queue = yield* FileMutationQueue
  const directories = yield* ProjectDirectories
  const semaphore = yield* Effect.makeSemaphore(1)

  /** Entered once per update, in this order; `config.lock` comes innermost (spec 1.4). */
  const critical = <A, E, R>(file: string, update: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    semaphore.withPermits(1)(queue.run(file, update))

  /** The team's folder, verified, made when missing. */
  const prepare = Effect.fn("ConfigStore.prepare")(function*(root: string) {
    const folder = TeamFile.folderOf(root)
    const check = (entry: string) =>
      look(entry).pipe(
        Effect.flatMap((stat) => checkTrusted(entry, stat, "folder")),
        Effect.mapError(TeamFile.unusable)
      )
    yield* check(root)
    yield* makeDirectory(folder, 0o755).pipe(Effect.mapError(notWritten(TeamFile.fileOf(root))))
    yield* check(folder)
  })

  const publish = Effect.fn("ConfigStore.publish")(function*(
    root: string,
    config: TeamConfig,
    fence: Effect.Effect<void, SessionReplaced>
  ) {
    const file = TeamFile.fileOf(root)
    const bytes = yield* encode(file, config)
    yield* Either.mapLeft(
      decodeConfig(encodeConfig(config)),
      (invalid) => refuse("invalid", file, describe(invalid))
    )
    yield* fence
    yield* prepare(root)
    const won = yield* publishNew(file, bytes, 0o644, fence).pipe(
      Effect.mapError((failed) => failed._tag === "SessionReplaced" ? failed : notWritten(file)(failed))
    )
    if (won) yield* settle(root)
    const now = yield* team.read(root)
    if (Option.isNone(now)) return yield* refuse("conflict", file, "it was removed at the same moment")
    return { _tag: won ? "Published" : "Lost", config: now.value.config } satisfies Publication
  })

  /**
   * The commit point: no interruption once the fence has been passed, and nothing else runs between comparing, the
   * fence and the rename. Step 5 is this one function, so that a schedule can wrap it.
   */
  const commit = (
    root: string,
    file: string,
    temp: string,
    fence: Effect.Effect<void, SessionReplaced>,
    written: { readonly bytes: Uint8Array; readonly config: TeamConfig }
  ): Effect.Effect<void, ConfigNotWritten | SessionReplaced> =>
    Effect.uninterruptibleMask((restore) =>
      restore(fence).pipe(
        Effect.zipRight(Effect.mapError(rename(temp, file), notWritten(file))),
        Effect.zipRight(team.prime(root, written.bytes, written.config)),
        Effect.zipRight(settle(path.dirname(file)))
      )
    )

  /** Steps 1 to 5 once; none when the file was changed meanwhile. `A` is what the change says beside the config. */
  const pass = <A, E>(
    root: string,
    caller: SessionId,
    fence: Effect.Effect<void, SessionReplaced>,
    change: (config: TeamConfig) => Either.Either<readonly [TeamConfig, A], E>
  ): Effect.Effect<
    Option.Option<readonly [TeamConfig, A]>,
    E | ConfigUnusable | ConfigNotWritten | SessionReplaced
  > =>
    Effect.scoped(Effect.gen(function*() {
      const file = TeamFile.fileOf(root)
      yield* fence
      const before = yield* team.read(root)
      if (Option.isNone(before)) return yield* refuse("absent", file, "it does not exist")
      const { bytes, config, mode } = before.value
      if (coordinatorOf(config).sessionId !== caller) {
        return yield* refuse("not_coordinator", file, "another session coordinates this team")
      }
      yield* fence
      const [wanted, answer] = yield* change(config)
      if (wanted === config) return Option.some([config, answer] as const)
      const next = yield* Either.mapLeft(
        changeConfig(config, wanted),
        (invalid) => refuse("invalid", file, `the change breaks a rule: ${describe(invalid)}`)
      )
      const written = yield* encode(file, next)
      yield* fence
      // The file's own mode: an update never opens a file that its owner has closed.
      const temp = yield* temporary(file, written, mode).pipe(Effect.mapError(notWritten(file)))
      yield* fence
      if (!(yield* holds(file, bytes))) return Option.none()
      yield* commit(root, file, temp, fence, { bytes: written, config: next })
      return Option.some([next, answer] as const)
    }))

  const run = <A, E>(
    root: string,
    caller: SessionId,
    fence: Effect.Effect<void, SessionReplaced>,
    change: (config: TeamConfig) => Either.Either<readonly [TeamConfig, A], E>
  ) => {
    const file = TeamFile.fileOf(root)
    return critical(
      file,
      pass(root, caller, fence, change).pipe(Effect.repeat({ until: Option.isSome, times: restarts }))
    ).pipe(Effect.flatMap((result) =>
      Option.isSome(result)
        ? Effect.succeed(result.value)
        : refuse("conflict", file, "something else kept changing it at the same time; try again")
    ))
  }

  const update = <E>(
    root: string,
    caller: SessionId,
    fence: Effect.Effect<void, SessionReplaced>,
    change: Change<E>
  ) =>
    run(root, caller, fence, (config) => Either.map(change(config), (next) => [next, undefined] as const)).pipe(
      Effect.map(([config]) => config),
      Effect.withSpan("ConfigStore.update")
    )

  const configure = <E>(
    root: string,
    caller: SessionId,
    fence: Effect.Effect<void, SessionReplaced>,
    values: AgentValues,
    allow: Parameters<typeof configureAgent<E>>[2]
  ) =>
    directories.resolve(root, values.projectDirectory).pipe(
      Effect.flatMap(({ relative }) =>
        run(root, caller, fence, (config) =>
          Either.map(
            configureAgent(config, { ...values, projectDirectory: relative }, allow),
            (configured) => [configured.config, { agent: configured.agent, first: configured.first }] as const
          ))
      ),
      Effect.map(([_, configured]) => configured),
      Effect.withSpan("ConfigStore.configure")
    )

  const ensureGitignore = Effect.fn("ConfigStore.ensureGitignore")(
    function*(root: string) {
      yield* prepare(root)
      yield* publishNew(path.join(TeamFile.folderOf(root), ".gitignore"), new TextEncoder().encode(gitignore), 0o644)
    },
    Effect.catchAll((failed) =>
      Effect.logWarning(`The .gitignore for Intercom's files was not made: ${failed.message}`)
    )
  )

  return ConfigStore.of({ publish, update, configure, ensureGitignore })
})

/** Writes team files on disk; shares the reader's cache when both are built together. */
export const layer: Layer.Layer<ConfigStore, never, FileMutationQueue | ProjectDirectories> = Layer.effect(
  ConfigStore,
  make
).pipe(Layer.provide(TeamFile.layer))
