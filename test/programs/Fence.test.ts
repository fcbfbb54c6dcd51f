import { assert, describe, it } from "@effect/vitest"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import { LaunchFailed } from "../../src/domain/Launch.ts"
import { makeMachine } from "../support/SimulatedTeam.ts"
import { during, makeTeam, portOf, settle } from "../support/TeamSteps.ts"

const far = "2999-01-01T00:00:00.000Z"
const job = (state: string) => ({ jobId: "j-1", state, createdAt: far, updatedAt: far, deadlineAt: far })

/** Rewrites the team file as an outside editor would. */
const edit = (machine: ReturnType<typeof makeMachine>, change: (agents: Array<Record<string, unknown>>) => void) => {
  const config = JSON.parse(machine.world.files.get("/work") ?? "")
  change(config.agents)
  machine.world.files.set("/work", JSON.stringify(config))
}

describe("the session's fence (spec 3.1)", () => {
  it.scoped("a session that the host has left does nothing any more", () =>
    Effect.gen(function*() {
      const { coordinator, machine, workers: [ada] } = yield* makeTeam("Ada")
      const before = machine.world.files.get("/work")
      coordinator.host.sessionId = "another"
      const failed = yield* Effect.flip(coordinator.tool("intercom_remove_worker", { to: "Ada" }))
      assert.strictEqual(failed._tag, "SessionReplaced")
      assert.strictEqual(machine.world.files.get("/work"), before)
      const told = yield* Effect.flip(ada?.tool("intercom_report_status") ?? Effect.die(""))
      assert.isTrue(told._tag === "Rejected" && told.status === 503)
    }))

  it.scoped("closing frees the port; the same session gets it back at its next start", () =>
    Effect.gen(function*() {
      const { coordinator, machine } = yield* makeTeam()
      const { port } = yield* portOf(coordinator)
      yield* coordinator.close
      assert.strictEqual((yield* Effect.flip(coordinator.tool("intercom_list")))._tag, "SessionReplaced")
      const again = yield* machine.open("coordinator-id", "/work")
      assert.strictEqual((yield* portOf(again)).port, port)
      assert.include(again.host.tools, "intercom_send")
      assert.deepStrictEqual(again.host.texts, [], "a start begins no turn")
    }))

  it.scoped("a coordinator that restarts on another port saves it and drops dashboardPort", () =>
    Effect.gen(function*() {
      const { coordinator, machine } = yield* makeTeam()
      const { port } = yield* portOf(coordinator)
      yield* coordinator.close
      edit(machine, ([agent]) => Object.assign(agent ?? {}, { dashboardPort: 4000, mine: "kept" }))
      machine.network.squat(port)
      const again = yield* machine.open("coordinator-id", "/work")
      const saved = JSON.parse(machine.world.files.get("/work") ?? "").agents[0]
      assert.deepInclude(saved, { port: (yield* portOf(again)).port, mine: "kept" })
      assert.notProperty(saved, "dashboardPort")
    }))
})

describe("what a session makes of its team file (spec 1)", () => {
  it.scoped("an invalid file leaves the session inactive, names the first failing path, and is not touched", () =>
    Effect.gen(function*() {
      const machine = makeMachine("/work")
      const broken = "{\"version\":1,\"multiplexer\":\"tmux\",\"agents\":[{\"sessionId\":\"x\"}]}"
      machine.world.files.set("/work", broken)
      const session = yield* machine.open("s", "/work")
      const failure = Exit.isFailure(session.started) ? Cause.failureOption(session.started.cause) : Option.none()
      assert.match(Option.getOrThrow(failure).message, /agents\[0\]\.name/)
      assert.strictEqual(machine.world.files.get("/work"), broken)
    }))

  it.scoped("a team file that disappears is said, and nobody becomes a coordinator by it", () =>
    Effect.gen(function*() {
      const { coordinator, machine, workers: [ada] } = yield* makeTeam("Ada")
      machine.world.files.delete("/work")
      for (const session of [coordinator, ada]) {
        const failed = yield* Effect.flip(session?.tool("intercom_create_worker") ?? Effect.die(""))
        assert.strictEqual(failed._tag, "TeamGone")
      }
      assert.strictEqual(machine.world.files.size, 0)
    }))

  it.scoped("a coordinator that finds itself replaced is a worker, without a worker's rights", () =>
    Effect.gen(function*() {
      const { coordinator, machine } = yield* makeTeam()
      edit(machine, ([agent]) => Object.assign(agent ?? {}, { sessionId: "usurper" }))
      const failed = yield* Effect.flip(coordinator.tool("intercom_send", { to: "Coordinator", message: "x" }))
      assert.strictEqual(failed._tag === "Refused" && failed.reason, "anonymous")
      assert.deepStrictEqual(coordinator.host.tools, ["intercom_report_status"])
    }))
})

