import * as Data from "effect/Data"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import { build } from "esbuild"
import { fork } from "node:child_process"
import * as fs from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll } from "vitest"
import { witnessed } from "../config-witness/Witnessed.ts"
import { Answered, Asked, type Order } from "./Orders.ts"

/** A child that ended while it owed an answer: killed, or a bug; `said` is what it wrote. */
export class ChildEnded extends Data.TaggedError("ChildEnded")<{
  readonly pid: number
  readonly signal: NodeJS.Signals | null
  readonly said: string
}> {
  override get message(): string {
    return `child ${this.pid} ended (${this.signal ?? "by itself"})\n${this.said}`
  }
}

/** One process of {@link file://./Child.ts}. */
export interface Child {
  readonly pid: number
  /** Gives an order and waits for its answer. */
  readonly ask: <A, I, E, EI>(
    order: Order & Schema.WithResult<A, I, E, EI, never>
  ) => Effect.Effect<A, E | ChildEnded>
  readonly signal: (signal: "SIGKILL" | "SIGSTOP" | "SIGCONT") => Effect.Effect<void>
  /** How it ended, once it has. */
  readonly ended: Effect.Effect<ChildEnded>
}

const contents = Effect.promise(() =>
  build({
    entryPoints: [join(import.meta.dirname, "Child.ts")],
    bundle: true,
    write: false,
    platform: "node",
    target: "node20",
    // The kill switch needs it: what a CommonJS bundle imports of node:fs can be changed.
    format: "cjs",
    logLevel: "warning"
  })
).pipe(Effect.map(({ outputFiles }) => outputFiles[0]?.contents ?? new Uint8Array()))

const built: { folder: string | undefined } = { folder: undefined }
// Not at the exit of this process: a worker of vitest does not exit by itself.
afterAll(() => {
  if (built.folder !== undefined) fs.rmSync(built.folder, { recursive: true, force: true })
})

/** The program, bundled once for all who share this process; with a compile cache, as it is started hundreds of times. */
const program = Effect.runSync(Effect.cached(Effect.map(contents, (bytes) => {
  const folder = fs.realpathSync(fs.mkdtempSync(join(tmpdir(), "pi-intercom-fire-")))
  const script = join(folder, "child.cjs")
  fs.writeFileSync(script, bytes)
  built.folder = folder
  return { script, cache: join(folder, "cache") }
})))

const encodeAsked = Schema.encodeSync(Asked)
const decodeAnswered = Schema.decodeUnknownSync(Answered)

/** Starts a child; it ends with the scope, however it is (a stopped one too). */
export const start: Effect.Effect<Child, never, Scope.Scope> = Effect.gen(function*() {
  const { cache, script } = yield* program
  const end = yield* Deferred.make<ChildEnded>()
  const pending = new Map<number, Deferred.Deferred<unknown, ChildEnded>>()
  let asked = 0
  let said = ""
  const child = yield* Effect.acquireRelease(
    Effect.sync(() => {
      const started = fork(script, [], {
        execArgv: [],
        stdio: ["ignore", "pipe", "pipe", "ipc"],
        env: { PATH: process.env["PATH"], HOME: process.env["HOME"], NODE_COMPILE_CACHE: cache, ...witnessed() }
      })
      const keep = (text: Buffer): void => void (said = `${said}${text.toString()}`.slice(-8000))
      started.stdout?.on("data", keep)
      started.stderr?.on("data", keep)
      // Not "exit": what it wrote last comes before this.
      started.once("close", (_code, signal) => {
        const ended = new ChildEnded({ pid: started.pid ?? 0, signal, said })
        Deferred.unsafeDone(end, Effect.succeed(ended))
        for (const answer of pending.values()) Deferred.unsafeDone(answer, ended)
        pending.clear()
      })
      started.on("message", (message) => {
        const { exit, number } = decodeAnswered(message)
        const answer = pending.get(number)
        pending.delete(number)
        if (answer !== undefined) Deferred.unsafeDone(answer, Effect.succeed(exit))
      })
      return started
    }),
    (started) => Effect.zipRight(Effect.sync(() => started.kill("SIGKILL")), Deferred.await(end))
  )
  const ask: Child["ask"] = (order) =>
    Effect.gen(function*() {
      const answer = yield* Deferred.make<unknown, ChildEnded>()
      asked += 1
      pending.set(asked, answer)
      child.send(encodeAsked({ number: asked, order }))
      const exit = yield* Effect.orDie(Schema.deserializeExit(order, yield* Deferred.await(answer)))
      return yield* exit
    })
  return {
    pid: child.pid ?? 0,
    ask,
    signal: (signal) => Effect.sync(() => void child.kill(signal)),
    ended: Deferred.await(end)
  }
})

/** Starts so many children. */
export const startMany = (count: number): Effect.Effect<ReadonlyArray<Child>, never, Scope.Scope> =>
  Effect.all(Array.from({ length: count }, () => start), { concurrency: "unbounded" })

/** One order to each at the same instant: all are stopped, have it in their mailbox, and go on together. */
export const atOnce = <A, E>(
  children: ReadonlyArray<Child>,
  order: (child: Child, index: number) => Effect.Effect<A, E>
): Effect.Effect<ReadonlyArray<A>, E> =>
  Effect.gen(function*() {
    yield* Effect.forEach(children, (child) => child.signal("SIGSTOP"), { discard: true })
    const fibers = yield* Effect.forEach(children, (child, index) => Effect.fork(order(child, index)))
    yield* Effect.yieldNow()
    yield* Effect.forEach(children, (child) => child.signal("SIGCONT"), { discard: true })
    return yield* Effect.all(fibers)
  })
