import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Match from "effect/Match"
import * as Schema from "effect/Schema"
import * as Scope from "effect/Scope"
import { createServer } from "node:net"
import { createInterface } from "node:readline"
import * as Member from "./Member.ts"
import { Answer, Asked, type Order } from "./Orders.ts"

/**
 * A process in a pane of tmux that is a member of a team, as Pi is, and does what it is told over the socket that its
 * first argument names. Started by Pane.ts.
 */

type Opened = Effect.Effect.Success<ReturnType<typeof Member.open>>
let current: { readonly member: Opened; readonly scope: Scope.CloseableScope } | undefined

const member = Effect.suspend(() =>
  current === undefined ? Effect.dieMessage("no session is open") : Effect.succeed(current.member)
)

const close = Effect.suspend(() => {
  const closing = current
  current = undefined
  return closing === undefined ? Effect.void : Scope.close(closing.scope, Exit.void)
})

/** That of the pane, without what Intercom or Pi would read there. */
const surroundings = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(PI_|HERDR_)/.test(name)))

const setEnvironment = (values: Readonly<Record<string, string>>): void => {
  for (const name of Object.keys(process.env)) delete process.env[name]
  Object.assign(process.env, surroundings, values)
}

const obey = (order: Order): Effect.Effect<string, Error> =>
  Match.valueTags(order, {
    Open: ({ directory, entry, environment, id, version }) =>
      Effect.gen(function*() {
        yield* close
        setEnvironment(environment)
        const scope = yield* Scope.make()
        const where = { entry, agentDir: environment["PI_CODING_AGENT_DIR"] ?? "" }
        const opened = yield* Scope.extend(Member.open(id, directory, version, where), scope)
        current = { member: opened, scope }
        return opened.role
      }),
    Close: () => Effect.as(close, ""),
    Stop: () => Effect.as(Effect.flatMap(member, ({ stop }) => stop), ""),
    Save: ({ directory, id }) => Effect.map(member, ({ save }) => save(id, directory)),
    Resume: ({ confirmClosed, to }) =>
      Effect.flatMap(member, ({ tool }) => tool("intercom_resume_worker", { to, confirmClosed })),
    Command: ({ args, yes }) =>
      Effect.flatMap(member, ({ command, host }) => {
        host.answer = () => Effect.succeed(yes)
        return command(args)
      }),
    Pid: () => Effect.sync(() => String(process.pid)),
    Port: () => Effect.map(Effect.orDie(Effect.flatMap(member, ({ port }) => port)), String),
    Shown: () => Effect.map(member, ({ host }) => [...host.texts, ...host.notices].join("\n"))
  })

const asked = Schema.decodeUnknownSync(Schema.parseJson(Asked))
const answer = Schema.encodeSync(Schema.parseJson(Answer))

createServer((socket) => {
  createInterface(socket).on("line", (line) => {
    const { number, order } = asked(line)
    const done = obey(order).pipe(
      Effect.match({
        onFailure: ({ message }) => ({ number, ok: false, text: message }),
        onSuccess: (text) => ({ number, ok: true, text })
      }),
      Effect.catchAllCause((cause) => Effect.succeed({ number, ok: false, text: `a defect: ${String(cause)}` }))
    )
    void Effect.runPromise(done).then((said) => socket.write(`${answer(said)}\n`))
  })
  socket.once("close", () => process.exit())
}).listen(process.argv[2])
