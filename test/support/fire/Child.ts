import * as Clock from "effect/Clock"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Match from "effect/Match"
import * as Schema from "effect/Schema"
import * as Scope from "effect/Scope"
import * as fs from "node:fs"
import { Port, SessionId } from "../../../src/domain/Primitives.ts"
import { firstConfig } from "../../../src/domain/TeamConfig.ts"
import { ConfigStore } from "../../../src/services/ConfigStore.ts"
import { OwnedLock } from "../../../src/services/OwnedLock.ts"
import { holdConfig } from "../LockHeld.ts"
import * as Editor from "./Editor.ts"
import { type Files, layer } from "./Files.ts"
import * as KillSwitch from "./KillSwitch.ts"
import { Asked, Failed, type Order } from "./Orders.ts"
import { startSession } from "./Session.ts"

/**
 * A real process with the real layers, over many rounds: does what its parent orders over the IPC channel, and ends
 * with it. Bundled by Fleet.ts.
 */

interface Round {
  readonly root: string
  readonly scope: Scope.CloseableScope
  readonly files: Context.Context<Files>
  session?: Effect.Effect.Success<ReturnType<typeof startSession>>
  stopEditing?: Effect.Effect<{ readonly edits: number; readonly lost: number }>
  taken: Scope.CloseableScope
}

let current: Round | undefined

const round = Effect.suspend(() =>
  current === undefined ? Effect.dieMessage("no round is open") : Effect.succeed(current)
)
const session = Effect.flatMap(
  round,
  ({ session: started }) => started === undefined ? Effect.dieMessage("no session is started") : Effect.succeed(started)
)

const close = Effect.suspend(() => {
  const closing = current
  current = undefined
  return closing === undefined
    ? Effect.void
    : Effect.zipRight(Scope.close(closing.taken, Exit.void), Scope.close(closing.scope, Exit.void))
})

const open = Effect.fnUntraced(function*(root: string, state: string) {
  yield* close
  const scope = yield* Scope.make()
  const files = yield* Layer.buildWithScope(layer, scope).pipe(
    Effect.withConfigProvider(ConfigProvider.fromMap(new Map([["PI_INTERCOM_STATE_DIR", state]])))
  )
  current = { root, scope, files, taken: yield* Scope.make() }
})

const take = Effect.fnUntraced(function*(sessionId: SessionId | undefined) {
  const { files, root, taken } = yield* round
  const locks = Context.get(files, OwnedLock)
  const began = yield* Clock.currentTimeMillis
  yield* Scope.extend(sessionId === undefined ? holdConfig(locks, root) : locks.session(root, sessionId), taken)
  return { waitedMs: (yield* Clock.currentTimeMillis) - began }
})

const release = Effect.flatMap(round, (now) =>
  Effect.flatMap(Scope.make(), (fresh) => {
    const { taken } = now
    now.taken = fresh
    return Scope.close(taken, Exit.void)
  }))

const own = Effect.fnUntraced(function*(journal: string) {
  const { files, root } = yield* round
  const say = (what: string) => Effect.sync(() => fs.appendFileSync(journal, `${what} ${process.pid}\n`))
  const turns = Effect.gen(function*() {
    yield* say("begin")
    // Long enough for another taker to make its mistake: a few turns of the event loop with a slow write each.
    for (let turn = 0; turn < 5; turn += 1) {
      yield* Effect.sleep(0)
      yield* say("still")
    }
    yield* say("end")
  })
  yield* Context.get(files, OwnedLock).config(root, turns)
})

const note = (journal: string | undefined, line: string): void => {
  if (journal !== undefined) fs.appendFileSync(journal, `${line}\n`)
}

/** As whoever calls a tool would: a conflict and a lock that is in use are tried again. */
const configure = Effect.fnUntraced(function*(
  caller: SessionId,
  workers: ReadonlyArray<string>,
  journal: string | undefined
) {
  const { files, root } = yield* round
  const store = Context.get(files, ConfigStore)
  const counted = { conflicts: 0, held: 0, slowestMs: 0 }
  for (const [index, sessionId] of workers.entries()) {
    const values = {
      sessionId,
      name: `Worker ${sessionId}`,
      description: "Writes the tests.",
      port: 42_000 + index,
      projectDirectory: "."
    }
    const once = store.configure(root, caller, Effect.void, values, () => {
      note(journal, `change ${sessionId}`)
      return Either.right(undefined)
    })
    const began = yield* Clock.currentTimeMillis
    yield* once.pipe(
      Effect.tapErrorTag(
        "LockNotTaken",
        ({ reason }) => Effect.sync(() => void (counted.held += reason === "held" ? 1 : 0))
      ),
      Effect.tapErrorTag(
        "ConfigNotWritten",
        ({ reason }) => Effect.sync(() => void (counted.conflicts += reason === "conflict" ? 1 : 0))
      ),
      Effect.retry({ while: (error) => "reason" in error && (error.reason === "conflict" || error.reason === "held") })
    )
    note(journal, `done ${sessionId}`)
    counted.slowestMs = Math.max(counted.slowestMs, (yield* Clock.currentTimeMillis) - began)
  }
  return counted
})

