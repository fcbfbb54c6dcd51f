import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { proofHeader } from "../../src/domain/Signature.ts"
import { eventuallyTrue } from "../support/Eventually.ts"
import { overHttp } from "../support/HttpEnds.ts"
import { raw } from "../support/RawHttp.ts"
import * as SecretsMemory from "../support/SecretsMemory.ts"
import { makeMachine } from "../support/SimulatedTeam.ts"
import { lure, squatter, type Tactic, tactics } from "../support/Squatter.ts"
import * as Stranger from "../support/Stranger.ts"
import { portOf } from "../support/TeamSteps.ts"

const secretPlan = "the secret plan"
const key = SecretsMemory.keyOf("/work")
const unproven =
  "Not delivered: whoever holds the recipient's port did not prove to be that session, so nothing was sent."

/** A machine whose sessions speak real HTTP, and give up early on who keeps them waiting. */
const machineOverHttp = (tactic?: Tactic) =>
  overHttp(makeMachine("/work", "/work/api"), tactic?.holds === true ? { sendMs: 200, probeMs: 200 } : {})
type Machine = ReturnType<typeof machineOverHttp>
type Session = Effect.Effect.Success<ReturnType<Machine["open"]>>

const agent = (sessionId: string, name: string, port: number) => ({
  sessionId,
  name,
  coordinator: name === "Coordinator",
  description: "Does things.",
  port,
  projectDirectory: "."
})
const write = (machine: Machine, coordinatorPort: number, workerPort: number): void => {
  const agents = [agent("c-1", "Coordinator", coordinatorPort), agent("w-1", "Ada", workerPort)]
  machine.world.files.set("/work", JSON.stringify({ version: 1, multiplexer: "tmux", agents }))
}

/** One tool call that must fail: its sentence. */
const failing = (session: Session, tool: Parameters<Session["tool"]>[0], args: unknown = {}) =>
  Effect.map(Effect.flip(session.tool(tool, args)), (error) => error.message)

/** Everything that a session showed anybody. */
const shown = (session: Session): string => [...session.host.texts, ...session.host.notices].join("\n")

/** It heard signed questions for its health and not one byte more. */
const assertOnlyAsked = (heard: ReadonlyArray<string>, least: number): void => {
  assert.isAtLeast(heard.length, least)
  for (const text of heard) {
    assert.match(
      text,
      /^GET \/intercom\/health HTTP\/1\.1\r\nauthorization: Intercom ts=\d+, nonce=[\w-]+, body=[\w-]+, mac=[\w-]+\r\nhost: 127\.0\.0\.1:\d+\r\nConnection: close\r\n\r\n$/
    )
  }
}

describe("a process that holds a worker's saved port", () => {
  for (const tactic of tactics) {
    it.scopedLive(`${tactic.what}: gets no body, and none of its words get anywhere`, () =>
      Effect.gen(function*() {
        const machine = machineOverHttp(tactic)
        const stranger = yield* squatter(tactic, "w-1", key)
        write(machine, 21_401, stranger.port)
        const coordinator = yield* machine.open("c-1", "/work")
        const sentences = [
          yield* failing(coordinator, "intercom_send", { to: "Ada", message: secretPlan }),
          yield* failing(coordinator, "intercom_reload_worker", { to: "Ada" }),
          yield* failing(coordinator, "intercom_request_status", { to: "Ada" })
        ]
        assert.deepStrictEqual(sentences, [unproven, unproven, unproven])
        const status = yield* coordinator.tool("intercom_worker_status", { name: "Ada", probe: true })
        const { workers: [row] } = JSON.parse(status)
        assert.notStrictEqual(row.connection.reason, "verified")
        assert.notInclude([...sentences, status, shown(coordinator)].join("\n"), lure.slice(0, 10))
        assertOnlyAsked(stranger.heard, 4)
      }))
  }
})

