import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Ref from "effect/Ref"
import * as Schema from "effect/Schema"
import * as fs from "node:fs"
import { join } from "node:path"

/** The top-level key that the editor counts in; nothing of ours. */
export const editorKey = "x-editor"

const Text = Schema.parseJson(Schema.Struct({
  agents: Schema.Array(Schema.Struct({ sessionId: Schema.String }, { key: Schema.String, value: Schema.Unknown }))
}, { key: Schema.String, value: Schema.Unknown }))
const parse = Schema.decodeUnknownSync(Text)

/**
 * A person's editor: reads the team file, changes a key of its own, writes a temporary and renames it; it knows no lock.
 * It fsyncs, as editors do, so that it is as slow as one. Each edit is journalled as `edit <session ids that it
 * wrote>`.
 */
const edit = (root: string, journal: string, made: number) => {
  const file = join(root, ".pi-intercom", "config.json")
  const before = parse(fs.readFileSync(file, "utf8"))
  const found = before[editorKey] ?? 0
  const after = { ...before, [editorKey]: made + 1 }
  const fd = fs.openSync(`${file}~`, "w")
  fs.writeSync(fd, `${JSON.stringify(after, null, 2)}\n`)
  fs.fsyncSync(fd)
  fs.closeSync(fd)
  fs.renameSync(`${file}~`, file)
  fs.appendFileSync(journal, `edit ${before.agents.map(({ sessionId }) => sessionId).join(" ")}\n`)
  return found === made
}

/** Edits every so many milliseconds until stopped; see `Edit` and `StopEditing`. */
export const start = Effect.fnUntraced(function*(root: string, journal: string, everyMs: number) {
  const counts = yield* Ref.make({ edits: 0, lost: 0 })
  const once = Ref.update(counts, ({ edits, lost }) => ({
    edits: edits + 1,
    lost: edit(root, journal, edits) ? lost : lost + 1
  }))
  const fiber = yield* Effect.forkDaemon(Effect.forever(Effect.delay(once, everyMs)))
  return Fiber.interrupt(fiber).pipe(Effect.zipRight(Ref.get(counts)))
})
