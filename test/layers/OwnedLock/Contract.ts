import { assert, describe, it } from "@effect/vitest"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import type { LockNotTaken, StateUnusable } from "../../../src/domain/ConfigErrors.ts"
import type { IdentifiedProcess } from "../../../src/domain/IdentifiedProcess.ts"
import { SessionId } from "../../../src/domain/Primitives.ts"
import { OwnedLock } from "../../../src/services/OwnedLock.ts"
import { holdConfig } from "../../support/LockHeld.ts"

/** A machine with one root, and its processes by their pids. */
export interface Place {
  readonly root: string
  readonly layerFor: (pid: number) => Layer.Layer<OwnedLock>
  readonly die: (pid: number) => void
  readonly hide: (pid: number) => void
  /** Every file there is, temporaries included, in order. */
  readonly held: () => ReadonlyArray<string>
  readonly plant: (name: string, content: IdentifiedProcess | "rubbish") => void
  readonly config: string
  readonly session: (sessionId: SessionId) => string
}

/** The locks as a process of that pid takes them. */
export const processOf = (place: Place, pid: number): Effect.Effect<OwnedLock["Type"], never, Scope.Scope> =>
  Effect.map(Layer.build(place.layerFor(pid)), (services) => Context.get(services, OwnedLock))

const [alpha, beta] = [SessionId.make("alpha"), SessionId.make("beta")]

/** A clock on which sleeping takes no time; and how much was slept. */
const hurried = () => {
  let now = 0
  const nanos = () => BigInt(now) * 1_000_000n
  const clock: Clock.Clock = {
    [Clock.ClockTypeId]: Clock.ClockTypeId,
    unsafeCurrentTimeMillis: () => now,
    unsafeCurrentTimeNanos: nanos,
    currentTimeMillis: Effect.sync(() => now),
    currentTimeNanos: Effect.sync(nanos),
    sleep: (duration) =>
      Effect.zipRight(
        Effect.sync(() => {
          now += Duration.toMillis(duration)
        }),
        Effect.yieldNow()
      )
  }
  return { clock, slept: () => now }
}

/** How an attempt was refused, and the milliseconds it waited before. */
export const refusal = (attempt: Effect.Effect<void, LockNotTaken | StateUnusable, Scope.Scope>) =>
  Effect.suspend(() => {
    const { clock, slept } = hurried()
    return Effect.scoped(attempt).pipe(
      Effect.withClock(clock),
      Effect.flip,
      Effect.map((error) => ({ error, waited: slept() }))
    )
  })

const assertRefused = (
  { error }: Effect.Effect.Success<ReturnType<typeof refusal>>,
  expected: Pick<LockNotTaken, "file" | "pid" | "reason">
) => {
  assert(error._tag === "LockNotTaken", String(error))
  const { file, pid, reason } = error
  assert.deepStrictEqual({ file, pid, reason }, expected)
  assert.include(error.message, file)
}