const look = Effect.gen(function*() {
  const { enter, host } = yield* session
  const { standing } = yield* enter
  return {
    role: standing.role,
    coordinator: standing.role === "solo" ? undefined : standing.coordinator.sessionId,
    texts: host.texts,
    notices: host.notices
  }
})

const text = Schema.decodeUnknownOption(Schema.String)
const number = Schema.decodeUnknownOption(Schema.Number)

/** Any typed error of the product, as it crosses the channel. */
const failed = (error: { readonly _tag: string; readonly message: string }): Failed => {
  const of = (key: string): unknown => Reflect.get(error, key)
  const reason = text(of("reason"))
  const file = text(of("file"))
  const pid = number(of("pid"))
  return new Failed({
    error: error._tag,
    reason: reason._tag === "Some" ? reason.value : undefined,
    file: file._tag === "Some" ? file.value : undefined,
    pid: pid._tag === "Some" ? pid.value : undefined,
    sentence: error.message
  })
}

const obey = (order: Order): Effect.Effect<unknown> => {
  const answer = <A, I, E, EI>(
    to: Schema.WithResult<A, I, E, EI, never>,
    effect: Effect.Effect<A, E>
  ): Effect.Effect<unknown> =>
    Effect.exit(effect).pipe(Effect.flatMap((exit) => Effect.orDie(Schema.serializeExit(to, exit))))
  const inRound = <A, E extends { readonly _tag: string; readonly message: string }>(
    use: (now: Round) => Effect.Effect<A, E>
  ) => Effect.mapError(Effect.flatMap(round, use), failed)
  return Match.valueTags(order, {
    Open: (one) => answer(one, open(one.root, one.state)),
    Close: (one) => answer(one, close),
    Start: (one) =>
      answer(
        one,
        inRound((now) =>
          startSession(one.id, now.root, now.files).pipe(
            Scope.extend(now.scope),
            Effect.map((started) => {
              now.session = started
              return started.role
            })
          )
        )
      ),
    Command: (one) => answer(one, Effect.mapError(Effect.flatMap(session, (on) => on.command(one.args)), failed)),
    PublishTeam: (one) => answer(one, Effect.mapError(Effect.flatMap(session, (on) => on.publish), failed)),
    Look: (one) => answer(one, Effect.mapError(look, failed)),
    Publish: (one) =>
      answer(
        one,
        inRound(({ files, root }) =>
          Context.get(files, ConfigStore).publish(root, firstConfig(one.id, Port.make(41_000), "herdr"), Effect.void)
        ).pipe(Effect.map(({ _tag }) => _tag))
      ),
    Update: (one) =>
      answer(
        one,
        inRound(({ files, root }) =>
          Context.get(files, ConfigStore).update(root, one.caller, Effect.void, (config) =>
            Either.right({ ...config, [one.key]: one.value }))
        ).pipe(Effect.asVoid)
      ),
    Configure: (one) => answer(one, Effect.mapError(configure(one.caller, one.workers, one.journal), failed)),
    Take: (one) => answer(one, Effect.mapError(take(one.session), failed)),
    Release: (one) => answer(one, release),
    Own: (one) => answer(one, Effect.mapError(own(one.journal), failed)),
    Edit: (one) =>
      answer(
        one,
        Effect.flatMap(round, (now) =>
          Effect.map(Editor.start(now.root, one.journal, one.everyMs), (stop) => void (now.stopEditing = stop)))
      ),
    StopEditing: (one) =>
      answer(one, Effect.flatMap(round, ({ stopEditing }) => stopEditing ?? Effect.dieMessage("nobody edits"))),
    Arm: (one) => answer(one, Effect.sync(() => KillSwitch.arm(one.call, one.phase))),
    Disarm: (one) => answer(one, Effect.sync(KillSwitch.disarm))
  })
}

KillSwitch.install()
const asked = Schema.decodeUnknownSync(Asked)
process.on("message", (message) => {
  const { number: at, order } = asked(message)
  void Effect.runPromise(obey(order)).then((exit) => process.send?.({ number: at, exit }))
})
process.once("disconnect", () => process.exit())
