import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import { noMonitor } from "../../src/domain/MonitorPane.ts"
import { ensureMonitor } from "../../src/programs/MonitorPane.ts"
import { Multiplexers } from "../../src/services/Multiplexers.ts"
import { makeTeam, settle } from "../support/TeamSteps.ts"

type Team = Effect.Effect.Success<ReturnType<typeof makeTeam>>

/** The sessions whose monitors were looked after. */
const looked = ({ machine }: Team) => machine.terminals.monitors.map(({ sessionId }) => sessionId)
const notices = ({ coordinator }: Team) => coordinator.host.notices.filter((text) => text.includes("monitor"))

const configure = ({ coordinator }: Team, id: string) =>
  coordinator.tool("intercom_configure_worker", {
    sessionId: id,
    port: 4000,
    projectDirectory: "api",
    name: id,
    description: "Works."
  })

/** The coordinator of a team with a worker, whose looks each wait for their turn. */
const waiting = Effect.gen(function*() {
  const team = yield* makeTeam("Ada")
  yield* settle
  const [begun, turn] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
  team.machine.terminals.monitors.length = 0
  team.machine.terminals.placing.do = Effect.zipRight(Deferred.succeed(begun, undefined), Deferred.await(turn))
  const ask = team.coordinator.inside(ensureMonitor("/work"))
  return { ...team, ask, begun: Deferred.await(begun), go: Deferred.succeed(turn, undefined) }
})

