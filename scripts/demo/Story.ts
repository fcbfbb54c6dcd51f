import * as Effect from "effect/Effect"
import * as fs from "node:fs"
import * as path from "node:path"
import type { Agent } from "../../src/domain/TeamConfig.ts"
import type { PiHarness, StartedPi, Surroundings } from "../../test/support/PiHarness.ts"
import type { PiPane } from "../../test/support/PiPane.ts"
import type { PaneRow } from "../../test/support/TmuxServer.ts"
import { cast, files, fresh, registered, words } from "./Agents.ts"
import type { Evidence } from "./Evidence.ts"
import { isOpen, type Leftovers } from "./Leftovers.ts"
import { ensure, type StepFailed, type Timeline, Wrong } from "./Timeline.ts"

/** What the story is told with. */
export interface Stage {
  readonly harness: PiHarness
  readonly evidence: Evidence
  readonly leftovers: Leftovers
  readonly timeline: Timeline
}

/** A worker as the team file has it, and the pane it runs in. */
export interface Member {
  readonly agent: Agent
  readonly pane: PiPane
}

export interface Team {
  readonly coordinator: StartedPi
  readonly ada: Member
  readonly ben: Member
  /** The pane that shows the team. */
  readonly monitor: PiPane
}

/** Where the story plays. */
export const place: Readonly<Record<Surroundings, string>> = {
  tmux: "tmux",
  herdr: "Herdr (a stand-in for it, on tmux)"
}

export const placeOf = ({ herdr }: PiHarness): string => herdr === undefined ? "tmux" : "Herdr"

/** A person opens Pi in a project; Intercom is there and does nothing yet. */
export const open = ({ evidence, harness, timeline }: Stage, sessionId: string) =>
  timeline.step(
    "A Pi session opens",
    // The first pane after that of the server's anchor.
    harness.pane("%1"),
    Effect.gen(function*() {
      for (const name of Object.keys(cast)) fs.mkdirSync(path.join(harness.project, name))
      const before = yield* evidence.folder
      const pi = yield* harness.start({ sessionId })
      const after = yield* evidence.folder
      yield* ensure(after.join() === before.join(), `the project folder holds ${after.join(", ")}`)
      yield* ensure(evidence.asked(sessionId) === 0, "the model was asked before anybody typed")
      return pi
    }),
    () => `A Pi session is open in ${placeOf(harness)}. Nothing was written into the project folder.`
  )

export const titled = (rows: ReadonlyArray<PaneRow>, name: string) => rows.filter((row) => row.window === name)

/** From one typed sentence to a coordinator and two workers with names. */
export const assemble = (
  { evidence, harness, leftovers, timeline }: Stage,
  coordinator: StartedPi
): Effect.Effect<Omit<Team, "monitor">, StepFailed> =>
  Effect.gen(function*() {
    const id = coordinator.sessionId
    yield* timeline.step(
      "The session becomes coordinator and opens two workers",
      coordinator,
      Effect.gen(function*() {
        yield* coordinator.type(words.makeTeam)
        const own = yield* evidence.agent("Coordinator")
        yield* ensure(own.sessionId === id, "the team file names another coordinator")
        yield* evidence.panes("two new tabs", (rows) => rows.filter((row) => !row.dead).length === 3)
        yield* evidence.endpoint(id, own.port)
        leftovers.port(own.port)
      }),
      () =>
        `Asked for a team, it became the coordinator: the team file is on disk and ${
          placeOf(harness)
        } has two new tabs.`
    )
    const ports = yield* timeline.step(
      "Both workers register",
      coordinator,
      Effect.forEach(Object.keys(cast), (folder) =>
        Effect.gen(function*() {
          const request = yield* evidence.given(id, [
            "[Intercom registration from unconfigured session",
            `projectDirectory: ${JSON.stringify(folder)}`
          ])
          const found = registered(fresh(request, "user")).find((one) => one.projectDirectory === folder)
          if (found === undefined) return yield* new Wrong({ why: `the registration from ${folder} is incomplete` })
          yield* evidence.endpoint(found.sessionId, found.port)
          leftovers.port(found.port)
          return found.port
        })),
      (found) => `Both workers registered with it by themselves; they answer on ports ${found.join(" and ")}.`
    )
    const agents = yield* timeline.step(
      "The coordinator configures both",
      coordinator,
      Effect.forEach(Object.values(cast), ({ description, name }) =>
        Effect.gen(function*() {
          const agent = yield* evidence.agent(name)
          yield* ensure(agent.description === description, `${name} has another responsibility in the team file`)
          yield* ensure(ports.includes(agent.port), `${name} has a port in the team file that nobody registered`)
          return agent
        })),
      () => "It configured them: the team file has Ada (server) and Ben (docs), each with a responsibility."
    )
    const members = yield* timeline.step(
      "The workers load their names",
      coordinator,
      Effect.gen(function*() {
        const rows = yield* evidence.panes(
          "tabs called Ada and Ben",
          (all) => agents.every(({ name }) => titled(all, name).length === 1)
        )
        return agents.flatMap((agent) =>
          titled(rows, agent.name).map(({ pane }) => ({ agent, pane: harness.pane(pane) }))
        )
      }),
      () => "It reloaded them: the two tabs are now called Ada and Ben."
    )
    const [ada, ben] = members
    if (ada === undefined || ben === undefined) return yield* Effect.dieMessage("two agents give two members")
    return { coordinator, ada, ben }
  })

