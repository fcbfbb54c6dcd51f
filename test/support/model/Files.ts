import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Schedule from "effect/Schedule"
import * as Scope from "effect/Scope"
import { ConfigNotWritten, LockNotTaken, StateUnusable } from "../../../src/domain/ConfigErrors.ts"
import { configureAgent } from "../../../src/domain/Configure.ts"
import { emptyLedger, type Ledger } from "../../../src/domain/Ledger.ts"
import type { SessionId } from "../../../src/domain/Primitives.ts"
import type { SessionReplaced } from "../../../src/domain/SessionErrors.ts"
import {
  coordinatorOf,
  decodeConfig,
  encodeConfig,
  ensureChange,
  type TeamConfig
} from "../../../src/domain/TeamConfig.ts"
import { ConfigReader } from "../../../src/services/ConfigReader.ts"
import { ConfigStore } from "../../../src/services/ConfigStore.ts"
import { OwnedLock } from "../../../src/services/OwnedLock.ts"
import { ProcessLedger } from "../../../src/services/ProcessLedger.ts"
import type { Observer } from "./Observer.ts"
import { type Body, root, type World } from "./World.ts"

const file = `${root}/.pi-intercom/config.json`
const refuse = (reason: ConfigNotWritten["reason"], detail: string) => new ConfigNotWritten({ reason, file, detail })

/** The team file, the ledger and the locks of a machine. They survive every process; what a killed one held is free. */
export interface Files {
  readonly config: () => TeamConfig
  readonly ledger: () => Ledger
  /** Whether this process has the lock of its session. */
  readonly holds: (body: Body) => boolean
  readonly of: (
    body: Body
  ) => Context.Context<ConfigReader | ConfigStore | ProcessLedger | OwnedLock>
}

