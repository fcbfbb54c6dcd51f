import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import { build } from "esbuild"
import * as fs from "node:fs"
import { connect, type Socket } from "node:net"
import { join, resolve } from "node:path"
import { createInterface } from "node:readline"
import { eventually, type NeverCame } from "../Eventually.ts"
import { node22 } from "../HostVersions.ts"
import type { RealTmux } from "../Tmux.ts"
import type { TmuxFailed } from "../TmuxServer.ts"
import { Answer, Asked, type Order } from "./Orders.ts"

/** One process of {@link file://./Child.ts}, in a pane of its own. */
export interface Pane {
  readonly pane: string
  readonly pid: number
  /** Gives an order and waits for its answer; a child that ends while it owes one never answers. */
  readonly ask: (order: Order) => Effect.Effect<Answer>
  readonly signal: (signal: "SIGKILL" | "SIGSTOP" | "SIGCONT") => void
}

const encodeAsked = Schema.encodeSync(Schema.parseJson(Asked))
const decodeAnswer = Schema.decodeUnknownSync(Schema.parseJson(Answer))

const connected = (path: string) =>
  Effect.async<Option.Option<Socket>>((resume) => {
    const socket = connect(path)
    socket.once("connect", () => resume(Effect.succeedSome(socket)))
    socket.once("error", () => resume(Effect.succeedNone))
  })

const modules = resolve(import.meta.dirname, "../../../node_modules")
/** Bundled, since from separate files it starts a second later; but Pi's packages stay where they are. */
const program = (folder: string) => join(folder, "member.cjs")

/** Builds what {@link start} starts, once for a server. */
export const prepare = (tmux: RealTmux): Effect.Effect<void> =>
  Effect.asVoid(Effect.promise(() => {
    fs.symlinkSync(modules, join(tmux.folder, "node_modules"))
    return build({
      entryPoints: [join(import.meta.dirname, "Child.ts")],
      outfile: program(tmux.folder),
      bundle: true,
      platform: "node",
      target: "node22",
      format: "cjs",
      external: ["@earendil-works/*", "pi-0-84"],
      logLevel: "warning"
    })
  }))

/** Starts one in a tmux session called `name`, or with `beside` in that pane's window; with the scope it ends. */
export const start = (
  tmux: RealTmux,
  name: string,
  beside?: string
): Effect.Effect<Pane, TmuxFailed | NeverCame, Scope.Scope> =>
  Effect.gen(function*() {
    const path = join(tmux.folder, `${name}.sock`)
    const pane = (yield* tmux.run([
      ...(beside === undefined ? ["new-session", "-s", name] : ["split-window", "-h", "-t", beside]),
      ...["-d", "-P", "-F", "#{pane_id}", "-c", tmux.folder],
      ...["-e", `NODE_COMPILE_CACHE=${join(tmux.folder, "cache")}`, "--"],
      // As a person's shell would: tmux lets no child of its own stay stopped.
      ...["/bin/sh", "-c", `"$@"; exit`, "sh"],
      ...[node22, program(tmux.folder), path]
    ])).trim()
    const socket = yield* Effect.acquireRelease(
      eventually(`${name} listens`, connected(path), Effect.orDie(tmux.run(["capture-pane", "-p", "-t", pane]))),
      (open) => Effect.sync(() => open.destroy())
    )
    socket.on("error", () => undefined)
    const pending = new Map<number, Deferred.Deferred<Answer>>()
    createInterface(socket).on("line", (line) => {
      const answer = decodeAnswer(line)
      const waiting = pending.get(answer.number)
      if (waiting !== undefined) Deferred.unsafeDone(waiting, Effect.succeed(answer))
    })
    let asked = 0
    const ask: Pane["ask"] = (order) =>
      Effect.gen(function*() {
        const number = ++asked
        const waiting = yield* Deferred.make<Answer>()
        pending.set(number, waiting)
        socket.write(`${encodeAsked({ number, order })}\n`)
        return yield* Deferred.await(waiting)
      })
    const pid = Number((yield* ask({ _tag: "Pid" })).text)
    return { pane, pid, ask, signal: (signal) => void process.kill(pid, signal) }
  })
