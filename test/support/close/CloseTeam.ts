import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import { randomUUID } from "node:crypto"
import * as fs from "node:fs"
import * as path from "node:path"
import { decodeConfig } from "../../../src/domain/TeamConfig.ts"
import { published } from "../config-witness/Witnessed.ts"
import { eventually } from "../Eventually.ts"
import type { HostVersion } from "../HostVersions.ts"
import * as PiHarness from "../PiHarness.ts"
import * as Pane from "../PiPane.ts"
import type { ModelRequest } from "../ScriptedModel.ts"
import * as CloseScript from "./CloseScript.ts"
import * as ConfigWatch from "./ConfigWatch.ts"
import { type Ender, panesEndedAre } from "./PaneLedger.ts"
import { coordinatorId, type Worker } from "./Reading.ts"
import * as Reading from "./Reading.ts"
import * as TmuxHook from "./TmuxHook.ts"
import * as Trouble from "./Trouble.ts"

/** What a team runs in: Herdr knows the session of a Pi only where its integration is installed. */
export type Surroundings = "tmux" | "herdr" | "herdr with its Pi integration"

const names = ["Ada", "Ben", "Cleo", "Dora", "Emil", "Fay", "Gus", "Hal", "Ida", "Jon", "Kim", "Lea", "Max", "Nora"]
const session = "team"

/** The Pi in a pane: its program, or what the shell that is its program started. */
const piIn = (pid: number): number => {
  if (!/^(sh|bash|dash)$/.test(fs.readFileSync(`/proc/${pid}/comm`, "utf8").trim())) return pid
  const [child] = fs.readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").split(" ").filter((one) => one !== "")
  return child === undefined ? pid : piIn(Number(child))
}

/** Whom the model has reloaded so far. */
const reloaded = (request: ModelRequest): ReadonlyArray<unknown> =>
  request.messages.flatMap(({ args, calls }) =>
    calls.flatMap((name, at) => name === "intercom_reload_worker" ? [JSON.parse(args[at] ?? "{}").to] : [])
  )

/**
 * A real coordinator and the workers that it opens, which can be closed, and trouble for them (PiFaults, TmuxHook, the
 * faults of Herdr). When the scope ends the team file has never said what it must not, and no pane has ended but those
 * of workers with a job, and those that the test ended.
 */
