import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as FiberId from "effect/FiberId"
import type { LockNotTaken } from "../../../src/domain/ConfigErrors.ts"
import { type Found, holding, type Steps, take } from "../../../src/layers/OwnedLock/Routine.ts"
import { makeStepMachine } from "../../support/StepMachine.ts"

/** What lies in the folder when everything starts; the processes 90 and 91 are dead, 92 is in another container. */
export type Start = "free" | "stale" | "stale, takeover left" | "unknown owner" | "rubbish"

/** One event of a schedule; `taker` is an index, `ms` what passes. */
export type Event =
  /** One file operation, or one step of its work under the lock. Whoever gets none is a stopped process. */
  | { readonly _tag: "step"; readonly taker: number }
  | { readonly _tag: "kill"; readonly taker: number }
  | { readonly _tag: "interrupt"; readonly taker: number }
  | { readonly _tag: "wait"; readonly ms: number }
  /** A person does what a sentence advises: removes what nobody may break, once its maker is known to have ended. */
  | { readonly _tag: "mend" }

export interface Interleaving {
  readonly start: Start
  /** The process of each taker; two takers may be of one process, and one taker takes the lock twice. */
  readonly pids: ReadonlyArray<number>
  readonly schedule: ReadonlyArray<Event>
}

/** What happened, so that a test can tell that it was not about nothing. */
export interface Tally {
  readonly taken: number
  readonly takenOver: number
  readonly refused: Readonly<Record<LockNotTaken["reason"], number>>
  readonly killedInTakeover: number
  readonly interruptedWaiting: number
}

const lock = "config.lock"
const takeover = `${lock}.takeover`

interface File {
  readonly mark: string
  readonly pid: number | "rubbish"
  readonly taker: number | undefined
}

interface Taker {
  readonly pid: number
  pending: (() => void) | undefined
  believes: boolean
  done: boolean
  since: number
}

/**
 * Runs the lock routine of all takers in exactly this order and then lets everyone who lives finish. Throws at the
 * first moment when something is true that never may be.
 */
