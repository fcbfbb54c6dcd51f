import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as fs from "node:fs"
import { basename, join } from "node:path"
import { Port } from "../../src/domain/Primitives.ts"
import { decodeConfig, encodeConfig, firstConfig } from "../../src/domain/TeamConfig.ts"
import { type Child, type ChildEnded, start } from "../support/fire/Fleet.ts"
import {
  Arm,
  Close,
  Command,
  Configure,
  Disarm,
  type Failed,
  type Phase,
  Publish,
  Start,
  Update
} from "../support/fire/Orders.ts"
import { assertTidy, coordinator, filesOf, type Place, places, plant, publish, sessionLock, textOf } from "./Place.ts"
import { staleLock } from "./Takeovers.ts"

/** Something that a process does with the disk, and may be killed in the middle of. */
interface Operation {
  readonly name: string
  /** What is there before. `stale` is a lock of a process that was killed. */
  readonly prepare: (place: Place, stale: Uint8Array) => void
  readonly run: (child: Child) => Effect.Effect<unknown, Failed | ChildEnded>
  /** Whether this text is what the operation writes. */
  readonly wrote: (text: string) => boolean
}

const published = encodeConfig(firstConfig(coordinator, Port.make(41_000), "herdr"))
const isPublished = (text: string): boolean => text === published

/** Temporaries of a process that was killed, of every kind and in every place where there may be some. */
const litter = (place: Place, stale: Uint8Array): void => {
  const { pid, startTicks } = JSON.parse(new TextDecoder().decode(stale))
  const suffix = `${pid}-${startTicks}-7.tmp`
  fs.mkdirSync(join(place.root, ".pi-intercom", "reports"))
  fs.writeFileSync(`${place.file}.${suffix}`, "{ \"half")
  fs.writeFileSync(join(place.root, ".pi-intercom", "reports", `report.json.${suffix}`), "")
  plant(place, `config.lock.${suffix}`, stale)
  plant(place, `secret.${suffix}`, "half")
}

/** Each operation of which a kill at any step must leave a whole file and nothing that the next start cannot mend. */
export const operations: ReadonlyArray<Operation> = [
  {
    name: "first publication",
    prepare: () => {},
    run: (child) => child.ask(new Publish({ id: coordinator })),
    wrote: isPublished
  },
  {
    name: "update",
    prepare: publish,
    run: (child) => child.ask(new Update({ caller: coordinator, key: "x-killed", value: 1 })),
    wrote: (text) => text === encodeConfig({ ...firstConfig(coordinator, Port.make(41_000), "herdr"), "x-killed": 1 })
  },
  {
    name: "configure",
    prepare: publish,
    run: (child) => child.ask(new Configure({ caller: coordinator, workers: ["w"] })),
    wrote: (text) =>
      Either.match(decodeConfig(text), {
        onLeft: () => false,
        onRight: ({ agents }) => agents.length === 2 && agents[1]?.sessionId === "w" && text.endsWith("}\n")
      })
  },
  {
    name: "take-over of a stale lock",
    prepare: (place, stale) => {
      publish(place)
      plant(place, "config.lock", stale)
    },
    run: (child) => child.ask(new Update({ caller: coordinator, key: "x-killed", value: 1 })),
    wrote: (text) => text === encodeConfig({ ...firstConfig(coordinator, Port.make(41_000), "herdr"), "x-killed": 1 })
  },
  {
    name: "coordinator start after a killed one",
    prepare: (place, stale) => {
      publish(place)
      plant(place, "config.lock", stale)
      plant(place, sessionLock(coordinator), stale)
      litter(place, stale)
    },
    run: (child) => child.ask(new Start({ id: coordinator })),
    wrote: (text) =>
      /^\d+$/.test(String(text.match(/"port": (\d+)/)?.[1])) &&
      text.replace(/"port": \d+/, "\"port\": 41000") === published
  }
]

/** One kill: before, after or in the middle of the `call`-th call. */
export interface Case {
  readonly operation: Operation
  readonly call: number
  readonly name: string
  readonly phase: Phase
}

const perform = (child: Child, place: Place, { run }: Operation, call: number | undefined, phase: Phase) =>
  Effect.gen(function*() {
    yield* child.ask(place.open)
    yield* child.ask(new Arm({ call, phase }))
    yield* run(child)
    return yield* child.ask(new Disarm())
  })

const changes = /^(open|write|fsync|close|link|rename|unlink|rm|mkdir)/

/** After a call that only looks the disk is as before it. */
const phasesOf = (name: string): ReadonlyArray<Phase> => [
  "before",
  ...(name.startsWith("write") ? ["torn" as const] : []),
  ...(changes.test(name) ? ["after" as const] : [])
]