export const make = (version: HostVersion, surroundings: Surroundings) =>
  Effect.gen(function*() {
    const given = new Map<string, string>()
    const script = CloseScript.make((sessionId) => {
      const name = given.get(sessionId) ?? names[given.size] ?? `Worker${given.size}`
      given.set(sessionId, name)
      return name
    })
    const harness = yield* PiHarness.make(version, script.script, surroundings === "tmux" ? "tmux" : "herdr")
    const { herdr, model, tmux } = harness
    const file = path.join(harness.project, ".pi-intercom/config.json")
    // The monitor pane says its version.
    fs.writeFileSync(path.join(harness.root, "package.json"), `{"version": "0.0.0"}`)
    const hook = TmuxHook.make(harness.root)
    const trouble = Trouble.make(harness, hook)

    /** What the test ended itself. */
    const byTest = new Set<string>()
    const jobs = new Map<string, Set<string>>()
    const commands = Effect.map(
      herdr?.calls ?? Effect.succeed([]),
      (calls) => [
        ...calls.flatMap(({ args, command }) =>
          command === "pane close" ? [`%${Number(/:p(\d+)/.exec(args[2] ?? "")?.[1]) - 1}`] : []
        ),
        ...hook.calls().flatMap((call) => /kill-pane -t (%\d+)/.exec(call)?.[1] ?? [])
      ]
    )
    const closed = { atOnce: 0, later: 0 }
    let texts: ReadonlyArray<string> = []
    yield* Effect.addFinalizer(() =>
      Effect.orDie(Effect.flatMap(commands, (all) => {
        // None of them was published by a process that is not witnessed, and so not judged.
        const known = new Set(published().map(({ after }) => after))
        assert.isNotEmpty(texts)
        assert.deepStrictEqual(texts.filter((text) => !known.has(text)), [], "published by nobody known")
        // Only these may have closed a pane.
        const closing = new Set(texts.flatMap((text) =>
          Either.getOrThrow(decodeConfig(text)).agents.flatMap(({ closeJob }) =>
            closeJob?.state === "closed" || closeJob?.state === "uncertain" ? [closeJob.jobId] : []
          )
        ))
        if (closed.later > 0) assert.isAbove(closed.atOnce, 0, "none was closed at once")
        const mayEnd = new Map<string, Ender>([...byTest].map((pane) => [pane, "test"]))
        for (const [pane, ids] of jobs) {
          if (
            [...ids].some((id) =>
              closing.has(id)
            )
          ) mayEnd.set(pane, "job")
        }
        return panesEndedAre({
          closed,
          tmux,
          mayEnd,
          commands: all,
          jobs: new Map([...jobs].map(([pane, ids]) => [pane, ids.size]))
        })
      }))
    )
    texts = yield* ConfigWatch.watch(file)

    /** The coordinator's Pi, in the tmux session where its workers are. */
    const startCoordinator = (saved: boolean) =>
      Effect.gen(function*() {
        if (herdr !== undefined) {
          return yield* harness.start({ sessionId: coordinatorId, saved })
        }
        const path_ = `${hook.bin}:${harness.command().environment["PATH"]}`
        const { argv, environment } = harness.command({
          args: [saved ? "--session" : "--session-id", coordinatorId],
          environment: { PATH: path_ }
        })
        const program = [
          "env",
          ...Object.entries(environment).map(([name, value]) => `${name}=${value}`),
          ...argv
        ]
        const there = (yield* tmux.panes).some((row) => row.session === session)
        const opened = yield* tmux.run([
          ...there ? ["new-window", "-t", `${session}:`] : ["new-session", "-s", session, "-x", "140", "-y", "44"],
          ...["-d", "-P", "-F", "#{pane_id}", "-c", harness.project, "--", ...program]
        ])
        const pane = Pane.make(tmux, opened.trim())
        yield* pane.shows("mock-1")
        return { ...pane, sessionId: coordinatorId, directory: harness.project }
      })

    const pidOf = (pane: string) =>
      Effect.map(
        eventually(
          `the process of ${pane}`,
          Effect.map(tmux.panes, (rows) => Option.fromNullable(rows.find((row) => row.pane === pane)))
        ),
        ({ pid }) => piIn(pid)
      )

    let coordinator = yield* startCoordinator(false)
    const reading = Reading.make(file, model, Effect.suspend(() => coordinator.screen))
    const { agents, closingOf } = reading
    yield* coordinator.type("/intercom start")
    yield* coordinator.shows("this session now coordinates the team")

    /** What Herdr's integration would report of a worker's pane; nothing elsewhere. */
    const integrate = (worker: Worker) =>
      Effect.gen(function*() {
        if (herdr === undefined || surroundings !== "herdr with its Pi integration") return
        const saved = fs.readdirSync(path.join(harness.agentDir, "sessions"), { recursive: true, encoding: "utf8" })
          .find((name) => name.endsWith(`${worker.sessionId}.jsonl`))
        assert.isDefined(saved, "the worker's session is saved")
        const ids = { workspace: "", tab: "", pane: "", terminal: "", tmux: worker.pane }
        yield* herdr.agent(ids, "pi", path.join(harness.agentDir, "sessions", saved ?? ""))
      })

    /** A worker that registers, once it has loaded its name; it has had a turn when Herdr's integration is to know it. */
    const joined = (sessionId: string, pane: string) =>
      Effect.gen(function*() {
        yield* model.request(
          `the coordinator has reloaded ${sessionId}`,
          (one) => one.session === coordinatorId && reloaded(one).includes(given.get(sessionId) ?? "")
        )
        const name = given.get(sessionId) ?? sessionId
        const worker: Worker = { name, sessionId, pane, pid: yield* pidOf(pane), pi: harness.pane(pane) }
        if (surroundings === "herdr with its Pi integration") {
          yield* worker.pi.type("hello")
          yield* worker.pi.shows("ECHO hello")
          yield* integrate(worker)
        }
        return worker
      })

    /** Has the coordinator open so many workers. */
    const openAll = (count: number) =>
      Effect.gen(function*() {
        const before = new Set((yield* agents).map(({ sessionId }) => sessionId))
        for (let left = count; left > 0; left -= 1) yield* coordinator.type("create worker")
        const fresh = yield* eventually(
          `${count} new workers in the team file`,
          Effect.map(agents, (all) => {
            const some = all.filter(({ sessionId }) => !before.has(sessionId))
            return some.length === count ? Option.some(some) : Option.none()
          }),
          coordinator.screen
        )
        return yield* Effect.forEach(fresh, ({ name, sessionId }) =>
          Effect.flatMap(
            eventually(
              `the tab of ${name}`,
              Effect.map(tmux.panes, (rows) => Option.fromNullable(rows.find((one) => one.window === name))),
              coordinator.screen
            ),
            ({ pane }) => joined(sessionId, pane)
          ))
      })

    const open = Effect.map(openAll(1), ([worker]) => worker ?? assert.fail("no worker"))

    /** A worker that a person starts from a shell, in a tab beside the others. */
    const openUnderShell = Effect.gen(function*() {
      if (herdr !== undefined) return yield* open
      const sessionId = randomUUID()
      const { argv, environment } = harness.command({ args: ["--session-id", sessionId] })
      const program = ["env", ...Object.entries(environment).map(([name, value]) => `${name}=${value}`), ...argv]
      const opened = yield* tmux.run([
        ...["new-window", "-t", `${session}:`, "-d", "-P", "-F", "#{pane_id}", "-c", harness.project, "--"],
        ...["sh", "-c", `"$@"; exec sleep 1000`, "sh", ...program]
      ])
      return yield* joined(sessionId, opened.trim())
    })

    const jobIdOf = (worker: Worker, before: Option.Option<string>) =>
      Effect.gen(function*() {
        const { job: { jobId } } = yield* eventually(
          `a job of ${worker.name}`,
          Effect.map(closingOf(worker), Option.filter(({ job }) => !Option.contains(before, job.jobId))),
          coordinator.screen
        )
        jobs.set(worker.pane, (jobs.get(worker.pane) ?? new Set()).add(jobId))
        return jobId
      })

    /** Asks the coordinator to close them at once, and answers the ids of the new jobs. */
    const closeAll = (some: ReadonlyArray<Worker>, seconds?: number) =>
      Effect.gen(function*() {
        const before = yield* Effect.forEach(
          some,
          (worker) => Effect.map(closingOf(worker), Option.map(({ job }) => job.jobId))
        )
        const all = some.map(({ name }) => name).join(",")
        yield* coordinator.type(`close ${all}${seconds === undefined ? "" : ` ${seconds}`}`)
        return yield* Effect.forEach(some, (worker, at) => jobIdOf(worker, before[at] ?? Option.none()))
      })

    /** Asks the coordinator to close it, and answers the id of the new job. */
    const close = (worker: Worker, seconds?: number) =>
      Effect.map(closeAll([worker], seconds), ([jobId]) => jobId ?? assert.fail("no job"))

    const kill = (pane: string, pid: number) =>
      Effect.suspend(() => {
        byTest.add(pane)
        // It may have ended by itself.
        return Effect.ignore(Effect.try(() => process.kill(pid, "SIGKILL")))
      })

    return {
      version,
      surroundings,
      harness,
      script,
      hook,
      ...trouble,
      ...reading,
      /** The coordinator's Pi that runs now. */
      coordinator: () => coordinator,
      open,
      openAll,
      openUnderShell,
      joined,
      integrate,
      close,
      closeAll,
      commands,
      /** Notes that one was closed, at once or once its process was proven gone. */
      closed: (atOnce: boolean) => Effect.sync(() => void (closed[atOnce ? "atOnce" : "later"] += 1)),
      /** Ends the Pi of a pane as the kernel does; a pane of tmux goes with its only program. */
      kill: (worker: Worker) => kill(worker.pane, worker.pid),
      /** Allows a pane to end: the test itself ends it, or its program. */
      ends: (pane: string) => Effect.sync(() => void byTest.add(pane)),
      /** The coordinator's Pi is killed. */
      killCoordinator: Effect.gen(function*() {
        yield* kill(coordinator.pane, yield* pidOf(coordinator.pane))
        yield* coordinator.gone
      }),
      /** A new Pi on the coordinator's saved session. */
      restartCoordinator: Effect.gen(function*() {
        coordinator = yield* startCoordinator(true)
        yield* coordinator.type("/intercom")
        yield* coordinator.shows(/Intercom:\s+coordinator\s+on\s+port/)
      }),
      pidOf
    }
  })

/** A team as its tests have it. */
export type CloseTeam = Effect.Effect.Success<ReturnType<typeof make>>
