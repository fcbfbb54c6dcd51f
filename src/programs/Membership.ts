import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as ExecutionStrategy from "effect/ExecutionStrategy"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Ref from "effect/Ref"
import * as Scope from "effect/Scope"
import { type CloseJob, isPending } from "../domain/CloseTable.ts"
import type { ConfigUnusable, LockNotTaken, StateUnusable } from "../domain/ConfigErrors.ts"
import type { Port, SessionId } from "../domain/Primitives.ts"
import type { Identity } from "../domain/Prompt.ts"
import { type Role, roleOf } from "../domain/Role.ts"
import { type SessionReplaced, TeamGone } from "../domain/SessionErrors.ts"
import { type Agent, coordinatorOf, type TeamConfig } from "../domain/TeamConfig.ts"
import { activeTools } from "../domain/ToolCatalogue.ts"
import { ConfigReader } from "../services/ConfigReader.ts"
import { HostSession } from "../services/HostSession.ts"
import { HostTools } from "../services/HostTools.ts"
import { Multiplexers } from "../services/Multiplexers.ts"
import { OwnedLock } from "../services/OwnedLock.ts"
import { SessionScope } from "../services/SessionScope.ts"

/** No team file yet: coordinator of its own directory, in memory (spec 1.2). */
export interface Solo {
  readonly role: "solo"
  readonly root: string
}

/** In a team: what this session is by the file as it is now. */
export interface Member {
  readonly role: Exclude<Role, "solo">
  readonly root: string
  readonly config: TeamConfig
  /** This session's entry; absent for an anonymous one. */
  readonly self: Agent | undefined
  readonly coordinator: Agent
}

export type Standing = Solo | Member

/** What an entry from outside can find instead of a standing. */
export type EntryError = SessionReplaced | TeamGone | ConfigUnusable | LockNotTaken | StateUnusable