export const from = (purpose: string, sender: { readonly name: string; readonly sessionId: string }): string =>
  `[Intercom ${purpose} from ${sender.name} (${sender.sessionId})]`

/** Work, a question between workers that finds one of them busy, a status, an answer, two reports. */
export const work = ({ evidence, harness, timeline }: Stage, { ada, ben, coordinator }: Team) =>
  Effect.gen(function*() {
    const leader = { name: "Coordinator", sessionId: coordinator.sessionId }
    const briefed = ({ agent, pane }: Member, text: string) =>
      timeline.step(
        `${agent.name} is given work`,
        pane,
        evidence.given(
          agent.sessionId,
          [`${from("message", leader)}\n${text}`],
          ({ system }) =>
            system.includes(`You are ${agent.name} (session ${agent.sessionId}). Responsibility: ${agent.description}`)
        ),
        () => `${agent.name}'s model was given its work and knows its name and responsibility.`
      )
    yield* briefed(ada, words.workForAda)
    yield* briefed(ben, words.workForBen)

    const asked = yield* timeline.step(
      "Ben asks Ada while she is busy",
      ben.pane,
      Effect.gen(function*() {
        yield* evidence.file(files.running)
        const requests = evidence.asked(ada.agent.sessionId)
        yield* evidence.result(ben.agent.sessionId, "\"accepted\": true")
        return requests
      }),
      () => "Ben sent Ada a question, worker to worker, and it was accepted: she is busy with a command."
    )
    yield* timeline.step(
      "The coordinator asks for Ada's status",
      coordinator,
      Effect.gen(function*() {
        yield* coordinator.type(words.howIsAda)
        yield* evidence.given(leader.sessionId, [`${from("status", ada.agent)}\nport: ${ada.agent.port}\nbusy: yes`])
        yield* ensure(
          evidence.asked(ada.agent.sessionId) === asked,
          "Ada's model was asked, though her command still runs"
        )
      }),
      () => "The coordinator asked for Ada's status and was told: busy. Her model was not disturbed."
    )
    yield* timeline.step(
      "Ada sees the question in the same run",
      ada.pane,
      Effect.gen(function*() {
        fs.writeFileSync(path.join(harness.project, files.finish), "")
        yield* evidence.given(
          ada.agent.sessionId,
          [`${from("message", ben.agent)}\n${words.question}`],
          (request) => fresh(request, "tool").includes(words.testsPassed)
        )
        yield* ensure(
          evidence.times(ada.agent.sessionId, words.question) === 1,
          "Ada's model was given the question more than once"
        )
      }),
      () => "Ada's command ended, and in the same run her model was given its result and Ben's question."
    )
    yield* timeline.step(
      "Ada answers Ben",
      ben.pane,
      evidence.given(ben.agent.sessionId, [`${from("message", ada.agent)}\n${words.answer}`]),
      () => "Ada answered: Ben's model was given it."
    )
    const reported = ({ agent }: Member, summary: string) =>
      timeline.step(
        `${agent.name} reports`,
        coordinator,
        Effect.gen(function*() {
          yield* evidence.given(leader.sessionId, [`${from("report", agent)}\nstatus: ready_for_review\n${summary}`])
          const saved = yield* evidence.report(agent.sessionId)
          yield* ensure(saved.status === "ready_for_review" && saved.summary === summary, "another report was saved")
        }),
        () => `${agent.name} reported work ready for review: saved on disk, and the coordinator's model was told.`
      )
    yield* reported(ada, words.reportOfAda)
    yield* reported(ben, words.reportOfBen)
  })