describe("a process that holds the coordinator's saved port", () => {
  for (const tactic of tactics) {
    it.scopedLive(`${tactic.what}: a worker announces, reports and sends nothing to it`, () =>
      Effect.gen(function*() {
        const machine = machineOverHttp(tactic)
        const stranger = yield* squatter(tactic, "c-1", key)
        write(machine, stranger.port, 21_402)
        const [worker, anonymous] = [yield* machine.open("w-1", "/work/api"), yield* machine.open("x-1", "/work/api")]
        yield* eventuallyTrue(
          "both said that they could not announce themselves",
          Effect.sync(() => [worker, anonymous].every((one) => one.host.notices.join().includes(unproven)))
        )
        const sentences = [
          yield* failing(worker, "intercom_report_status"),
          yield* failing(worker, "intercom_report_work", { status: "blocked", summary: secretPlan }),
          yield* failing(worker, "intercom_send", { to: "Coordinator", message: secretPlan })
        ]
        assert.deepStrictEqual(sentences, [unproven, unproven, unproven])
        assert.notInclude([...sentences, shown(worker), shown(anonymous)].join("\n"), lure.slice(0, 10))
        assertOnlyAsked(stranger.heard, 5)
      }))
  }

  it.scopedLive("the coordinator starts on another port, saves that, and has nothing to say to it", () =>
    Effect.gen(function*() {
      const machine = machineOverHttp()
      const [tactic] = tactics
      assert.isDefined(tactic)
      const stranger = yield* squatter(tactic, "c-1", key)
      write(machine, stranger.port, 21_402)
      const coordinator = yield* machine.open("c-1", "/work")
      const { port } = yield* portOf(coordinator)
      assert.notStrictEqual(port, stranger.port)
      assert.strictEqual(JSON.parse(machine.world.files.get("/work") ?? "").agents[0].port, port)
      assert.deepStrictEqual(stranger.heard, [])
    }))

  it.scopedLive("a worker that was asked for its status says that it could not answer, in our words", () =>
    Effect.gen(function*() {
      const machine = machineOverHttp()
      write(machine, 21_401, 21_402)
      const coordinator = yield* machine.open("c-1", "/work")
      const worker = yield* machine.open("w-1", "/work/api")
      const { port } = yield* portOf(worker)
      yield* eventuallyTrue(
        "the worker announced itself",
        Effect.sync(() => shown(coordinator).includes("[Intercom status from Ada"))
      )
      const [tactic] = tactics.filter(({ what }) => what === "an error with instructions")
      assert.isDefined(tactic)
      const stranger = yield* squatter(tactic, "c-1", key)
      write(machine, stranger.port, port)
      yield* coordinator.tool("intercom_request_status", { to: "Ada" })
      yield* eventuallyTrue("it says so", Effect.sync(() => worker.host.notices.join().includes(unproven)))
      assert.notInclude(shown(worker), lure.slice(0, 10))
      assertOnlyAsked(stranger.heard, 1)
    }))
})

describe("the control: the true session at that port", () => {
  it.scopedLive("is sent what the squatters were not", () =>
    Effect.gen(function*() {
      const machine = machineOverHttp()
      write(machine, 21_401, 21_402)
      const coordinator = yield* machine.open("c-1", "/work")
      const worker = yield* machine.open("w-1", "/work/api")
      yield* eventuallyTrue(
        "the worker announced itself",
        Effect.sync(() => shown(coordinator).includes("[Intercom status from Ada"))
      )
      assert.include(yield* coordinator.tool("intercom_send", { to: "Ada", message: secretPlan }), "\"accepted\": true")
      assert.include(worker.host.texts.join(), secretPlan)
      const status = JSON.parse(yield* coordinator.tool("intercom_worker_status", { name: "Ada", probe: true }))
      assert.strictEqual(status.workers[0].connection.reason, "verified")
    }))
})

describe("KNOWN WEAKNESS: the mac does not cover the port (README, Security)", () => {
  // A process of this machine that holds a session's old port can pass the signed question on to that session's new
  // port and its proof back. It then reads what is sent, may drop it or pass it on once; it cannot change or repeat it.
  it.scopedLive("a holder that relays the question to the true session is sent the message; it cannot alter or repeat it", () =>
    Effect.gen(function*() {
      const machine = machineOverHttp()
      write(machine, 21_401, 21_402)
      const coordinator = yield* machine.open("c-1", "/work")
      const worker = yield* machine.open("w-1", "/work/api")
      const { port } = yield* portOf(worker)
      yield* eventuallyTrue(
        "the worker announced itself",
        Effect.sync(() => shown(coordinator).includes("[Intercom status from Ada"))
      )
      const heard: Array<string> = []
      const passOn = (text: string) => raw(port, text.replace(/host: [^\r]*/i, `host: 127.0.0.1:${port}`))
      const relay = yield* Stranger.tcp((socket) => {
        socket.once("data", (chunk: Buffer) => {
          heard.push(chunk.toString())
          Effect.runPromise(passOn(chunk.toString())).then((answer) => {
            const length = Buffer.byteLength(answer.body)
            const proof = answer.headers[proofHeader]
            socket.end(
              `HTTP/1.1 ${answer.status} x\r\n${proofHeader}: ${proof}\r\ncontent-length: ${length}\r\n\r\n${answer.body}`
            )
          }, () => socket.destroy())
        })
      })
      write(machine, 21_401, relay.port)
      assert.include(yield* coordinator.tool("intercom_send", { to: "Ada", message: secretPlan }), "\"accepted\": true")
      const [question = "", message = ""] = heard
      assert.match(question, /^GET \/intercom\/health /)
      assert.include(message, secretPlan, "it could read the message")
      assert.lengthOf(worker.host.texts.filter((text) => text.includes(secretPlan)), 1)
      assert.strictEqual((yield* passOn(message)).status, 401, "but not deliver it again")
      assert.strictEqual((yield* passOn(message.replace("secret", "public"))).status, 401, "or another one")
      assert.lengthOf(worker.host.texts.filter((text) => text.includes("plan")), 1)
    }))
})
