import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as path from "node:path"
import { ConfigNotWritten } from "../../domain/ConfigErrors.ts"
import { configureAgent } from "../../domain/Configure.ts"
import type { SessionId } from "../../domain/Primitives.ts"
import { describe } from "../../domain/Problems.ts"
import type { SessionReplaced } from "../../domain/SessionErrors.ts"
import type { TeamConfig } from "../../domain/TeamConfig.ts"
import { coordinatorOf, decodeConfig, encodeConfig, ensureChange, maxConfigBytes } from "../../domain/TeamConfig.ts"
import type { AgentValues, Change, Publication, UpdateFailed } from "../../services/ConfigStore.ts"
import { ConfigStore } from "../../services/ConfigStore.ts"
import { FileMutationQueue } from "../../services/FileMutationQueue.ts"
import { OwnedLock } from "../../services/OwnedLock.ts"
import { Platform } from "../../services/Platform.ts"
import { ProcessIdentity } from "../../services/ProcessIdentity.ts"
import { ProjectDirectories } from "../../services/ProjectDirectories.ts"
import { StateDir } from "../../services/StateDir.ts"
import * as TeamFile from "../ConfigReader/TeamFile.ts"
import { checkTrusted, failureOf, type FileFailed, look, makeDirectory, readRegularNow } from "../Files.ts"
import { publishNew, settle, settleNow, withTemporary } from "../Writing.ts"
import { bounded } from "./Publication.ts"
import { sweep as sweepFolder } from "./Sweep.ts"

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
const holdsNow = (file: string, bytes: Uint8Array): boolean => {
  const now = readRegularNow(file, maxConfigBytes)
  return Either.isRight(now) && Buffer.compare(now.right.bytes, bytes) === 0
}