/** `/intercom` as the person sees it: its lines on the coordinator's screen. */
export const overview = ({ harness, timeline }: Stage, { ada, ben, coordinator }: Team) =>
  timeline.step(
    "The person looks at the team",
    coordinator,
    Effect.gen(function*() {
      yield* coordinator.type("/intercom")
      for (const { agent } of [ada, ben]) {
        yield* coordinator.shows(`${agent.name} (${agent.projectDirectory}): connected (verified)`)
      }
      const screen = (yield* coordinator.screen).replaceAll(harness.root, "…")
      const lines = screen.split("\n").map((line) => line.trim())
      const first = lines.findIndex((line) => line.includes("Intercom: coordinator on port"))
      return lines.slice(first, first + 4)
    }),
    (lines) => ["/intercom shows the person:", "", ...lines.map((line) => `            ${line}`), ""].join("\n")
  )

const hasChildren = (pid: number): boolean => fs.readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8") !== ""

/** From now on a pane goes with its process, however that ends: tmux 3.3 keeps the screen of some that end well, too. */
export const goesWithItsProcess = ({ harness }: Stage, pane: string) =>
  harness.tmux.run(["set-option", "-p", "-t", pane, "remain-on-exit", "off"])

/** A person quits the Pi in a pane. */
const quit = (stage: Stage, { keys, pane }: PiPane) => Effect.zipRight(goesWithItsProcess(stage, pane), keys("C-d"))

/** A person quits the Pis of workers, and the monitor, and leaves their tabs. */
const leave = (stage: Stage, pis: ReadonlyArray<PiPane>, monitor: PiPane) =>
  Effect.gen(function*() {
    const workers = [...pis, monitor]
    yield* Effect.forEach(pis, (worker) => quit(stage, worker), { discard: true })
    yield* Effect.zipRight(goesWithItsProcess(stage, monitor.pane), monitor.keys("q"))
    if (stage.harness.herdr === undefined) return
    // There Pi was typed into a shell, which is still there: a person leaves that too.
    yield* stage.evidence.panes("the shells", (rows) =>
      workers.every(({ pane }) => rows.some((row) => row.pane === pane && !row.dead && !hasChildren(row.pid))))
    yield* Effect.forEach(workers, ({ keys }) =>
      keys("exit", "Enter"), { discard: true })
  })

/** The person quits all three; the sessions free their ports. */
export const close = (stage: Stage, { ada, ben, coordinator, monitor }: Team) =>
  stage.timeline.step(
    "The sessions end",
    coordinator,
    Effect.gen(function*() {
      const { evidence } = stage
      yield* leave(stage, [ada.pane, ben.pane], monitor)
      yield* quit(stage, coordinator)
      yield* evidence.panes("no tabs", (rows) => rows.length === 0)
      const own = yield* evidence.agent("Coordinator")
      const open = yield* Effect.filter([own.port, ada.agent.port, ben.agent.port], isOpen)
      yield* ensure(open.length === 0, `something still listens on port ${open.join(", ")}`)
    }),
    () => "All three sessions and the monitor were quit: their tabs are gone and their ports are free."
  )
