import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type { BigIntStats } from "node:fs"
import * as path from "node:path"
import { ConfigUnusable } from "../../domain/ConfigErrors.ts"
import type { Invalid } from "../../domain/Problems.ts"
import { describe } from "../../domain/Problems.ts"
import type { TeamConfig } from "../../domain/TeamConfig.ts"
import { decodeConfig, maxConfigBytes } from "../../domain/TeamConfig.ts"
import type { FileFailed } from "../Files.ts"
import { checkTrusted, lookNow, orAbsentNow, provesContent, readRegularNow, sameFile } from "../Files.ts"

/** A team file as it was read: what an update compares the disk with before it renames. */
export interface Snapshot {
  readonly bytes: Uint8Array
  readonly config: TeamConfig
  /** The file's permission bits. */
  readonly mode: number
}

/** The folder of a team in its root. */
export const folderOf = (root: string): string => path.join(root, ".pi-intercom")
/** The team file of a root. */
export const fileOf = (root: string): string => path.join(folderOf(root), "config.json")

/** A file that cannot be used, from what was found at its path. */
export const unusable = (failed: FileFailed): ConfigUnusable => {
  const unsafe = ["link", "kind", "foreign", "open_to_all"].includes(failed.reason)
  return new ConfigUnusable({
    reason: failed.reason === "too_large" ? "too_large" : unsafe ? "unsafe" : "unreadable",
    file: failed.path,
    detail: failed.reason === "open_to_all" ? `${failed.detail} (chmod o-w mends that)` : failed.detail
  })
}

/** Reads team files for the reader and the writer of this process, over one cache of parses (spec 1.4). */
export class TeamFile extends Context.Tag("pi-intercom/layers/TeamFile")<TeamFile, {
  /** Where the team file is, verified link by link; none when the folder or the file does not exist. */
  readonly locate: (root: string) => Effect.Effect<Option.Option<BigIntStats>, ConfigUnusable>
  /** The team file, afresh; none only when it does not exist. */
  readonly read: (root: string) => Effect.Effect<Option.Option<Snapshot>, ConfigUnusable>
  /** Remembers what this process just wrote, so that the next read compares bytes instead of parsing them. */
  readonly prime: (root: string, bytes: Uint8Array, config: TeamConfig) => Effect.Effect<void>
}>() {}

interface Entry {
  readonly bytes: Uint8Array
  readonly parsed: Either.Either<TeamConfig, Invalid>
  /** The stat that stands for these bytes; absent while it could not tell them from a later write. */
  readonly stat: BigIntStats | undefined
}

const parse = (bytes: Uint8Array): Either.Either<TeamConfig, Invalid> =>
  Either.try({
    try: () => new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes),
    catch: (): Invalid => ({ path: "", problem: "it is not valid UTF-8 text" })
  }).pipe(Either.flatMap(decodeConfig))

const make = Effect.sync(() => {
  const entries = new Map<string, Entry>()

  const locateNow = (root: string): Either.Either<Option.Option<BigIntStats>, FileFailed> => {
    const steps = [[root, "folder"], [folderOf(root), "folder"], [fileOf(root), "file"]] as const
    let last = Option.none<BigIntStats>()
    for (const [entry, kind] of steps) {
      const found = orAbsentNow(lookNow(entry))
      if (Either.isLeft(found) || Option.isNone(found.right)) return found
      const trusted = checkTrusted(entry, found.right.value, kind)
      if (Either.isLeft(trusted)) return Either.left(trusted.left)
      last = found.right
    }
    return Either.right(last)
  }

  const loadNow = (file: string, cached: Entry | undefined, nowMs: number): Either.Either<Entry, FileFailed> =>
    Either.flatMap(
      readRegularNow(file, maxConfigBytes),
      ({ bytes, stat }) =>
        Either.map(checkTrusted(file, stat, "file"), () => {
          const unchanged = cached !== undefined && Buffer.compare(cached.bytes, bytes) === 0
          const entry: Entry = {
            ...(unchanged ? cached : { bytes, parsed: parse(bytes) }),
            stat: provesContent(stat, nowMs) ? stat : undefined
          }
          entries.set(file, entry)
          return entry
        })
    )

  const readNow = (root: string, nowMs: number): Either.Either<Option.Option<Snapshot>, ConfigUnusable> => {
    const file = fileOf(root)
    const seen = locateNow(root)
    if (Either.isLeft(seen)) return Either.left(unusable(seen.left))
    if (Option.isNone(seen.right)) return Either.right(Option.none())
    const cached = entries.get(file)
    const found = cached?.stat !== undefined && sameFile(cached.stat, seen.right.value)
      ? Either.right(Option.some(cached))
      : orAbsentNow(loadNow(file, cached, nowMs))
    if (Either.isLeft(found)) return Either.left(unusable(found.left))
    if (Option.isNone(found.right)) return Either.right(Option.none())
    const { bytes, parsed } = found.right.value
    if (Either.isLeft(parsed)) {
      return Either.left(new ConfigUnusable({ reason: "invalid", file, detail: describe(parsed.left) }))
    }
    return Either.right(Option.some({ bytes, config: parsed.right, mode: Number(seen.right.value.mode & 0o777n) }))
  }

  const locate = (root: string) => Effect.mapError(Effect.suspend(() => locateNow(root)), unusable)

  // The time is taken first: a stat that looks old enough then was so when the bytes were read.
  const read = (root: string) => Effect.flatMap(Clock.currentTimeMillis, (now) => readNow(root, now))

  const prime = (root: string, bytes: Uint8Array, config: TeamConfig) =>
    Effect.sync(() => {
      entries.set(fileOf(root), { bytes, parsed: Either.right(config), stat: undefined })
    })

  return TeamFile.of({ locate, read, prime })
})

/** One cache for all who are given this layer in the same build. */
export const layer: Layer.Layer<TeamFile> = Layer.effect(TeamFile, make)
