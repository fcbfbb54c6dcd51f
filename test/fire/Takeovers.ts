import { assert } from "@effect/vitest"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as fs from "node:fs"
import { basename, join } from "node:path"
import { atOnce, start, startMany } from "../support/fire/Fleet.ts"
import { Close, Own, Release, Start, Take, Update } from "../support/fire/Orders.ts"
import { assertTidy, configOf, coordinator, lockOf, type Place, places, plant, publish, sessionLock } from "./Place.ts"

/** What a process that was killed while it held `config.lock` left behind: the lock's bytes. */
export const staleLock = (place: Place): Effect.Effect<Uint8Array, never, Scope.Scope> =>
  Effect.gen(function*() {
    const killed = yield* start
    yield* Effect.orDie(Effect.zipRight(killed.ask(place.open), killed.ask(new Take({}))))
    yield* killed.signal("SIGKILL")
    yield* killed.ended
    return lockOf(place, "config.lock")
  })

/** Whoever owned the lock wrote `begin`, `still` … `end` with nobody in between. */
const assertOneOwnerAtATime = (journal: string, owners: Array<number>): void => {
  const lines = fs.readFileSync(journal, "utf8").trimEnd().split("\n")
  const turns = lines.join("\n").split(/(?<=^end \d+$)\n/m)
  for (const turn of turns) {
    const pid = turn.split("\n")[0]?.split(" ")[1] ?? ""
    assert.strictEqual(
      turn,
      ["begin", ...Array.from({ length: 5 }, () => "still"), "end"].map((w) => `${w} ${pid}`).join("\n")
    )
  }
  assert.sameMembers(turns.map((turn) => Number(turn.split(" ").at(-1))), owners)
}

/** A killed process's lock is taken by several at the same instant: never two owners at once, and all get their turn. */
export const takeOverAtOnce = (takers: number, rounds: number) =>
  Effect.scoped(Effect.gen(function*() {
    const newPlace = yield* places
    const stale = yield* staleLock(newPlace())
    const children = yield* startMany(takers)
    for (let round = 0; round < rounds; round += 1) {
      const place = newPlace()
      plant(place, "config.lock", stale)
      yield* Effect.forEach(children, (child) => child.ask(place.open), { concurrency: "unbounded" })
      yield* atOnce(children, (child) => child.ask(new Own({ journal: place.journal })))
      assertOneOwnerAtATime(place.journal, children.map(({ pid }) => pid))
      assertTidy(place, [])
    }
    return { takers, rounds }
  }))

/** A coordinator that is killed: the next process of its session takes over both of its locks. */
export const killedCoordinator = Effect.scoped(Effect.gen(function*() {
  const place = (yield* places)()
  publish(place)
  const [killed, next] = [yield* start, yield* start]
  yield* killed.ask(place.open)
  assert.strictEqual(yield* killed.ask(new Start({ id: coordinator })), "coordinator")
  yield* killed.ask(new Take({}))
  assertTidy(place, [sessionLock(coordinator), "config.lock"])
  yield* killed.signal("SIGKILL")
  yield* killed.ended
  assertTidy(place, [sessionLock(coordinator), "config.lock"])
  yield* next.ask(place.open)
  assert.strictEqual(yield* next.ask(new Start({ id: coordinator })), "coordinator")
  assertTidy(place, [sessionLock(coordinator)])
  yield* next.ask(new Close())
  assertTidy(place, [])
}))

/** A process that does nothing but is alive keeps its locks; who waits is told its pid. */
export const stoppedOwner = Effect.scoped(Effect.gen(function*() {
  const place = (yield* places)()
  publish(place)
  const [owner, other] = [yield* start, yield* start]
  yield* owner.ask(place.open)
  yield* other.ask(place.open)
  yield* owner.ask(new Start({ id: coordinator }))
  yield* owner.ask(new Take({}))
  yield* owner.signal("SIGSTOP")
  const attempts = [
    [Effect.asVoid(other.ask(new Start({ id: coordinator }))), sessionLock(coordinator)],
    [other.ask(new Update({ caller: coordinator, key: "x-more", value: 1 })), "config.lock"]
  ] as const
  const waits: Array<number> = []
  for (const [attempt, lock] of attempts) {
    const [duration, failed] = yield* Effect.timed(Effect.flip(attempt))
    assert.deepInclude(failed, { _tag: "Failed", error: "LockNotTaken", reason: "held", pid: owner.pid })
    assert.include(failed.message, String(owner.pid))
    assert.include(failed.message, join(place.private, lock))
    waits.push(Duration.toMillis(duration))
  }
  yield* owner.signal("SIGCONT")
  yield* owner.ask(new Release())
  yield* other.ask(new Update({ caller: coordinator, key: "x-more", value: 2 }))
  assert.strictEqual(configOf(place)["x-more"], 2)
  yield* owner.ask(new Close())
  assert.strictEqual(yield* other.ask(new Start({ id: coordinator })), "coordinator")
  assert.isTrue(fs.existsSync(join(place.private, basename(sessionLock(coordinator)))))
  return waits
}))
