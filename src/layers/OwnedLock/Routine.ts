import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { LockNotTaken, type StateUnusable } from "../../domain/ConfigErrors.ts"
import type { IdentifiedProcess, Liveness } from "../../domain/IdentifiedProcess.ts"

/** A file of ours that holds our process identity: its name, and what it is recognised by under another name. */
export interface Temporary {
  readonly file: string
  readonly mark: string
}

/** What is under a lock's name: nothing, the identity in it, or something that is not a lock of ours. */
export type Found =
  | { readonly _tag: "Absent" }
  | { readonly _tag: "Owned"; readonly owner: IdentifiedProcess }
  | { readonly _tag: "Foreign" }

/** What the routine does to files, one system call each; between any two of them other processes may do anything. */
export interface Steps {
  /** A new file beside `name` with our identity in it, complete. */
  readonly write: (name: string) => Effect.Effect<Temporary, StateUnusable>
  /** Gives our file that name as well; false, and nothing done, when the name is in use. */
  readonly link: (ours: Temporary, name: string) => Effect.Effect<boolean, StateUnusable>
  readonly read: (name: string) => Effect.Effect<Found, StateUnusable>
  /** Whether the name still stands for our file. */
  readonly isOurs: (ours: Temporary, name: string) => Effect.Effect<boolean, StateUnusable>
  /** Removes the name; one that is gone already is no failure. */
  readonly remove: (name: string) => Effect.Effect<void, StateUnusable>
  readonly look: (owner: IdentifiedProcess) => Effect.Effect<Liveness>
}

const patience = 2_000_000_000n

const quietly = (effect: Effect.Effect<void, StateUnusable>): Effect.Effect<void> =>
  Effect.catchAll(effect, (failed) => Effect.logWarning(`A lock could not be released: ${failed.message}`))

/** A name that was given to somebody else meanwhile (a person removed ours) is left alone. */
const release = (steps: Steps, ours: Temporary, name: string): Effect.Effect<void> =>
  quietly(Effect.flatMap(steps.isOurs(ours, name), (still) => still ? steps.remove(name) : Effect.void))

/** Why a try did not gain the lock: it may be had at once, or somebody is in the way. */
type Tried = "taken" | "again" | LockNotTaken

/** Replaces the lock of a process proven gone, proving it again where only one process can be at a time. */
const takeOver = Effect.fnUntraced(function*(steps: Steps, ours: Temporary, name: string, what: string) {
  const takeover = `${name}.takeover`
  const replace: Effect.Effect<Tried, StateUnusable> = Effect.gen(function*() {
    const found = yield* steps.read(name)
    if (found._tag !== "Owned" || (yield* steps.look(found.owner)) !== "gone") return "again"
    yield* steps.remove(name)
    return (yield* steps.link(ours, name)) ? "taken" : "again"
  })
  if (yield* steps.link(ours, takeover)) return yield* Effect.ensuring(replace, release(steps, ours, takeover))

  const left = yield* steps.read(takeover)
  if (left._tag === "Absent") return "again"
  const pid = left._tag === "Owned" ? left.owner.pid : undefined
  return new LockNotTaken({ reason: "takeover_left", file: takeover, pid, what })
})

const tryOnce = Effect.fnUntraced(function*(steps: Steps, ours: Temporary, name: string, what: string) {
  if (yield* steps.link(ours, name)) return "taken"
  const found = yield* steps.read(name)
  if (found._tag === "Absent") return "again"
  // Complete before it got this name: it will not become a lock of ours by waiting.
  if (found._tag === "Foreign") {
    return yield* new LockNotTaken({ reason: "unreadable", file: name, pid: undefined, what })
  }
  const liveness = yield* steps.look(found.owner)
  if (liveness === "gone") return yield* takeOver(steps, ours, name, what)
  const reason = liveness === "alive" ? "held" : "unknown_owner"
  return new LockNotTaken({ reason, file: name, pid: found.owner.pid, what })
})

const acquire = Effect.fnUntraced(
  function*(steps: Steps, ours: Temporary, name: string, what: string, pause: Effect.Effect<void>) {
    const deadline = (yield* Clock.currentTimeNanos) + patience
    let tried: Tried = "again"
    while ((tried = yield* tryOnce(steps, ours, name, what)) !== "taken") {
      if (tried === "again") continue
      if ((yield* Clock.currentTimeNanos) >= deadline) return yield* tried
      yield* pause
    }
  }
)

/**
 * Takes the lock `name` for as long as the scope is open (spec 1.4). `what` is the subject of the error's sentence.
 * Waits up to 2 s, interruptibly, for an owner that is not proven gone; fails with what was in the way at the end.
 * An interruption or failure leaves no file of ours behind.
 *
 * Why there are never two owners. A lock is gained by one step only: a hard link, which replaces nothing, so while the
 * name exists nobody gains it. It is removed by two: by its living owner, and by whoever holds `<name>.takeover`. The
 * latter is gained by a link too and never broken, so one process holds it however long it sleeps; what it reads under
 * it is the lock of a process proven gone. That process does nothing any more, and nobody else may remove the name: it
 * still means the same file when it is removed. What was read *before* the take-over was gained proves nothing, since
 * another process may have replaced the lock meanwhile: hence the second proof. Then the name is free for everyone,
 * and the link decides again; a rename would do without that gap, but would put ours over whatever is there.
 */
export const take = (
  steps: Steps,
  name: string,
  what: string
): Effect.Effect<void, LockNotTaken | StateUnusable, Scope.Scope> =>
  Effect.uninterruptibleMask((restore) =>
    Effect.flatMap(
      steps.write(name),
      (ours) =>
        acquire(steps, ours, name, what, restore(Effect.sleep("10 millis"))).pipe(
          Effect.ensuring(quietly(steps.remove(ours.file))),
          Effect.zipRight(Effect.addFinalizer(() => release(steps, ours, name)))
        )
    )
  )