const make = Effect.gen(function*() {
  const team = yield* TeamFile.TeamFile
  const queue = yield* FileMutationQueue
  const directories = yield* ProjectDirectories
  const locks = yield* OwnedLock
  const identity = yield* ProcessIdentity
  const platform = yield* Platform
  const state = yield* StateDir
  const semaphore = yield* Effect.makeSemaphore(1)

  /** One at a time in this process. Who need not wait is spared what waiting costs. */
  const alone = <A, E, R>(update: Effect.Effect<A, E, R>) =>
    Effect.flatMap(
      semaphore.withPermitsIfAvailable(1)(update),
      Option.match({ onSome: Effect.succeed, onNone: () => semaphore.withPermits(1)(update) })
    )

  /** Entered once per update, in this order; nothing that runs in it enters it again (spec 1.4). */
  const critical = <A, E, R>(root: string, update: Effect.Effect<A, E, R>) =>
    alone(queue.run(TeamFile.fileOf(root), locks.config(root, update)))

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
   * The commit point: no interruption once the fence has been passed, and nothing else runs between the fence and the
   * rename, nor between comparing and the first attempt (step 5). Answers what waits for the directory.
   */
  const commit = (
    root: string,
    file: string,
    temp: string,
    fence: Effect.Effect<void, SessionReplaced>,
    written: { readonly bytes: Uint8Array; readonly config: TeamConfig }
  ): Effect.Effect<Effect.Effect<void>, ConfigNotWritten | SessionReplaced> =>
    bounded(
      platform.os,
      Effect.uninterruptibleMask((restore) =>
        restore(fence).pipe(
          Effect.zipRight(Effect.catchTag(platform.rename(temp, file), "RenameFailed", (failed) =>
            // On a network file system it may have come through all the same: then the update has happened.
            holdsNow(file, written.bytes) ? Effect.void : failed)),
          Effect.zipRight(team.prime(root, written.bytes, written.config)),
          Effect.zipRight(Effect.sync(() => settleNow(path.dirname(file))))
        )
      )
    ).pipe(Effect.catchTag("RenameFailed", ({ code }) => Effect.fail(notWritten(file)(failureOf(file, code)))))

  /**
   * Steps 3 to 5: what waits for the directory once `next` is published; undefined when the file no longer holds what was
   * read in step 1.
   */
  const replace = (
    root: string,
    before: TeamFile.Snapshot,
    next: TeamConfig,
    fence: Effect.Effect<void, SessionReplaced>
  ): Effect.Effect<Effect.Effect<void> | undefined, ConfigNotWritten | SessionReplaced> => {
    const file = TeamFile.fileOf(root)
    return Effect.flatMap(encode(file, next), (written) =>
      // The file's own mode: an update never opens a file that its owner has closed.
      withTemporary(file, written, before.mode, (temp) =>
        Effect.flatMap(fence, () =>
          holdsNow(file, before.bytes)
            ? commit(root, file, temp, fence, { bytes: written, config: next })
            : Effect.succeed(undefined))).pipe(
          Effect.catchTag("FileFailed", (failed) => Effect.fail(notWritten(file)(failed)))
        ))
  }

  /**
   * Steps 1 to 5, again while something else changes the file. `A` is what the change says beside the config; `settled`
   * waits for the directory, which needs no lock any more.
   */
  const pass = Effect.fnUntraced(function*<A, E>(
    root: string,
    coordinator: SessionId,
    fence: Effect.Effect<void, SessionReplaced>,
    change: (config: TeamConfig) => Either.Either<readonly [TeamConfig, A], E>
  ) {
    const file = TeamFile.fileOf(root)
    for (let again = 0; again <= restarts; again += 1) {
      yield* fence
      const before = yield* team.read(root)
      if (Option.isNone(before)) return yield* refuse("absent", file, "it does not exist")
      const { config } = before.value
      if (coordinatorOf(config).sessionId !== coordinator) {
        return yield* refuse("not_coordinator", file, "another session coordinates this team")
      }
      yield* fence
      const [wanted, answer] = yield* change(config)
      if (wanted === config) return { written: [config, answer] as const, settled: Effect.void }
      const next = yield* Either.mapLeft(
        ensureChange(config, wanted),
        (invalid) => refuse("invalid", file, `the change breaks a rule: ${describe(invalid)}`)
      )
      yield* fence
      const settled = yield* replace(root, before.value, next, fence)
      if (settled !== undefined) return { written: [next, answer] as const, settled }
    }
    return yield* refuse("conflict", file, "something else kept changing it at the same time; try again")
  })

  const run = <A, E>(
    root: string,
    coordinator: SessionId,
    fence: Effect.Effect<void, SessionReplaced>,
    change: (config: TeamConfig) => Either.Either<readonly [TeamConfig, A], E>
  ): Effect.Effect<readonly [TeamConfig, A], E | UpdateFailed> =>
    Effect.flatMap(
      critical(root, pass(root, coordinator, fence, change)),
      ({ settled, written }) => Effect.as(settled, written)
    )

  // No spans on this path: one costs as much as reading the file.
  const update = <E>(
    root: string,
    coordinator: SessionId,
    fence: Effect.Effect<void, SessionReplaced>,
    change: Change<E>
  ) =>
    Effect.map(
      run(root, coordinator, fence, (config) => Either.map(change(config), (next) => [next, undefined] as const)),
      ([config]) => config
    )

  const configure = <E>(
    root: string,
    coordinator: SessionId,
    fence: Effect.Effect<void, SessionReplaced>,
    values: AgentValues,
    allow: Parameters<typeof configureAgent<E>>[2]
  ) =>
    directories.resolve(root, values.projectDirectory).pipe(
      Effect.flatMap(({ relative }) =>
        run(root, coordinator, fence, (config) =>
          Either.map(
            configureAgent(config, { ...values, projectDirectory: relative }, allow),
            (configured) => [configured.config, { agent: configured.agent, first: configured.first }] as const
          ))
      ),
      Effect.map(([_, configured]) => configured)
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

  const unswept = (failed: { readonly message: string }) =>
    Effect.logWarning(`What killed sessions left was not removed: ${failed.message}`)

  const sweep = (root: string) =>
    Effect.flatMap(state.of(root), (folder) => {
      const ours = TeamFile.folderOf(root)
      const folders = [ours, path.join(ours, "reports"), folder, path.join(folder, "launch")]
      const each = (one: string) => Effect.catchAll(sweepFolder(one, identity), unswept)
      return critical(root, Effect.forEach(folders, each, { discard: true }))
    }).pipe(Effect.catchAll(unswept), Effect.withSpan("ConfigStore.sweep"))

  return ConfigStore.of({ publish, update, configure, ensureGitignore, sweep })
})

/** Writes team files on disk; shares the reader's cache when both are built together. */
export const layer: Layer.Layer<
  ConfigStore,
  never,
  FileMutationQueue | OwnedLock | Platform | ProcessIdentity | ProjectDirectories | StateDir
> = Layer.effect(ConfigStore, make).pipe(Layer.provide(TeamFile.layer))