/** What is killed where: before every call of every operation, after those that change something, amid each write. */
export const discover = (stale: Uint8Array) =>
  Effect.scoped(Effect.gen(function*() {
    const newPlace = yield* places
    const cases: Array<Case> = []
    for (const operation of operations) {
      const place = newPlace()
      operation.prepare(place, stale)
      // A new process each: one that has worked before has less to find out.
      const child = yield* start
      const calls = yield* perform(child, place, operation, undefined, "before")
      yield* child.ask(new Close())
      for (const [index, name] of calls.entries()) {
        for (const phase of phasesOf(name)) cases.push({ operation, call: index + 1, name, phase })
      }
    }
    return cases
  }))

/** The next start of the coordinator, in another process; where the kill came too early for a team, of a new team. */
const startAgain = (next: Child, place: Place) =>
  Effect.gen(function*() {
    yield* next.ask(place.open)
    const role = yield* next.ask(new Start({ id: coordinator }))
    if (role === "coordinator") return role
    yield* next.ask(new Command({ args: "start" }))
    // A first publication is no start of a coordinator: only that removes what a killed process left (spec 1.4).
    yield* next.ask(place.open)
    yield* next.ask(new Start({ id: coordinator }))
    return role
  })

/**
 * `mended`: the next start put everything in order. A kill inside a take-over leaves its file, which is never broken
 * automatically: `named` when it was in the next start's way, which said so; else it stayed. `not killed`: it needed a
 * call less than when they were counted (how often a young file is read depends on the time, spec 1.4).
 */
type Outcome = "not killed" | "mended" | "named" | "takeover file stayed"

/** Kills a process there, looks at what it left, and starts the coordinator again in another one. */
export const killAt = (stale: Uint8Array, next: Child, newPlace: () => Place, { call, name, operation, phase }: Case) =>
  Effect.scoped(Effect.gen(function*() {
    const where = `${operation.name}, ${phase} call ${call} (${name})`
    const place = newPlace()
    operation.prepare(place, stale)
    const before = textOf(place)
    const child = yield* start
    const end = yield* Effect.either(perform(child, place, operation, call, phase))
    if (Either.isLeft(end)) assert.deepInclude(end.left, { _tag: "ChildEnded", signal: "SIGKILL" }, where)
    else yield* child.ask(new Close())

    const text = textOf(place)
    assert.isTrue(text === before || (text !== undefined && operation.wrote(text)), `${where}: config is ${text}`)

    const left = filesOf(place).filter((file) => file.endsWith(".takeover"))
    assert.isAtMost(left.length, 1, where)
    const [takeover] = left
    // Only who must take over needs the name: a kill between the removal of the dead lock and the end blocks nobody yet.
    if (takeover !== undefined && fs.existsSync(takeover.replace(/\.takeover$/, ""))) {
      const failed = yield* Effect.flip(startAgain(next, place))
      const named = { error: "LockNotTaken", reason: "takeover_left", file: takeover, pid: child.pid }
      assert.deepInclude(failed, named, where)
      assert.include(failed.message, takeover)
      assert.include(failed.message, String(child.pid))
      assert.isTrue(fs.existsSync(takeover), where)
      assert.strictEqual(textOf(place), text, where)
      yield* next.ask(new Close())
      // What the sentence tells the person to do.
      fs.rmSync(takeover)
    }
    const role = yield* startAgain(next, place)
    assert.strictEqual(role, text === undefined ? "solo" : "coordinator", where)
    assert.isTrue(Either.isRight(decodeConfig(textOf(place) ?? "")), where)
    const stays = left.filter((file) => fs.existsSync(file)).map((file) => basename(file))
    assertTidy(place, [sessionLock(coordinator), ...stays])
    yield* next.ask(new Close())
    assertTidy(place, stays)
    if (Either.isRight(end)) return "not killed"
    const outcome: Outcome = takeover === undefined ? "mended" : stays.length > 0 ? "takeover file stayed" : "named"
    return outcome
  }))

/** Kills at all of these places, some at a time. */
export const killAtAll = (cases: ReadonlyArray<Case>, stale: Uint8Array, atATime: number) =>
  Effect.scoped(Effect.gen(function*() {
    const newPlace = yield* places
    const queue = [...cases]
    let kills = 0
    const counts = new Map<string, number>()
    const work = Effect.scoped(Effect.gen(function*() {
      const next = yield* start
      for (let one = queue.shift(); one !== undefined; one = queue.shift()) {
        const outcome = yield* killAt(stale, next, newPlace, one)
        kills += outcome === "not killed" ? 0 : 1
        const what = `${one.operation.name}: ${outcome}`
        counts.set(what, (counts.get(what) ?? 0) + 1)
      }
    }))
    yield* Effect.all(Array.from({ length: atATime }, () => work), { concurrency: "unbounded", discard: true })
    return { kills, outcomes: Object.fromEntries(counts) }
  }))

/** A lock of a process that was killed. */
export const killedOwner = Effect.flatMap(places, (newPlace) => staleLock(newPlace()))