describe("what a session is taken for", () => {
  it.scoped("a removed worker that is configured again is unloaded until it is reloaded (spec 3.3)", () =>
    Effect.gen(function*() {
      const { coordinator, workers: [ada] } = yield* makeTeam("Ada")
      yield* coordinator.tool("intercom_remove_worker", { to: "Ada" })
      const { port } = yield* portOf(ada ?? coordinator)
      const values = { sessionId: "ada-id", port, projectDirectory: "api", name: "Ben", description: "Other things." }
      yield* coordinator.tool("intercom_configure_worker", values)
      const refused = yield* Effect.flip(
        ada?.tool("intercom_send", { to: "Coordinator", message: "x" }) ?? Effect.die("")
      )
      assert.strictEqual(refused._tag === "Refused" && refused.reason, "unloaded")
      const sent = yield* Effect.flip(coordinator.tool("intercom_send", { to: "Ben", message: "x" }))
      assert.strictEqual(sent._tag, "Rejected")
      assert.notInclude(Option.getOrThrow(yield* ada?.section ?? Effect.die("")), "You are Ada")
    }))

  it.scoped("while the team file cannot be read the prompt's section stays as it was (spec 3.5)", () =>
    Effect.gen(function*() {
      const { machine, workers: [ada] } = yield* makeTeam("Ada")
      const before = yield* ada?.section ?? Effect.die("")
      const file = machine.world.files.get("/work") ?? ""
      machine.world.files.set("/work", file.slice(0, 40))
      assert.deepStrictEqual(yield* ada?.section ?? Effect.die(""), before)
      machine.world.files.delete("/work")
      assert.deepStrictEqual(yield* ada?.section ?? Effect.die(""), before)
      assert.include(Option.getOrThrow(before), "You are Ada")
    }))

  it.scoped("of two first calls at once the chosen multiplexer is what the file says", () =>
    Effect.gen(function*() {
      const machine = makeMachine("/work")
      const session = yield* machine.open("c", "/work")
      const [, chosen] = yield* Effect.all([
        session.tool("intercom_create_worker"),
        session.tool("intercom_set_multiplexer", { multiplexer: "none" })
      ], { concurrency: 2 })
      assert.strictEqual(JSON.parse(chosen).multiplexer, "none")
      assert.strictEqual(JSON.parse(machine.world.files.get("/work") ?? "").multiplexer, "none")
    }))

  it.scoped("a port that was saved is never followed by a 503 (spec 2.1)", () =>
    Effect.gen(function*() {
      const { coordinator, machine, workers: [ada] } = yield* makeTeam("Ada")
      edit(machine, (agents) => Object.assign(agents[1] ?? {}, { port: 1 }))
      coordinator.host.takes = false
      const told = yield* during(Effect.flip(ada?.tool("intercom_report_status") ?? Effect.die("")))
      assert.isTrue(told._tag === "Rejected" && told.status === 400)
      assert.match(told.message, /the new port is saved, but/)
      const { port } = yield* portOf(ada ?? coordinator)
      assert.strictEqual(JSON.parse(machine.world.files.get("/work") ?? "").agents[1].port, port)
    }))

  it.scoped("a launch that fails says that the team was published for it", () =>
    Effect.gen(function*() {
      const machine = makeMachine("/work")
      const session = yield* machine.open("c", "/work")
      machine.terminals.failing.with = new LaunchFailed({ reason: "not_inside", detail: "this session is not in tmux" })
      const first = yield* Effect.flip(session.tool("intercom_create_worker"))
      assert.match(first.message, /The team file was published/)
      const second = yield* Effect.flip(session.tool("intercom_create_worker"))
      assert.notMatch(second.message, /published/)
    }))
})

describe("the close fence (spec 4)", () => {
  it.scoped("refuses exactly what the table says, at the target and at the fenced worker", () =>
    Effect.gen(function*() {
      const { coordinator, machine, workers: [ada, ben] } = yield* makeTeam("Ada", "Ben")
      edit(machine, (agents) => Object.assign(agents[1] ?? {}, { closeJob: job("uncertain") }))
      const { port } = yield* portOf(ada ?? coordinator)
      const values = { sessionId: "ada-id", port, projectDirectory: "api", name: "Ada", description: "New." }
      const refusals = [
        coordinator.tool("intercom_send", { to: "Ada", message: "x" }),
        ben?.tool("intercom_send", { to: "Ada", message: "x" }) ?? Effect.void,
        coordinator.tool("intercom_reload_worker", { to: "Ada" }),
        coordinator.tool("intercom_remove_worker", { to: "Ada" }),
        coordinator.tool("intercom_configure_worker", values),
        ada?.tool("intercom_send", { to: "Ben", message: "x" }) ?? Effect.void,
        ada?.tool("intercom_report_work", { status: "blocked", summary: "x" }) ?? Effect.void
      ]
      for (const refusal of refusals) {
        const failed = yield* Effect.flip(refusal)
        assert.strictEqual(failed._tag === "Refused" && failed.reason, "fenced")
      }
      yield* coordinator.tool("intercom_request_status", { to: "Ada" })
      yield* settle
      assert.match(coordinator.host.texts.at(-1) ?? "", /^\[Intercom status from Ada/)
      assert.strictEqual(JSON.parse(machine.world.files.get("/work") ?? "").agents[1].closeJob.state, "uncertain")
    }))
})