export const interleave = ({ pids, schedule, start }: Interleaving): Tally => {
  const machine = makeStepMachine()
  const files = new Map<string, File>()
  const dead = new Set([90, 91])
  const tally = {
    taken: 0,
    takenOver: 0,
    refused: { held: 0, unknown_owner: 0, takeover_left: 0, unreadable: 0 },
    killedInTakeover: 0,
    interruptedWaiting: 0
  }
  let numbers = 0
  // Kept as well: what is thrown inside a fiber does not come out of it.
  let violation: Error | undefined
  const fail = (what: string): never => {
    violation ??= new Error(`${what} at ${machine.now()} ms; ${JSON.stringify([...files])}`)
    throw violation
  }

  const old = (pid: File["pid"]): File => ({ mark: String(++numbers), pid, taker: undefined })
  if (start === "stale" || start === "stale, takeover left") files.set(lock, old(90))
  if (start === "stale, takeover left") files.set(takeover, old(91))
  if (start === "unknown owner") files.set(lock, old(92))
  if (start === "rubbish") files.set(lock, old("rubbish"))

  const takers: ReadonlyArray<Taker> = pids.map((pid) => ({
    pid,
    pending: undefined,
    believes: false,
    done: false,
    since: 0
  }))
  const lives = (file: File) => file.taker !== undefined && !dead.has(takers[file.taker]?.pid ?? 0)

  const stepsOf = (taker: Taker, index: number): Steps & { readonly work: Effect.Effect<void> } => {
    /** One operation, when the schedule says so. */
    const step = <A>(operation: () => A): Effect.Effect<A> =>
      Effect.async((resume) => {
        taker.pending = () => {
          taker.pending = undefined
          resume(Effect.succeed(operation()))
        }
        return Effect.sync(() => {
          taker.pending = undefined
        })
      })
    const remove = (name: string) => {
      const file = files.get(name)
      if (file === undefined) return
      if (name === takeover && file.taker !== index) fail(`taker ${index} broke the take-over of another`)
      if (file.taker !== index && lives(file)) fail(`taker ${index} broke the lock of taker ${file.taker}, which lives`)
      if (file.pid === 92 || file.pid === "rubbish") fail(`taker ${index} broke a lock of which nothing is known`)
      if (name === lock && file.taker !== index && files.get(takeover)?.taker !== index) {
        fail(`taker ${index} broke a lock without holding the take-over`)
      }
      if (name === lock && file.taker !== index) tally.takenOver += 1
      files.delete(name)
    }
    return {
      create: (name) => {
        const file: File = { mark: String(++numbers), pid: taker.pid, taker: index }
        const temporary = `${name}.${file.mark}.tmp`
        return step(() => files.set(temporary, file)).pipe(
          Effect.zipRight(step(() => {
            if (files.has(name)) return undefined
            files.set(name, file)
            return file.mark
          })),
          Effect.zipLeft(step(() => files.delete(temporary)))
        )
      },
      read: (name) =>
        step((): Found => {
          const file = files.get(name)
          if (file === undefined) return { _tag: "Absent" }
          return file.pid === "rubbish" ? { _tag: "Foreign" } : { _tag: "Owned", owner: { pid: file.pid } }
        }),
      isOurs: (name, mark) => step(() => files.get(name)?.mark === mark),
      remove: (name) => step(() => remove(name)),
      look: ({ pid }) => step(() => pid === 92 ? "unknown" : dead.has(pid) ? "gone" : "alive"),
      work: step(() => undefined)
    }
  }

  const fibers = takers.map((taker, index) => {
    const steps = stepsOf(taker, index)
    const begin = Effect.sync(() => {
      taker.since = machine.now()
    })
    const use = Effect.sync(() => {
      taker.believes = true
      tally.taken += 1
    }).pipe(
      Effect.zipRight(steps.work),
      Effect.zipRight(steps.work),
      Effect.ensuring(Effect.sync(() => {
        taker.believes = false
      }))
    )
    const inUse = holding(steps, lock, "The team file", use)
    const inScope = Effect.scoped(Effect.zipRight(take(steps, lock, "The team file"), use))
    const fiber = machine.fork(begin.pipe(Effect.zipRight(inUse), Effect.zipRight(begin), Effect.zipRight(inScope)))
    fiber.addObserver((exit) => {
      taker.done = true
      if (Exit.isSuccess(exit) || Cause.isInterruptedOnly(exit.cause)) return
      const failure = Cause.failureOption(exit.cause)
      if (failure._tag === "None" || failure.value._tag !== "LockNotTaken") return fail(Cause.pretty(exit.cause))
      const { reason } = failure.value
      tally.refused[reason] += 1
      if (reason !== "unreadable" && machine.now() - taker.since < 2000) fail(`taker ${index} gave up early: ${reason}`)
    })
    return fiber
  })

  const check = () => {
    const owners = takers.filter((taker) => taker.believes && !dead.has(taker.pid)).length
    if (owners > 1) fail(`${owners} living owners`)
    if (violation !== undefined) throw violation
  }
  const advance = (taker: Taker) => {
    if (dead.has(taker.pid)) return
    taker.pending?.()
    machine.settle()
    check()
  }
  const kill = (pid: number) => {
    if (takers.some((taker, index) => taker.pid === pid && files.get(takeover)?.taker === index)) {
      tally.killedInTakeover += 1
    }
    dead.add(pid)
  }

  const mend = () => {
    const file = files.get(takeover)
    if (file !== undefined && typeof file.pid === "number" && dead.has(file.pid)) files.delete(takeover)
    const pid = files.get(lock)?.pid
    if (pid === 92 || pid === "rubbish") files.delete(lock)
  }

  for (const event of schedule) {
    if (event._tag === "mend") {
      mend()
      continue
    }
    if (event._tag === "wait") {
      machine.advance(event.ms)
      check()
      continue
    }
    const taker = takers[event.taker]
    if (taker === undefined) continue
    if (event._tag === "step") advance(taker)
    else if (event._tag === "kill") kill(taker.pid)
    else if (!taker.done && !dead.has(taker.pid)) {
      if (taker.pending === undefined) tally.interruptedWaiting += 1
      fibers[event.taker]?.unsafeInterruptAsFork(FiberId.none)
      machine.settle()
      check()
    }
  }

  const living = takers.filter((taker) => !dead.has(taker.pid))
  for (let turn = 0; living.some(({ done }) => !done); turn += 1) {
    if (turn > 2000) fail("somebody never finishes")
    for (const taker of living) advance(taker)
    if (living.every(({ pending }) => pending === undefined)) machine.advance(700)
  }
  for (const [name, file] of files) if (lives(file)) fail(`${name} was left by taker ${file.taker}, which lives`)
  check()

  // The fibers of killed processes would stay in memory: they end in an empty folder.
  files.clear()
  for (const [index, fiber] of fibers.entries()) {
    fiber.unsafeInterruptAsFork(FiberId.none)
    machine.settle()
    for (let pending = takers[index]?.pending; pending !== undefined; pending = takers[index]?.pending) {
      pending()
      machine.settle()
    }
  }
  return tally
}
