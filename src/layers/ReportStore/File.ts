import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { createHash } from "node:crypto"
import type { BigIntStats } from "node:fs"
import * as path from "node:path"
import { cleanReport, maxReportBytes, SavedReport } from "../../domain/Report.ts"
import { type ReadReports, ReportNotSaved, ReportStore } from "../../services/ReportStore.ts"
import { folderOf } from "../ConfigReader/TeamFile.ts"
import {
  checkOwn,
  checkTrusted,
  type FileFailed,
  look,
  lookNow,
  makeDirectory,
  provesContent,
  readRegularNow,
  sameFile
} from "../Files.ts"
import { nextTurn } from "../Turns.ts"
import { rename, withTemporary } from "../Writing.ts"

const reportsOf = (root: string): string => path.join(folderOf(root), "reports")
// Not joined: that normalises the whole path anew for each worker.
const fileOf = (folder: string, sessionId: string): string =>
  `${folder}${path.sep}${createHash("sha256").update(sessionId).digest("hex")}.json`

/** Refuses a folder that is a link or not this user's. */
const check = (folder: string) => Effect.flatMap(look(folder), (stat) => checkTrusted(folder, stat, "folder"))

const encode = Schema.encodeSync(Schema.parseJson(SavedReport))
const decode = Schema.decodeUnknownOption(Schema.parseJson(SavedReport))

const save = Effect.fn("ReportStore.save")(function*(root: string, report: SavedReport) {
  const cleaned = cleanReport(report)
  if (Option.isNone(cleaned)) return yield* new ReportNotSaved({ detail: "its summary has no readable text" })
  const bytes = new TextEncoder().encode(`${encode(cleaned.value)}\n`)
  if (bytes.length > maxReportBytes) return yield* new ReportNotSaved({ detail: "it is larger than 8 KiB" })
  const file = fileOf(reportsOf(root), report.sessionId)
  yield* check(folderOf(root)).pipe(
    Effect.zipRight(makeDirectory(reportsOf(root), 0o700)),
    Effect.zipRight(check(reportsOf(root))),
    Effect.zipRight(withTemporary(file, bytes, 0o600, (temp) => rename(temp, file))),
    Effect.mapError((failed) => new ReportNotSaved({ detail: failed.message }))
  )
})

/** What a file held when its stat was this one. */
interface Known {
  readonly stat: BigIntStats
  readonly report: Option.Option<SavedReport>
}

/** A worker's file, and what it held if that can be told from any later content. */
interface Remembered {
  readonly file: string
  readonly known: Known | undefined
}

type Seen = ReturnType<typeof lookNow>

/** So many files are read in one turn: a millisecond or two. */
const perTurn = 16

const make = Effect.sync(() => {
  /** By root: those who were asked for the last time, and no others. */
  const caches = new Map<string, ReadonlyMap<string, Remembered>>()

  const parse = (bytes: Uint8Array, sessionId: string): Option.Option<SavedReport> =>
    decode(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("utf8")).pipe(
      Option.flatMap(cleanReport),
      Option.filter((report) => report.sessionId === sessionId && report.status !== "clear")
    )

  const loadNow = (file: string, seen: Seen, sessionId: string): Either.Either<Known, FileFailed> =>
    Either.flatMap(
      readRegularNow(file, maxReportBytes, seen),
      ({ bytes, stat }) => Either.map(checkOwn(file, stat, "file"), () => ({ stat, report: parse(bytes, sessionId) }))
    )

  const readNow = (file: string, sessionId: string, known: Known | undefined): Either.Either<Known, FileFailed> => {
    const seen = lookNow(file)
    if (Either.isLeft(seen)) return Either.left(seen.left)
    return known !== undefined && sameFile(known.stat, seen.right)
      ? Either.right(known)
      : loadNow(file, seen, sessionId)
  }

  const read = Effect.fn("ReportStore.read")(function*(root: string, sessionIds: ReadonlyArray<string>) {
    const checked = yield* Effect.either(Effect.zipRight(check(folderOf(root)), check(reportsOf(root))))
    if (Either.isLeft(checked)) {
      const nobody: ReadReports = {
        reports: new Map(),
        unread: new Set(checked.left.reason === "absent" ? [] : sessionIds)
      }
      return nobody
    }
    const [reports, unread] = [new Map<string, SavedReport>(), new Set<string>()]
    const now = yield* Clock.currentTimeMillis
    const folder = reportsOf(root)
    const [before, cache] = [caches.get(root), new Map<string, Remembered>()]
    for (const [index, sessionId] of sessionIds.entries()) {
      if (index % perTurn === perTurn - 1) yield* nextTurn
      const earlier = before?.get(sessionId)
      const file = earlier?.file ?? fileOf(folder, sessionId)
      const found = readNow(file, sessionId, earlier?.known)
      const known = Either.isRight(found) && provesContent(found.right.stat, now) ? found.right : undefined
      cache.set(sessionId, earlier !== undefined && earlier.known === known ? earlier : { file, known })
      // A file that is there and is none of ours is no report; one that the system did not let us read may be one.
      if (Either.isLeft(found)) {
        if (found.left.reason === "failed") unread.add(sessionId)
        continue
      }
      if (Option.isSome(found.right.report)) reports.set(sessionId, found.right.report.value)
    }
    caches.set(root, cache)
    const read: ReadReports = { reports, unread }
    return read
  })

  return ReportStore.of({ save, read })
})

/** Reports in the team's folder; those that are unchanged are not read again. */
export const layer: Layer.Layer<ReportStore> = Layer.effect(ReportStore, make)