/** Files in which the team file says `first`. */
export const makeFiles = (world: World, observer: Observer, first: TeamConfig): Files => {
  let text = encodeConfig(first)
  let config = first
  let ledger = emptyLedger
  const locks = new Map<string, Body>()

  /** Waits as long as the product's locks do. */
  const take = (body: Body, name: string, what: string) =>
    Effect.acquireRelease(
      Effect.suspend(() => {
        const owner = locks.get(name)
        if (owner !== undefined && owner.os.alive) {
          return new LockNotTaken({ reason: "held", file: name, pid: owner.os.pid, what })
        }
        locks.set(name, body)
        return Effect.void
      }).pipe(Effect.retry({ schedule: Schedule.spaced("50 millis"), times: 40 })),
      () =>
        Effect.sync(() => {
          if (locks.get(name) === body) locks.delete(name)
        })
    )

  /** One replacement of a file, with what may befall it; `put` is the rename. */
  const replace = <E>(
    body: Body,
    of: "write" | "ledger",
    fence: Effect.Effect<void, SessionReplaced>,
    put: Effect.Effect<void>,
    failed: (detail: string) => E
  ): Effect.Effect<void, E | SessionReplaced> =>
    Effect.gen(function*() {
      const { fault, ms } = world.writeFault(of) ?? { fault: undefined, ms: 0 }
      const crash = Effect.async<void>(() => {
        world.machine.after(0, () => world.perform({ _tag: "crash", who: body.who, backMs: ms }))
      })
      yield* Effect.sleep(world.jitter(3))
      if (fault === "Hang") yield* Effect.sleep(ms)
      if (fault === "FailBefore") return yield* Effect.fail(failed("no space left"))
      if (of === "write") yield* world.moment("write rename")
      if (fault === "CrashBefore") yield* crash
      yield* Effect.uninterruptible(Effect.gen(function*() {
        yield* fence
        yield* put
        if (fault === "CrashAfter") yield* crash
        yield* Effect.sleep(world.jitter(3))
        // A team file's rename that failed and came through has happened, for the store too.
        if (fault !== "FailAfter" || of === "write") return
        return yield* Effect.fail(failed("the folder could not be synced"))
      }))
    })

  const of: Files["of"] = (body) => {
    const turn = Effect.unsafeMakeSemaphore(1)
    const read = Effect.sync(() => Option.some(config))

    const run = <A, E>(
      caller: SessionId,
      fence: Effect.Effect<void, SessionReplaced>,
      change: (config: TeamConfig) => Either.Either<readonly [TeamConfig, A], E>
    ) =>
      Effect.gen(function*() {
        yield* fence
        yield* world.moment("write begin")
        yield* take(body, "config.lock", "The team file")
        yield* fence
        const before = config
        if (coordinatorOf(before).sessionId !== caller) {
          return yield* refuse("not_coordinator", "another session coordinates this team")
        }
        const [wanted, answer] = yield* change(before)
        if (wanted === before) return [before, answer] as const
        const next = yield* Either.mapLeft(ensureChange(before, wanted), ({ problem }) => refuse("invalid", problem))
        const tried = observer.trying(body, before, next)
        yield* replace(
          body,
          "write",
          fence,
          Effect.sync(() => {
            text = encodeConfig(next)
            config = Either.getOrElse(decodeConfig(text), ({ path, problem }) => {
              world.fail(`the team file on disk is not valid: ${path} ${problem}`)
              return next
            })
            observer.wrote(body, before, next, text)
          }),
          (detail) => refuse("write_failed", detail)
        ).pipe(Effect.ensuring(Effect.sync(tried)))
        yield* world.moment("write back")
        return [next, answer] as const
      }).pipe(Effect.scoped, turn.withPermits(1), observer.updating(body))

    const store = ConfigStore.of({
      publish: () => Effect.succeed({ _tag: "Lost", config }),
      update: (_, caller, fence, change) =>
        Effect.map(
          run(caller, fence, (now) => Either.map(change(now), (next) => [next, undefined] as const)),
          ([written]) => written
        ),
      configure: (_, caller, fence, values, allow) =>
        Effect.map(
          run(caller, fence, (now) =>
            Either.map(
              configureAgent(now, values, allow),
              ({ agent, config: next, first }) => [next, { agent, first }] as const
            )),
          ([, configured]) => configured
        ),
      ensureGitignore: () => Effect.void,
      sweep: () => Effect.void
    })

    const ledgerTurn = Effect.unsafeMakeSemaphore(1)
    const unusable = (detail: string) => new StateUnusable({ path: "/state", detail, mend: "Look at it." })
    const processLedger = ProcessLedger.of({
      read: () => Effect.sync(() => ledger),
      change: (_, change) =>
        Effect.gen(function*() {
          yield* world.moment("ledger begin")
          const before = ledger
          const next = change(before)
          if (next === before) return before
          yield* replace(
            body,
            "ledger",
            Effect.void,
            Effect.sync(() => {
              ledger = next
              observer.recorded(body, next)
            }),
            unusable
          ).pipe(Effect.catchTag("SessionReplaced", Effect.die))
          yield* world.moment("ledger back")
          return next
        }).pipe(ledgerTurn.withPermits(1))
    })

    const during = (name: string, what: string): OwnedLock["Type"]["config"] => (_, use) =>
      Effect.acquireUseRelease(
        Scope.make(),
        (scope) => Effect.zipRight(Scope.extend(take(body, name, what), scope), use),
        Scope.close
      )
    const locked = (sessionId: string) => `session-${sessionId}.lock`
    return Context.empty().pipe(
      Context.add(ConfigReader, { discover: () => Effect.succeed(Option.some(root)), read: () => read }),
      Context.add(ConfigStore, store),
      Context.add(ProcessLedger, processLedger),
      Context.add(OwnedLock, {
        config: during("config.lock", "The team file"),
        monitor: during("monitor.lock", "The monitor pane"),
        session: (_, sessionId) => take(body, locked(sessionId), "This saved session"),
        sessionFree: (_: string, sessionId: SessionId) =>
          Effect.suspend((): Effect.Effect<void, LockNotTaken> => {
            const owner = locks.get(locked(sessionId))
            return owner?.os.alive === true
              ? new LockNotTaken({ reason: "held", file: sessionId, pid: owner.os.pid, what: "This session" })
              : Effect.void
          })
      })
    )
  }

  return {
    config: () => config,
    ledger: () => ledger,
    holds: (body) => locks.get(`session-${body.sessionId}.lock`)?.os === body.os,
    of
  }
}
