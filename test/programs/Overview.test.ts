import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { makeMachine } from "../support/SimulatedTeam.ts"
import { makeTeam, portOf, settle } from "../support/TeamSteps.ts"

const linesOf = (text: string) => text.split("\n").map((line) => line.trim())

describe("/intercom shows sessions that registered and have no name yet", () => {
  it.scoped("with what the person can do, until they are configured", () =>
    Effect.gen(function*() {
      const { coordinator, machine } = yield* makeTeam()
      const api = yield* machine.open("new-1", "/work/api")
      yield* settle
      const top = yield* machine.open("new-2", "/work")
      yield* settle
      const [one, two] = [yield* portOf(api), yield* portOf(top)]
      const before = machine.world.files.get("/work")
      const [, , ...rest] = linesOf(yield* coordinator.command(""))
      assert.deepStrictEqual(rest, [
        `unconfigured session new-1 (api), port ${one.port}: connected (verified)`,
        `unconfigured session new-2, port ${two.port}: connected (verified)`,
        "Needs attention: an unconfigured session gets no work. Ask your agent to configure it: say which session, its " +
        "name and what it is responsible for. If you do not want it, quit its Pi."
      ])
      assert.strictEqual(machine.world.files.get("/work"), before, "looking writes nothing")

      yield* coordinator.tool("intercom_configure_worker", {
        sessionId: "new-1",
        port: one.port,
        projectDirectory: "api",
        name: "Ada",
        description: "Helps."
      })
      yield* top.close
      const shown = yield* coordinator.command("")
      assert.include(shown, "Ada (api): connected (verified)")
      assert.notInclude(shown, "unconfigured")
    }))

  it.scoped("but only to the coordinator; the session itself is told what it waits for", () =>
    Effect.gen(function*() {
      const { machine, workers: [ada] } = yield* makeTeam("Ada")
      const fresh = yield* machine.open("new-1", "/work")
      yield* settle
      assert.notInclude(yield* ada?.command("") ?? Effect.succeed("unconfigured"), "unconfigured")
      assert.match(
        yield* fresh.command(""),
        /This session \(new-1\) is not configured yet: ask the coordinator's agent to give it a name .* \/reload here/
      )
    }))
})

describe("where no workers can be opened, the person is told so (spec 5.4)", () => {
  it.scoped("outside any multiplexer: before the team begins, when it does, and as long as it is so", () =>
    Effect.gen(function*() {
      const machine = makeMachine("/work")
      machine.terminals.inside.kind = undefined
      const session = yield* machine.open("s-1", "/work")
      const neither = "This Pi runs in neither tmux nor Herdr, so"
      assert.include(
        yield* session.command(""),
        `\n${neither} no workers could be opened from here. Start tmux or Herdr, and pi in it, before you begin a team.\n`
      )
      const sentence = `${neither} your agent cannot open, park or resume workers from here, and there is no monitor ` +
        "pane; all else works. To have these too, start tmux or Herdr, open this session in it (pi --session-id s-1, in " +
        "the same folder), and ask your agent to set the multiplexer to the one you chose; until then the team file says herdr. Or start each " +
        "worker's pi yourself, in this project: it registers by itself."
      assert.deepStrictEqual(linesOf(yield* session.command("start")).slice(1), [sentence])
      assert.strictEqual(linesOf(yield* session.command("")).at(-1), `Needs attention: ${sentence}`)
    }))

  it.scoped("inside another one than the team's, until the two agree", () =>
    Effect.gen(function*() {
      const machine = makeMachine("/work")
      const session = yield* machine.open("s-1", "/work")
      assert.notInclude(yield* session.command("start"), "workers")
      machine.terminals.inside.kind = "herdr"
      assert.strictEqual(
        linesOf(yield* session.command("")).at(-1),
        "Needs attention: The team's multiplexer is tmux, and this Pi does not run in it, so your agent cannot open or " +
          "resume workers from here; all else works. Ask it to set the multiplexer to herdr, or start tmux and open this " +
          "session in it (pi --session-id s-1, in the same folder)."
      )
      yield* session.tool("intercom_set_multiplexer", { multiplexer: "herdr" })
      assert.notInclude(yield* session.command(""), "Needs attention")
    }))
})

describe("/intercom says what became of a worker's last close", () => {
  it.scoped("as of what was, since a parked worker may have been resumed", () =>
    Effect.gen(function*() {
      const { coordinator, machine } = yield* makeTeam("Ada")
      const config = JSON.parse(machine.world.files.get("/work") ?? "")
      const at = "2026-01-01T00:00:00Z"
      const shownAs = (state: string) =>
        Effect.gen(function*() {
          config.agents[1].closeJob = { jobId: "j", state, createdAt: at, updatedAt: at, deadlineAt: at }
          machine.world.files.set("/work", JSON.stringify(config))
          return yield* coordinator.command("")
        })
      assert.include(yield* shownAs("closed"), "Ada (api): connected (verified), last close: closed")
      assert.include(yield* shownAs("uncertain"), "Ada (api): connected (verified), close uncertain\n")
    }))
})
