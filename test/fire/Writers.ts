import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as fs from "node:fs"
import { editorKey } from "../support/fire/Editor.ts"
import { atOnce, start, startMany } from "../support/fire/Fleet.ts"
import { Close, Configure, Edit, StopEditing } from "../support/fire/Orders.ts"
import { assertTidy, configOf, coordinator, places, publish } from "./Place.ts"

const workersOf = (writer: number, count: number): ReadonlyArray<string> =>
  Array.from({ length: count }, (_, index) => `w${writer}-${index}`)

/** So many processes configure so many different workers each, at once: all are there (spec 1.4). */
export const writersAtOnce = (writers: number, each: number) =>
  Effect.scoped(Effect.gen(function*() {
    const children = yield* startMany(writers)
    const place = (yield* places)()
    publish(place)
    yield* Effect.forEach(children, (child) => child.ask(place.open), { concurrency: "unbounded" })
    const counts = yield* atOnce(children, (child, writer) =>
      child.ask(new Configure({ caller: coordinator, workers: workersOf(writer, each) })))
    const ids = configOf(place).agents.map(({ sessionId }) =>
      sessionId
    )
    assert.sameMembers(ids, [coordinator, ...children.flatMap((_, writer) => workersOf(writer, each))])
    assertTidy(place, [])
    // Nothing but lock holders wrote: nobody ever found a file that changed under its lock.
    assert.deepStrictEqual(counts.map(({ conflicts }) => conflicts), children.map(() => 0))
    yield* Effect.forEach(children, (child) => child.ask(new Close()))
    return { writers, each, held: counts.map(({ held }) => held), slowestMs: counts.map(({ slowestMs }) => slowestMs) }
  }))

interface Journal {
  /** Where in the journal a worker's entry was decided upon for the last time. */
  readonly decided: ReadonlyMap<string, number>
  /** What the editor wrote, and where. */
  readonly edits: ReadonlyArray<{ readonly at: number; readonly wrote: ReadonlySet<string> }>
}

const readJournal = (file: string): Journal => {
  const decided = new Map<string, number>()
  const edits: Array<Journal["edits"][number]> = []
  for (const [at, line] of fs.readFileSync(file, "utf8").split("\n").entries()) {
    const [what, ...ids] = line.split(" ")
    if (what === "change") decided.set(ids[0] ?? "", at)
    if (what === "edit") edits.push({ at, wrote: new Set(ids) })
  }
  return { decided, edits }
}

/**
 * Three lock holders and an editor that knows no lock. What an outside edit may lose is counted, not excluded (spec
 * 1.4). A lock holder's entry may only be missing if the editor wrote a file without it after it was decided upon: then
 * the editor overwrote what it had not seen, and no lock holder lost it.
 */
export const writersAndEditor = (each: number, everyMs: number) =>
  Effect.scoped(Effect.gen(function*() {
    const children = yield* startMany(3)
    const editor = yield* start
    const place = (yield* places)()
    publish(place)
    yield* Effect.forEach([...children, editor], (child) => child.ask(place.open), { concurrency: "unbounded" })
    yield* editor.ask(new Edit({ everyMs, journal: place.journal }))
    const counts = yield* atOnce(children, (child, writer) =>
      child.ask(
        new Configure({ caller: coordinator, workers: workersOf(writer, each), journal: place.journal })
      ))
    const { edits, lost } = yield* editor.ask(new StopEditing())
    const config = configOf(place)
    const present = new Set<string>(config.agents.map(({ sessionId }) => sessionId))
    const missing = children.flatMap((_, writer) => workersOf(writer, each)).filter((id) => !present.has(id))
    const journal = readJournal(place.journal)
    const unexplained = missing.filter((id) =>
      !journal.edits.some(({ at, wrote }) => at > (journal.decided.get(id) ?? 0) && !wrote.has(id))
    )
    assert.deepStrictEqual(unexplained, [])
    assert.isAbove(edits, 0)
    assertTidy(place, [])
    return {
      updates: 3 * each,
      updatesLostToTheEditor: missing.length,
      edits,
      editsLostToUpdates: lost + (config[editorKey] === edits ? 0 : 1),
      conflictsTriedAgain: counts.reduce((sum, { conflicts }) => sum + conflicts, 0),
      locksWaitedForInVain: counts.reduce((sum, { held }) => sum + held, 0),
      slowestUpdateMs: Math.max(...counts.map(({ slowestMs }) => slowestMs))
    }
  }))