/** What every OwnedLock does. */
export const contract = (name: string, made: Effect.Effect<Place, never, Scope.Scope>) => {
  const test = (
    title: string,
    body: (place: Place) => Effect.Effect<void, unknown, Scope.Scope>
  ) => it.scopedLive(title, () => Effect.flatMap(made, body))

  describe(`locks: ${name}`, () => {
    test("are held until the work ends or the scope closes, each on its own", (place) =>
      Effect.gen(function*() {
        const one = yield* processOf(place, 11)
        const other = yield* processOf(place, 12)
        const scope = yield* Scope.make()
        yield* Scope.extend(holdConfig(one, place.root), scope)
        yield* Scope.extend(other.session(place.root, alpha), scope)
        yield* Scope.extend(one.session(place.root, beta), scope)
        const all = [place.config, place.session(alpha), place.session(beta)]
        assert.deepStrictEqual(place.held(), all.sort())
        yield* Scope.close(scope, Exit.void)
        assert.deepStrictEqual(place.held(), [])
      }))

    test("the monitor's is another one than the team file's, and is taken over from a process that is gone", (place) =>
      Effect.gen(function*() {
        const file = place.config.replace("config.lock", "monitor.lock")
        const [one, other] = [yield* processOf(place, 11), yield* processOf(place, 12)]
        yield* one.config(
          place.root,
          one.monitor(
            place.root,
            Effect.gen(function*() {
              assert.deepStrictEqual(place.held(), [place.config, file])
              const refused = yield* refusal(other.monitor(place.root, Effect.void))
              assertRefused(refused, { reason: "held", pid: 11, file })
              assert.match(refused.error.message, /^The monitor pane is in use by process 11 /)
            })
          )
        )
        assert.deepStrictEqual(place.held(), [])
        place.plant(file, { pid: 13 })
        place.die(13)
        yield* other.monitor(place.root, Effect.sync(() => assert.deepStrictEqual(place.held(), [file])))
        assert.deepStrictEqual(place.held(), [])
      }))

    test("are released when the work fails, dies or is interrupted", (place) =>
      Effect.gen(function*() {
        const { config } = yield* processOf(place, 11)
        for (const end of [Effect.fail("no"), Effect.die("bug"), Effect.interrupt]) {
          yield* Effect.exit(config(place.root, end))
          assert.deepStrictEqual(place.held(), [])
        }
      }))

    test("an owner that lives is waited for 2 s and then named", (place) =>
      Effect.gen(function*() {
        const [one, other] = [yield* processOf(place, 11), yield* processOf(place, 12)]
        yield* holdConfig(one, place.root)
        const refused = yield* refusal(holdConfig(other, place.root))
        assertRefused(refused, { reason: "held", file: place.config, pid: 11 })
        assert.strictEqual(refused.waited, 2000)
        assert.include(refused.error.message, "The team file is in use by process 11")
        assert.deepStrictEqual(place.held(), [place.config])
      }))

    test("a saved session is what the sentence is about", (place) =>
      Effect.gen(function*() {
        const [one, other] = [yield* processOf(place, 11), yield* processOf(place, 12)]
        yield* one.session(place.root, alpha)
        const refused = yield* refusal(other.session(place.root, alpha))
        assertRefused(refused, { reason: "held", file: place.session(alpha), pid: 11 })
        assert.include(refused.error.message, "This saved session is in use by process 11")
      }))

    test("exclude each other in one process too", (place) =>
      Effect.gen(function*() {
        const locks = yield* processOf(place, 11)
        yield* holdConfig(locks, place.root)
        assertRefused(yield* refusal(holdConfig(locks, place.root)), { reason: "held", file: place.config, pid: 11 })
        assert.deepStrictEqual(place.held(), [place.config])
      }))

    test("whoever waits has it as soon as it is released", (place) =>
      Effect.gen(function*() {
        const [one, other] = [yield* processOf(place, 11), yield* processOf(place, 12)]
        const scope = yield* Scope.make()
        yield* Scope.extend(holdConfig(one, place.root), scope)
        const waiting = yield* Effect.fork(holdConfig(other, place.root))
        yield* Effect.yieldNow()
        assert.isTrue((yield* Fiber.poll(waiting))._tag === "None")
        yield* Scope.close(scope, Exit.void)
        yield* Fiber.join(waiting)
        assert.deepStrictEqual(place.held(), [place.config])
      }))

    test("an interruption while waiting is at once, and leaves nothing", (place) =>
      Effect.gen(function*() {
        const [one, other] = [yield* processOf(place, 11), yield* processOf(place, 12)]
        yield* holdConfig(one, place.root)
        const sleeping = yield* Deferred.make<void>()
        const clock: Clock.Clock = {
          ...Clock.make(),
          sleep: () => Effect.zipRight(Deferred.succeed(sleeping, undefined), Effect.never)
        }
        const waiting = yield* Effect.fork(Effect.withClock(Effect.scoped(holdConfig(other, place.root)), clock))
        yield* Deferred.await(sleeping)
        assert.isTrue(Exit.isInterrupted(yield* Fiber.interrupt(waiting)))
        assert.deepStrictEqual(place.held(), [place.config])
      }))

    test("of a process proven gone are replaced without waiting; what it would release is ours", (place) =>
      Effect.gen(function*() {
        const [one, other] = [yield* processOf(place, 11), yield* processOf(place, 12)]
        const scope = yield* Scope.make()
        yield* Scope.extend(holdConfig(one, place.root), scope)
        place.die(11)
        const { clock, slept } = hurried()
        yield* Effect.withClock(holdConfig(other, place.root), clock)
        assert.strictEqual(slept(), 0)
        assert.deepStrictEqual(place.held(), [place.config])
        yield* Scope.close(scope, Exit.void)
        assert.deepStrictEqual(place.held(), [place.config])
        const third = yield* processOf(place, 13)
        assertRefused(yield* refusal(holdConfig(third, place.root)), { reason: "held", file: place.config, pid: 12 })
      }))

    test("of a process of which nothing is known are not broken", (place) =>
      Effect.gen(function*() {
        const [one, other] = [yield* processOf(place, 11), yield* processOf(place, 12)]
        yield* holdConfig(one, place.root)
        place.hide(11)
        const refused = yield* refusal(holdConfig(other, place.root))
        assertRefused(refused, { reason: "unknown_owner", file: place.config, pid: 11 })
        assert.strictEqual(refused.waited, 2000)
        assert.include(refused.error.message, "remove that file")
        assert.deepStrictEqual(place.held(), [place.config])
      }))

    test("a take-over that was left is never broken, even if its maker is proven gone", (place) =>
      Effect.gen(function*() {
        const takeover = `${place.config}.takeover`
        const { config } = yield* processOf(place, 12)
        place.plant(place.config, { pid: 11 })
        place.plant(takeover, { pid: 10 })
        place.die(10)
        place.die(11)
        const refused = yield* refusal(config(place.root, Effect.void))
        assertRefused(refused, { reason: "takeover_left", file: takeover, pid: 10 })
        assert.strictEqual(refused.waited, 2000)
        assert.deepStrictEqual(place.held(), [place.config, takeover])
      }))

    test("a take-over that was left is in nobody's way while the lock is free", (place) =>
      Effect.gen(function*() {
        const takeover = `${place.config}.takeover`
        place.plant(takeover, "rubbish")
        const { config } = yield* processOf(place, 12)
        yield* config(place.root, Effect.void)
        assert.deepStrictEqual(place.held(), [takeover])
      }))

    test("what is not a lock is refused at once and left alone", (place) =>
      Effect.gen(function*() {
        place.plant(place.config, "rubbish")
        const { config } = yield* processOf(place, 12)
        const refused = yield* refusal(config(place.root, Effect.void))
        assertRefused(refused, { reason: "unreadable", file: place.config, pid: undefined })
        assert.strictEqual(refused.waited, 0)
        assert.deepStrictEqual(place.held(), [place.config])
      }))

    test("a session is free to be started on while nobody has it, or only a process proven gone; nothing is taken", (place) =>
      Effect.gen(function*() {
        const [one, other] = [yield* processOf(place, 11), yield* processOf(place, 12)]
        const free = other.sessionFree(place.root, alpha)
        yield* free
        const scope = yield* Scope.make()
        yield* Scope.extend(one.session(place.root, beta), scope)
        yield* free
        assert.deepStrictEqual(place.held(), [place.session(beta)])
        yield* Scope.extend(one.session(place.root, alpha), scope)
        const held = yield* refusal(free)
        assertRefused(held, { reason: "held", file: place.session(alpha), pid: 11 })
        assert.strictEqual(held.waited, 0)
        place.hide(11)
        assertRefused(yield* refusal(free), { reason: "unknown_owner", file: place.session(alpha), pid: 11 })
        yield* Scope.close(scope, Exit.void)
        yield* free
        place.plant(place.session(alpha), { pid: 13 })
        place.die(13)
        yield* free
        assert.deepStrictEqual(place.held(), [place.session(alpha)])
      }))

    test("a session that nobody could take is not free: not a lock, or a take-over that was left", (place) =>
      Effect.gen(function*() {
        const file = place.session(alpha)
        const { sessionFree } = yield* processOf(place, 12)
        place.plant(file, "rubbish")
        const foreign = yield* refusal(sessionFree(place.root, alpha))
        assertRefused(foreign, { reason: "unreadable", file, pid: undefined })
        place.plant(file, { pid: 11 })
        place.die(11)
        place.plant(`${file}.takeover`, { pid: 10 })
        const left = yield* refusal(sessionFree(place.root, alpha))
        assertRefused(left, { reason: "takeover_left", file: `${file}.takeover`, pid: 10 })
        assert.deepStrictEqual(place.held(), [file, `${file}.takeover`])
      }))

    test("eight takers of a dead process's lock have it one after the other", (place) =>
      Effect.gen(function*() {
        place.plant(place.config, { pid: 11 })
        place.die(11)
        let [inside, most, done] = [0, 0, 0]
        const work = Effect.sync(() => {
          most = Math.max(most, ++inside)
        }).pipe(Effect.zipRight(Effect.yieldNow()), Effect.ensuring(Effect.sync(() => inside--)))
        yield* Effect.forEach([21, 22, 23, 24, 25, 26, 26, 26], (pid) =>
          processOf(place, pid).pipe(
            Effect.flatMap(({ config }) => config(place.root, work)),
            Effect.tap(() => Effect.sync(() => done++))
          ), { concurrency: "unbounded" })
        assert.deepStrictEqual([most, done, place.held()], [1, 8, []])
      }))
  })
}
