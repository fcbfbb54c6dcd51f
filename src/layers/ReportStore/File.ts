import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { createHash } from "node:crypto"
import * as path from "node:path"
import { cleanReport, maxReportBytes, SavedReport } from "../../domain/Report.ts"
import { ReportNotSaved, ReportStore } from "../../services/ReportStore.ts"
import { folderOf } from "../ConfigReader/TeamFile.ts"
import { checkOwn, checkTrusted, look, makeDirectory, readRegular } from "../Files.ts"
import { rename, withTemporary } from "../Writing.ts"

const reportsOf = (root: string): string => path.join(folderOf(root), "reports")
const fileOf = (root: string, sessionId: string): string =>
  path.join(reportsOf(root), `${createHash("sha256").update(sessionId).digest("hex")}.json`)

/** Refuses a folder that is a link or not this user's. */
const check = (folder: string) => Effect.flatMap(look(folder), (stat) => checkTrusted(folder, stat, "folder"))

const encode = Schema.encodeSync(Schema.parseJson(SavedReport))
const decode = Schema.decodeUnknownOption(Schema.parseJson(SavedReport))

const save = Effect.fn("ReportStore.save")(function*(root: string, report: SavedReport) {
  const cleaned = cleanReport(report)
  if (Option.isNone(cleaned)) return yield* new ReportNotSaved({ detail: "its summary has no readable text" })
  const bytes = new TextEncoder().encode(`${encode(cleaned.value)}\n`)
  if (bytes.length > maxReportBytes) return yield* new ReportNotSaved({ detail: "it is larger than 8 KiB" })
  const file = fileOf(root, report.sessionId)
  yield* check(folderOf(root)).pipe(
    Effect.zipRight(makeDirectory(reportsOf(root), 0o700)),
    Effect.zipRight(check(reportsOf(root))),
    Effect.zipRight(withTemporary(file, bytes, 0o600, (temp) => rename(temp, file))),
    Effect.mapError((failed) => new ReportNotSaved({ detail: failed.message }))
  )
})

const readOne = (root: string, sessionId: string) => {
  const file = fileOf(root, sessionId)
  return readRegular(file, maxReportBytes).pipe(
    Effect.tap(({ stat }) => checkOwn(file, stat, "file")),
    Effect.map(({ bytes }) => decode(Buffer.from(bytes).toString("utf8"))),
    Effect.orElseSucceed(() => Option.none<SavedReport>()),
    Effect.map(Option.flatMap(cleanReport)),
    Effect.map(Option.filter((report) => report.sessionId === sessionId && report.status !== "clear"))
  )
}

const read = Effect.fn("ReportStore.read")(function*(root: string, sessionIds: ReadonlyArray<string>) {
  const reports = new Map<string, SavedReport>()
  if (yield* Effect.isFailure(Effect.zipRight(check(folderOf(root)), check(reportsOf(root))))) return reports
  for (const sessionId of sessionIds) {
    const report = yield* readOne(root, sessionId)
    if (Option.isSome(report)) reports.set(sessionId, report.value)
  }
  return reports
})

/** Reports in the team's folder. */
export const layer: Layer.Layer<ReportStore> = Layer.succeed(ReportStore, { save, read })