describe("the monitor pane (spec 5.6)", () => {
  it.scoped("nothing is looked at without workers: at the first publication, a start, a registration", () =>
    Effect.gen(function*() {
      const team = yield* makeTeam()
      yield* settle
      yield* team.machine.open("somebody", "/work/api")
      yield* settle
      yield* team.coordinator.close
      yield* team.machine.open("coordinator-id", "/work")
      yield* settle
      assert.deepStrictEqual(looked(team), [])
      assert.deepStrictEqual(team.machine.locks.held().filter((name) => name.includes("monitor")), [])
    }))

  it.scoped("the first worker's entry makes it, with this package's monitor for this root; others do not", () =>
    Effect.gen(function*() {
      const team = yield* makeTeam()
      yield* configure(team, "ada")
      yield* settle
      assert.deepStrictEqual(team.machine.terminals.monitors, [{
        root: "/work",
        sessionId: team.coordinator.membership.sessionId,
        argv: ["node", "/monitor.cjs", "--root", "/work"],
        directory: "/work",
        environment: { PATH: "/bin", PI_INTERCOM_ROOT: "/work", PI_INTERCOM_STATE_DIR: "/state" }
      }])
      yield* configure(team, "ben")
      yield* configure(team, "ada")
      yield* settle
      assert.deepStrictEqual(looked(team), ["coordinator-id"])
      for (const to of ["ada", "ben"]) yield* team.coordinator.tool("intercom_remove_worker", { to })
      yield* settle
      assert.lengthOf(looked(team), 1)
      yield* configure(team, "ada")
      yield* settle
      assert.lengthOf(looked(team), 2)
      assert.deepStrictEqual(notices(team), [])
    }))

  it.scoped("each start of a coordinator with workers looks, and no start of a worker", () =>
    Effect.gen(function*() {
      const team = yield* makeTeam("Ada")
      yield* settle
      for (const starts of [2, 3]) {
        yield* team.coordinator.close
        const again = yield* team.machine.open("coordinator-id", "/work")
        assert.isTrue(Exit.isSuccess(again.started))
        yield* settle
        assert.lengthOf(looked(team), starts)
        yield* again.close
      }
      yield* Effect.forEach(team.workers, (worker) => worker.close)
      yield* team.machine.open("ada-id", "/work/api")
      yield* settle
      assert.deepStrictEqual(new Set(looked(team)), new Set(["coordinator-id"]))
    }))

  it.scoped("who takes the team over looks after its own", () =>
    Effect.gen(function*() {
      const team = yield* makeTeam("Ada", "Ben")
      const [ada = team.coordinator] = team.workers
      yield* settle
      yield* team.machine.kill(team.coordinator)
      ada.host.answer = () => Effect.succeed(true)
      yield* ada.command("takeover")
      yield* settle
      assert.deepStrictEqual(looked(team), ["coordinator-id", "ada-id"])
    }))

  it.scoped("whoever asks during a look, however often, adds one more after it", () =>
    Effect.gen(function*() {
      const { ask, begun, coordinator, go, ...team } = yield* waiting
      yield* ask
      yield* begun
      yield* Effect.replicateEffect(ask, 5)
      yield* settle
      assert.lengthOf(looked({ ...team, coordinator }), 1)
      // It serves meanwhile.
      yield* coordinator.tool("intercom_send", { to: "Ada", message: "hello" })
      yield* go
      yield* settle
      assert.lengthOf(looked({ ...team, coordinator }), 2)
      yield* ask
      yield* settle
      assert.lengthOf(looked({ ...team, coordinator }), 3)
    }))

  it.scoped("a failure is a warning to the person, and the team goes on; the next start looks again", () =>
    Effect.gen(function*() {
      const team = yield* makeTeam()
      team.machine.terminals.placing.do = noMonitor("it rains")
      yield* configure(team, "ada")
      yield* settle
      assert.deepStrictEqual(notices(team), [
        "Intercom: There is no monitor pane: it rains. Nothing was created; messages work without it."
      ])
      assert.deepStrictEqual(team.coordinator.host.texts, [])
      assert.include(yield* team.coordinator.tool("intercom_list"), "ada")
      team.machine.terminals.placing.do = Effect.dieMessage("a bug")
      yield* team.coordinator.inside(ensureMonitor("/work"))
      yield* settle
      team.machine.terminals.placing.do = Effect.void
      yield* team.coordinator.inside(ensureMonitor("/work"))
      yield* settle
      assert.lengthOf(looked(team), 3)
    }))

  it.scoped("another process's lock is waited for and named; that of one that was killed is taken over", () =>
    Effect.gen(function*() {
      const team = yield* makeTeam("Ada")
      yield* settle
      const { locks } = team.machine
      locks.plant("/work/monitor.lock", { pid: 77 })
      yield* team.coordinator.inside(ensureMonitor("/work"))
      yield* settle
      assert.lengthOf(looked(team), 1)
      assert.match(
        notices(team).join(),
        /^Intercom: The monitor pane is in use by process 77 \(lock file \/work\/monitor\.lock\)/
      )
      locks.die(77)
      yield* team.coordinator.inside(ensureMonitor("/work"))
      yield* settle
      assert.lengthOf(looked(team), 2)
      assert.isFalse(locks.held().includes("/work/monitor.lock"))
    }))

  it.scoped("of two coordinators that race, only the one that the file names under the lock makes a pane", () =>
    Effect.gen(function*() {
      const { ask, begun, go, ...team } = yield* waiting
      yield* ask
      yield* begun
      yield* ask
      const { files } = team.machine.world
      const other = files.get("/work")?.replace("coordinator-id", "other-id")
      files.set("/work", other ?? "")
      yield* go
      yield* settle
      assert.lengthOf(looked(team), 1)
      assert.deepStrictEqual(notices(team), [])
    }))

  it.scoped("with a session that ends it stops; without a multiplexer there is nothing to say", () =>
    Effect.gen(function*() {
      const { ask, begun, coordinator, go, ...team } = yield* waiting
      yield* ask
      yield* begun
      yield* ask
      yield* coordinator.close
      yield* go
      yield* settle
      assert.lengthOf(looked({ ...team, coordinator }), 1)

      const outside = yield* makeTeam("Ada")
      yield* settle
      const session = outside.coordinator
      const nowhere = Effect.flatMap(
        Multiplexers,
        (all) => Effect.provideService(ensureMonitor("/work"), Multiplexers, { ...all, own: Option.none() })
      )
      yield* session.inside(nowhere)
      yield* session.tool("intercom_set_multiplexer", { multiplexer: "none" })
      yield* session.inside(ensureMonitor("/work"))
      yield* settle
      assert.lengthOf(looked(outside), 1)
      assert.deepStrictEqual(notices(outside), [])
    }))
})
