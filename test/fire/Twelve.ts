import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import { SessionId } from "../../src/domain/Primitives.ts"
import { coordinatorOf } from "../../src/domain/TeamConfig.ts"
import { eventuallyTrue } from "../support/Eventually.ts"
import { atOnce, startMany } from "../support/fire/Fleet.ts"
import { Close, Command, Look, PublishTeam, Start } from "../support/fire/Orders.ts"
import { assertTidy, configOf, places, sessionLock } from "./Place.ts"

/**
 * Twelve processes, each with a session in one empty folder, run `/intercom start` at the same instant: one coordinator,
 * eleven registered workers that know it, one valid file, nothing left over (spec 1.3).
 */
export const twelveStart = (rounds: number) =>
  Effect.scoped(Effect.gen(function*() {
    const children = yield* startMany(12)
    const newPlace = yield* places
    let collided = 0
    const winners = new Map<number, number>()
    for (let round = 0; round < rounds; round += 1) {
      const place = newPlace()
      const ids = children.map((_, index) => SessionId.make(`session-${round}-${index}`))
      const started = yield* atOnce(children, (child, index) =>
        Effect.zipRight(child.ask(place.open), child.ask(new Start({ id: ids[index] ?? SessionId.make("none") }))))
      assert.deepStrictEqual(
        started,
        children.map(() =>
          "solo"
        )
      )
      assertTidy(place, [])

      // In turn: the person's command, which looks for a team first, and what is behind it, where all twelve collide.
      const ends = yield* atOnce(children, (child) =>
        Effect.either(round % 2 === 0 ? child.ask(new PublishTeam()) : child.ask(new Command({ args: "start" }))))
      const seen = yield* Effect.forEach(children, (child) =>
        child.ask(new Look()))
      const winner = seen.findIndex(({ role }) =>
        role === "coordinator"
      )
      assert.sameMembers(seen.map(({ role }) => role), [
        "coordinator",
        ...Array.from({ length: 11 }, () => "anonymous")
      ])
      assert.deepStrictEqual(seen.map(({ coordinator }) => coordinator), children.map(() => ids[winner]))
      const config = configOf(place)
      assert.strictEqual(coordinatorOf(config).sessionId, ids[winner])
      assert.lengthOf(config.agents, 1)

      for (const [index, end] of ends.entries()) {
        if (index === winner) assert.match(Either.getOrThrow(end), /coordinat/)
        else if (Either.isRight(end)) {
          assert.include(end.right, "already, so nothing was started")
          assert.include(end.right, "Intercom: anonymous")
        } else {
          collided += 1
          assert.deepInclude(end.left, { _tag: "Failed", error: "TeamTaken" })
          assert.include(end.left.message, `Session ${ids[winner]} already coordinates`)
        }
      }
      if (round % 2 === 0) assert.lengthOf(ends.filter(Either.isLeft), 11)
      const look = (children[winner]?.ask(new Look()) ?? Effect.dieMessage("no winner")).pipe(
        Effect.map(({ texts }) => ids.filter((id) => texts.some((text) => text.includes(`(${id})]`))).length === 11)
      )
      const heard = Effect.forEach(children, (child) => Effect.orDie(child.ask(new Look()))).pipe(
        Effect.map((all) => all.map(({ notices, role, texts }) => [role, ...texts, ...notices].join("\n")).join("\n\n"))
      )
      yield* eventuallyTrue("eleven registrations at the coordinator", look, heard, "20 seconds")
      assertTidy(place, ids.map(sessionLock))
      yield* Effect.forEach(children, (child) => child.ask(new Close()), { concurrency: "unbounded" })
      assertTidy(place, [])
      winners.set(winner, (winners.get(winner) ?? 0) + 1)
    }
    return { rounds, collided, differentWinners: winners.size }
  }))