/** Where this session stands in its team; every entry from outside begins here. */
export class Membership extends Context.Tag("pi-intercom/Membership")<Membership, {
  readonly sessionId: SessionId
  /**
   * Passes the fence, reads the config afresh and decides the role; gives the host the role's tools when it changed. A
   * file that was found is acted on only under this session's lock, and as it is then (spec 3.2). `joined` is true once:
   * when a session that had no team finds a file.
   */
  readonly enter: Effect.Effect<{ readonly standing: Standing; readonly joined: boolean }, EntryError>
  /**
   * Takes this session's lock in the team of `root`, a real path, unless it has it; it is kept until nothing of the
   * session runs any more. Fails while another process has it: then nothing may be written, sent or registered.
   */
  readonly lock: (root: string) => Effect.Effect<void, LockNotTaken | StateUnusable>
  /**
   * The root of the team that this session belongs to, or is about to publish: others may find the file, and ask, before
   * this session has gone on. None while it is alone. Needs no fence.
   */
  readonly team: Effect.Effect<Option.Option<string>>
  /** Belongs to the team of `root` from now on. */
  readonly join: (root: string) => Effect.Effect<void>
  /** The role that was last decided: what the session is taken for while its file cannot be read. */
  readonly lastRole: Effect.Effect<Option.Option<Role>>
  /** The coordinator asks for the handoff of that job: while it does, this session has the tool that reports it (spec 4). */
  readonly askForHandoff: (jobId: string) => Effect.Effect<void, EntryError>
  /** What this session has loaded: at its start, at publication or by a reload. */
  readonly loaded: Ref.Ref<Option.Option<Identity>>
  /** The port its listener is bound to. */
  readonly port: Ref.Ref<Option.Option<Port>>
}>() {
  static readonly layer = Layer.effect(
    Membership,
    Effect.gen(function*() {
      const reader = yield* ConfigReader
      const host = yield* HostSession
      const hostTools = yield* HostTools
      const locks = yield* OwnedLock
      const scope = yield* SessionScope
      const root = yield* Ref.make(Option.none<string>())
      const loaded = yield* Ref.make(Option.none<Identity>())
      const port = yield* Ref.make(Option.none<Port>())
      const shown = yield* Ref.make(Option.none<Role>())
      const equipped = yield* Ref.make<string | undefined>(undefined)
      const asked = yield* Ref.make(Option.none<string>())
      const canClose = Option.exists((yield* Multiplexers).own, (multiplexer) => multiplexer.canClose)
      const locked = yield* Ref.make<ReadonlyArray<string>>([])
      const locking = yield* Effect.makeSemaphore(1)

      const has = (team: string) => Effect.map(Ref.get(locked), (teams) => teams.includes(team))
      // In a scope of its own, until it is known to be ours: an interruption that arrives with the lock releases it.
      const take = (team: string) =>
        Effect.uninterruptibleMask((restore) =>
          Effect.flatMap(
            Scope.fork(scope.last, ExecutionStrategy.sequential),
            (own) =>
              restore(Scope.extend(locks.session(team, scope.sessionId), own)).pipe(
                Effect.onError((cause) => Scope.close(own, Exit.failCause(cause))),
                Effect.zipRight(Ref.update(locked, (teams) => [...teams, team]))
              )
          )
        )
      const lock = (team: string) =>
        Effect.unlessEffect(take(team), has(team)).pipe(locking.withPermits(1), Effect.asVoid)

      const equip = Effect.fnUntraced(function*(role: Role, job: CloseJob | undefined) {
        yield* Ref.set(shown, Option.some(role))
        const reports = job !== undefined && isPending(job.state) && Option.contains(yield* Ref.get(asked), job.jobId)
        const names = activeTools(role, { canClose, reports })
        const before = yield* Ref.getAndSet(equipped, names.join())
        if (before !== names.join()) yield* hostTools.activate(names)
      })

      const member = Effect.fn("Membership.member")(function*(team: string, config: TeamConfig) {
        const own = yield* Ref.get(loaded)
        const { role, self } = roleOf(config, scope.sessionId, Option.getOrUndefined(own))
        const standing: Member = {
          role,
          root: team,
          config,
          self,
          coordinator: coordinatorOf(config)
        }
        return standing
      })

      /** The lock may have been waited for, and its last owner have written: what was read before it does not count. */
      const readLocked = Effect.fn("Membership.readLocked")(function*(team: string) {
        if (!(yield* has(team))) {
          if (Option.isNone(yield* reader.read(team))) return Option.none<TeamConfig>()
          yield* lock(team)
          yield* scope.guard
        }
        return yield* reader.read(team)
      })

      const enter = Effect.gen(function*() {
        yield* scope.guard
        const known = yield* Ref.get(root)
        const found = Option.isSome(known) ? known : yield* reader.discover(host.directory)
        const team = Option.getOrElse(found, () => host.directory)
        const config = Option.isSome(found) ? yield* readLocked(team) : Option.none<TeamConfig>()
        if (Option.isNone(config) && Option.isSome(known)) {
          return yield* new TeamGone({ file: `${team}/.pi-intercom/config.json` })
        }
        const standing: Standing = Option.isSome(config)
          ? yield* member(team, config.value)
          : { role: "solo", root: team }
        // Of two entries that find the file at once one has joined.
        const joined = Option.isSome(config) && Option.isNone(yield* Ref.getAndSet(root, found))
        yield* equip(standing.role, standing.role === "solo" ? undefined : standing.self?.closeJob)
        return { standing, joined }
      }).pipe(Effect.withSpan("Membership.enter"))

      return {
        sessionId: scope.sessionId,
        enter,
        lock,
        team: Effect.zipWith(
          Ref.get(root),
          Ref.get(locked),
          (own, teams) => Option.orElse(own, () => Option.fromNullable(teams[0]))
        ),
        lastRole: Ref.get(shown),
        askForHandoff: (jobId) => Effect.asVoid(Effect.zipRight(Ref.set(asked, Option.some(jobId)), enter)),
        join: (team) => Ref.set(root, Option.some(team)),
        loaded,
        port
      }
    })
  )
}
