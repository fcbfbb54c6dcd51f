import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { LockNotTaken, type StateUnusable } from "../../domain/ConfigErrors.ts"
import type { IdentifiedProcess, Liveness } from "../../domain/IdentifiedProcess.ts"
import { bracket, type Restore } from "../Bracket.ts"

/** What is under a lock's name: nothing, the identity in it, or something that is not a lock of ours. */
export type Found =
  | { readonly _tag: "Absent" }
  | { readonly _tag: "Owned"; readonly owner: IdentifiedProcess }
  | { readonly _tag: "Foreign" }

/** What the routine does to files. Between any two steps other processes may do anything. */
export interface Steps {
  /**
   * Makes `name` stand for a new file with our identity in it, complete from the start, and answers a mark that no
   * other file of that name has; none, and nothing done, when the name is in use. Leaves no temporary.
   */
  readonly create: (name: string) => Effect.Effect<string | undefined, StateUnusable>
  readonly read: (name: string) => Effect.Effect<Found, StateUnusable>
  /** Whether the name still stands for the file of that mark. */
  readonly isOurs: (name: string, mark: string) => Effect.Effect<boolean, StateUnusable>
  /** Removes the name; one that is gone already is no failure. */
  readonly remove: (name: string) => Effect.Effect<void, StateUnusable>
  readonly look: (owner: IdentifiedProcess) => Effect.Effect<Liveness>
}

const patience = 2_000_000_000n

/** A name that stands for somebody else's file by now (a person removed ours) is left alone. */
const release = (steps: Steps, name: string, mark: string): Effect.Effect<void> =>
  steps.isOurs(name, mark).pipe(
    Effect.flatMap((ours) => ours ? steps.remove(name) : Effect.void),
    Effect.catchAll((failed) => Effect.logWarning(`A lock could not be released: ${failed.message}`))
  )

/** The mark of a lock that was gained; or it may be had at once; or who is in the way. */
type Tried = string | undefined | LockNotTaken

const takeoverOf = (name: string): string => `${name}.takeover`

/** Who is replacing the lock of a process proven gone, if anybody is. */
const replacing = Effect.fnUntraced(function*(steps: Steps, name: string, what: string) {
  const file = takeoverOf(name)
  const left = yield* steps.read(file)
  if (left._tag === "Absent") return undefined
  const pid = left._tag === "Owned" ? left.owner.pid : undefined
  return new LockNotTaken({ reason: "takeover_left", file, pid, what })
})

/** Replaces the lock of a process proven gone, proving it again where only one process can be at a time. */
const takeOver = Effect.fnUntraced(function*(steps: Steps, name: string, what: string) {
  const takeover = takeoverOf(name)
  const replace: Effect.Effect<Tried, StateUnusable> = Effect.gen(function*() {
    const found = yield* steps.read(name)
    if (found._tag !== "Owned" || (yield* steps.look(found.owner)) !== "gone") return undefined
    yield* steps.remove(name)
    return yield* steps.create(name)
  })
  const mark = yield* steps.create(takeover)
  if (mark !== undefined) return yield* Effect.ensuring(replace, release(steps, takeover, mark))

  return yield* replacing(steps, name, what)
})

/** Who has the lock, if not a process proven gone. */
const ownerInTheWay = Effect.fnUntraced(function*(
  steps: Steps,
  name: string,
  what: string,
  owner: IdentifiedProcess
) {
  const liveness = yield* steps.look(owner)
  const reason = liveness === "alive" ? "held" : "unknown_owner"
  return liveness === "gone" ? undefined : new LockNotTaken({ reason, file: name, pid: owner.pid, what })
})

// It was complete before it got this name: waiting makes no lock of ours of it.
const foreign = (name: string, what: string) =>
  new LockNotTaken({ reason: "unreadable", file: name, pid: undefined, what })

const tryAgain = Effect.fnUntraced(function*(steps: Steps, name: string, what: string) {
  const found = yield* steps.read(name)
  if (found._tag === "Absent") return yield* steps.create(name)
  if (found._tag === "Foreign") return yield* foreign(name, what)
  return (yield* ownerInTheWay(steps, name, what, found.owner)) ?? (yield* takeOver(steps, name, what))
})

/** `pause` is the only place where an interruption gets in: nothing is held there. */
const contend = Effect.fnUntraced(function*(steps: Steps, name: string, what: string, pause: Effect.Effect<void>) {
  const deadline = (yield* Clock.currentTimeNanos) + patience
  while (true) {
    const tried: Tried = yield* tryAgain(steps, name, what)
    if (typeof tried === "string") return tried
    if (tried === undefined) continue
    if ((yield* Clock.currentTimeNanos) >= deadline) return yield* tried
    yield* pause
  }
})

/**
 * Gains the lock, uninterruptibly but for its pauses, and answers its mark.
 *
 * Why there are never two owners. A lock is gained by one step only, `create`, which replaces nothing: while the name
 * exists nobody gains it. It is removed by two: by its living owner, and by whoever holds `<name>.takeover`. The latter
 * is gained in the same way and never broken, so one process holds it, however long it sleeps between two steps, and
 * what it reads under it is the lock of a process proven gone. That process does nothing any more, and nobody else may
 * remove the name: it still stands for the same file when it is removed. What was read *before* the take-over was
 * gained proves nothing, since another process may have replaced the lock meanwhile: hence the second proof. Then the
 * name is free for everyone, and `create` decides again. A rename over the name would need the same proof, and if ever
 * it were wrong would put ours over a living owner's; this way everyone who gains the lock found the name free.
 */
const gain = (steps: Steps, name: string, what: string) => (restore: Restore) =>
  Effect.flatMap(
    steps.create(name),
    (mark) => mark === undefined ? contend(steps, name, what, restore(Effect.sleep("10 millis"))) : Effect.succeed(mark)
  )

/**
 * Runs `use` under the lock `name` (spec 1.4). `what` is the subject of the error's sentence. Waits up to 2 s,
 * interruptibly, for an owner that is not proven gone; fails with what was in the way at the end. An interruption or
 * failure leaves no file of ours behind.
 */
export const holding = <A, E, R>(
  steps: Steps,
  name: string,
  what: string,
  use: Effect.Effect<A, E, R>
): Effect.Effect<A, E | LockNotTaken | StateUnusable, R> =>
  bracket(gain(steps, name, what), () => use, (mark) => release(steps, name, mark))

/** Takes the lock as {@link holding} does, for as long as the scope is open. */
export const take = (
  steps: Steps,
  name: string,
  what: string
): Effect.Effect<void, LockNotTaken | StateUnusable, Scope.Scope> =>
  Effect.uninterruptibleMask((restore) =>
    Effect.flatMap(
      gain(steps, name, what)(restore),
      (mark) => Effect.addFinalizer(() => Effect.uninterruptible(release(steps, name, mark)))
    )
  )

/** Passes when {@link take} would gain the lock at once: nobody has it, or its owner is proven gone. Changes nothing. */
export const lookFree = Effect.fnUntraced(function*(steps: Steps, name: string, what: string) {
  const found = yield* steps.read(name)
  if (found._tag === "Absent") return
  if (found._tag === "Foreign") return yield* foreign(name, what)
  const inTheWay = (yield* ownerInTheWay(steps, name, what, found.owner)) ?? (yield* replacing(steps, name, what))
  if (inTheWay !== undefined) return yield* inTheWay
})
