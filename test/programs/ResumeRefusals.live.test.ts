import { assert, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { execFileSync } from "node:child_process"
import * as fs from "node:fs"
import { dirname, join } from "node:path"
import { eventuallyTrue } from "../support/Eventually.ts"
import { type HostVersion, hostVersions } from "../support/HostVersions.ts"
import * as Pane from "../support/member/Pane.ts"
import {
  assertLaunched,
  assertOnlyAsked,
  assertRefused,
  atOf,
  attemptsIn,
  changed,
  closedTeam,
  closeJob,
  command,
  Coordinator,
  editAgents,
  haltingTmux,
  held,
  keyOf,
  kill,
  launched,
  meddler,
  noHeader,
  notLaunched,
  otherAttempt,
  resume,
  setPort,
  stillOpen,
  tacticOf,
  type Team,
  unknownPane,
  unsaved
} from "../support/member/Team.ts"
import { isRunning } from "../support/Processes.ts"
import { lure, squatter, tactics } from "../support/Squatter.ts"

interface Row {
  readonly what: string
  readonly version?: HostVersion
  readonly environment?: Readonly<Record<string, string>>
  /** Makes it true. */
  readonly arrange: (team: Team) => void
  readonly says: (team: Team) => string
}

const header = (text: string) => ({ session }: Team): void => {
  const lines = fs.readFileSync(session, "utf8").split("\n")
  fs.writeFileSync(session, [text.replace("HEADER", lines[0] ?? ""), ...lines.slice(1)].join("\n"))
}

const sessions: ReadonlyArray<Row> = [
  {
    what: "a session that was never used: no file",
    arrange: ({ session }) => fs.rmSync(session),
    says: ({ session }) => unsaved(dirname(session))
  },
  {
    what: "a session of which Pi's settings say that it is kept elsewhere",
    arrange: ({ agentDir, base }) =>
      fs.writeFileSync(join(agentDir, "settings.json"), JSON.stringify({ sessionDir: join(base, "kept") })),
    says: ({ base }) => unsaved(join(base, "kept"))
  },
  {
    what: "a header with another id",
    arrange: header(`{"type":"session","id":"w-11","cwd":"/"}`),
    says: ({ session }) => noHeader(session)
  },
  { what: "an empty file", arrange: ({ session }) => fs.writeFileSync(session, ""), says: (t) => noHeader(t.session) },
  {
    what: "a link to the session",
    arrange: ({ base, session }) => {
      fs.renameSync(session, join(base, "moved.jsonl"))
      fs.symlinkSync(join(base, "moved.jsonl"), session)
    },
    says: ({ session }) => noHeader(session)
  },
  {
    what: "a pipe that nobody writes",
    arrange: ({ session }) => {
      fs.rmSync(session)
      execFileSync("mkfifo", [session])
    },
    says: ({ session }) => noHeader(session)
  },
  {
    what: "a folder",
    arrange: ({ session }) => {
      fs.rmSync(session)
      fs.mkdirSync(session)
    },
    says: ({ session }) => noHeader(session)
  }
]

const worksIn = (detail: string) => () => notLaunched(`Ada works in api, and the project directory ${detail}`)
const directories: ReadonlyArray<Row> = [
  {
    what: "gone",
    arrange: ({ directory }) => fs.rmSync(directory, { recursive: true }),
    says: worksIn("does not exist")
  },
  {
    what: "moved inside the root",
    arrange: ({ directory, root }) => fs.renameSync(directory, join(root, "web")),
    says: worksIn("does not exist")
  },
  {
    what: "a link to where it was moved, inside the root",
    arrange: ({ directory, root }) => {
      fs.renameSync(directory, join(root, "web"))
      fs.symlinkSync("web", directory)
    },
    says: () => notLaunched("Ada's directory api was replaced by a link and leads to web now")
  },
  {
    what: "a link to the root",
    arrange: ({ directory, root }) => {
      fs.rmSync(directory, { recursive: true })
      fs.symlinkSync(root, directory)
    },
    says: () => notLaunched("Ada's directory api was replaced by a link and leads to . now")
  },
  {
    what: "a link to where it was moved, outside the root",
    arrange: ({ base, directory }) => {
      fs.renameSync(directory, join(base, "web"))
      fs.symlinkSync(join(base, "web"), directory)
    },
    says: worksIn("is outside the team's root, where links lead to counted")
  },
  {
    what: "a link to nothing",
    arrange: ({ directory }) => {
      fs.rmSync(directory, { recursive: true })
      fs.symlinkSync("nothing", directory)
    },
    says: worksIn("does not exist")
  },
  {
    what: "a file",
    arrange: ({ directory }) => {
      fs.rmSync(directory, { recursive: true })
      fs.writeFileSync(directory, "")
    },
    says: worksIn("is not a folder")
  }
]

const copyIn = ({ base }: Team): string => {
  fs.mkdirSync(join(base, "copy/dist"), { recursive: true })
  const manifest = { name: "pi-intercom-effect", pi: { extensions: ["./dist/e.js"] } }
  fs.writeFileSync(join(base, "copy/package.json"), JSON.stringify(manifest))
  fs.writeFileSync(join(base, "copy/dist/e.js"), "export default () => undefined\n")
  return join(base, "copy")
}
const twoCopies = ({ base, entry }: Team) =>
  notLaunched(
    `Pi would load two copies of Intercom there, ${base}/copy/dist/e.js from its settings and this session's own ` +
      `${entry}, and end at once because both register the same tools; take one of them out of Pi's settings or folders`
  )
const copies: ReadonlyArray<Row> = hostVersions.flatMap((version) => [
  {
    what: `in the user's settings (Pi ${version})`,
    version,
    arrange: (team: Team) =>
      fs.writeFileSync(join(team.agentDir, "settings.json"), JSON.stringify({ packages: [copyIn(team)] })),
    says: twoCopies
  },
  {
    what: `in the settings of a trusted project (Pi ${version})`,
    version,
    arrange: (team: Team) => {
      copyIn(team)
      fs.writeFileSync(join(team.agentDir, "trust.json"), JSON.stringify({ [team.directory]: true }))
      fs.writeFileSync(join(team.directory, ".pi/settings.json"), JSON.stringify({ packages: ["../../../copy"] }))
    },
    says: twoCopies
  }
])

const ledgerUnusable = (detail: string, mend: string) => ({ ledger }: Team) =>
  `What Intercom keeps privately at ${ledger} cannot be used: ${detail}. ${mend}`
const records: ReadonlyArray<Row> = [
  {
    what: "an open resume of that worker, by another process of this session",
    arrange: ({ write }) => write({ ...otherAttempt, attempts: { "w-1": { at: "2025-11-02T10:15:30.000Z" } } }),
    says: () => stillOpen("Ada", "2025-11-02T10:15:30.000Z", unknownPane)
  },
  {
    what: "256 open resumes",
    arrange: ({ write }) => {
      const [at] = Object.values(otherAttempt.attempts)
      write({ ...otherAttempt, attempts: Object.fromEntries(Array.from({ length: 256 }, (_, n) => [`s-${n}`, at])) })
    },
    says: () =>
      "Nothing was started: 256 resumes are open already. /intercom names them; the person can settle one with " +
      "/intercom resolve."
  },
  {
    what: "a ledger that is none: what is open is not known",
    arrange: ({ ledger }) => fs.writeFileSync(ledger, "{}"),
    says: ledgerUnusable(
      "it is not a record of resumed and closing workers: version: is missing",
      "It was not changed. Once no worker is being resumed or closed, remove it: Intercom then makes a new one."
    )
  },
  {
    what: "a lock of the session that is not Intercom's",
    arrange: ({ lock }) => fs.writeFileSync(lock("w-1"), "mine", { mode: 0o600 }),
    says: ({ lock }) =>
      `Ada's saved session is locked by ${lock("w-1")}, which is not a lock of Intercom's, so nothing was done. ` +
      "Once no session of this team runs, remove that file and try again."
  },
  {
    what: "a lock of another machine's process",
    arrange: ({ lock }) => {
      const own = JSON.parse(fs.readFileSync(lock("c-1"), "utf8"))
      fs.writeFileSync(lock("w-1"), JSON.stringify({ ...own, machineId: "another", bootId: "another" }), {
        mode: 0o600
      })
    },
    says: ({ lock, pane }) =>
      `Ada's saved session may be in use by process ${pane.pid}, of which nothing can be told from here (lock file ` +
      `${lock("w-1")}), so nothing was done. Once you know that it has ended, remove that file and try again.`
  },
  {
    what: "the close fence",
    arrange: (team) => editAgents(team, ([, ada]) => Object.assign(ada ?? {}, { closeJob })),
    says: () =>
      "Ada is being closed or its close is unsettled, so nothing was done. Wait for the close notice, or let the person " +
      "run /intercom resolve."
  },
  {
    what: "a coordinator outside tmux",
    environment: { TMUX: "" },
    arrange: () => undefined,
    says: () =>
      notLaunched(
        "this session does not run inside tmux; start tmux and open this session in it, or choose the multiplexer that it runs in with intercom_set_multiplexer"
      )
  },
  {
    what: "a coordinator whose pane is gone",
    environment: { TMUX_PANE: "%999" },
    arrange: () => undefined,
    says: () => notLaunched("this session's tmux pane %999 is not there any more; open this session in a tmux pane")
  }
]

layer(Coordinator.layer, { excludeTestServices: true })("a resume for real (spec 5.5)", (it) => {
  for (const [of, rows] of Object.entries({ session: sessions, directory: directories, copy: copies, records })) {
    for (const { arrange, environment, says, version, what } of rows) {
      it.scoped(`refused: ${of}: ${what}`, () =>
        Effect.gen(function*() {
          const team = yield* closedTeam(version, environment)
          arrange(team)
          yield* assertRefused(team, says(team))
        }))
    }
  }

  it.scoped("refused: without the user's word, and for whom it is not meant", () =>
    Effect.gen(function*() {
      const team = yield* closedTeam()
      const unconfirmed =
        "Nothing was started: confirmClosed must be true, and may be only after the user has said that " +
        "the worker's old session is closed. Ask the user first."
      yield* assertRefused(team, unconfirmed, "Ada", false)
      yield* assertRefused(
        team,
        `Nobody in the team is called "Eve", so nothing was done. intercom_list gives the names.`,
        "Eve"
      )
      yield* assertRefused(
        team,
        "This is for workers and the target is the coordinator; nothing was done.",
        "Coordinator"
      )
    }))

  it.scoped("refused: while it answers and proves itself, hangs, or lives on without its endpoint; not once it is killed", () =>
    Effect.gen(function*() {
      const team = yield* closedTeam()
      const worker = yield* Pane.start(team.tmux, "worker")
      assert.deepInclude(yield* worker.ask(team.open("w-1")), { ok: true, text: "worker" })
      yield* eventuallyTrue(
        "its status",
        Effect.map(team.pane.ask({ _tag: "Shown" }), ({ text }) => text.includes("[Intercom status from Ada (w-1)]"))
      )
      const { text: port } = yield* worker.ask({ _tag: "Port" })
      const runs = `Nothing was started: Ada runs. Its session answers on port ${port} and proved to be itself; ` +
        "send it work, or ask the user to quit it first."
      yield* assertRefused(team, runs)
      worker.signal("SIGSTOP")
      yield* assertRefused(team, held(worker.pid, team))
      worker.signal("SIGCONT")
      yield* assertRefused(team, runs)
      yield* worker.ask({ _tag: "Stop" })
      yield* assertRefused(team, held(worker.pid, team))
      const stranger = yield* squatter(tacticOf("the right health, no proof"), "w-1", yield* keyOf(team))
      setPort(team, stranger.port)
      yield* assertRefused(team, held(worker.pid, team))
      assertOnlyAsked(stranger.heard, 1)
      worker.signal("SIGKILL")
      yield* eventuallyTrue("its end", Effect.sync(() => !isRunning(worker.pid)))
      yield* assertLaunched(team)
    }))

  const meanwhile: ReadonlyArray<
    readonly [what: string, meddle: (team: Team) => void, says: (team: Team) => string]
  > = [
    [
      "the entry changes",
      (team) => editAgents(team, ([, ada]) => Object.assign(ada ?? {}, { description: "x" })),
      changed
    ],
    ["the entry is removed", (team) => editAgents(team, (agents) => void agents.splice(1, 1)), changed],
    ["a close begins", (team) => editAgents(team, ([, ada]) => Object.assign(ada ?? {}, { closeJob })), changed],
    [
      "another session takes the team over",
      (team) => editAgents(team, ([coordinator]) => Object.assign(coordinator ?? {}, { sessionId: "c-2" })),
      () => "Nothing was started: this session does not coordinate the team any more. /intercom shows who does."
    ],
    [
      "the team file breaks",
      ({ edit }) => edit(() => "{"),
      ({ team }) =>
        `${team} cannot be used for a team: it is not valid JSON (it breaks off at line 1, column 2). Nothing was changed. Mend it and try again; a session that says it is inactive needs /reload.`
    ],
    [
      "the team file goes",
      ({ team }) => fs.rmSync(team),
      ({ team }) =>
        `The team file ${team} does not exist any more, so this session has no team. Nothing was done. ` +
        "Restore the file, or run /reload to begin without a team."
    ]
  ]
  for (const [what, meddle, says] of meanwhile) {
    it.scoped(`refused: during the checks ${what}`, () =>
      Effect.gen(function*() {
        const team = yield* closedTeam()
        let meddled = team.untouched()
        yield* meddler(team, () => {
          meddle(team)
          meddled = team.untouched()
        })
        assert.deepInclude(yield* resume(team.pane), { ok: false, text: says(team) })
        assert.deepStrictEqual(team.untouched(), meddled)
        assert.deepStrictEqual([team.records(), yield* launched(team.tmux)], [[], []])
      }))
  }

  it.scoped("starts that Pi on that file, there, with that environment; it ends with its pane", () =>
    Effect.gen(function*() {
      const team = yield* closedTeam()
      const before = team.untouched()
      const pane = yield* assertLaunched(team)
      const { argv, directory, environment } = yield* team.startedIn(pane)
      assert.deepStrictEqual([...argv], [team.pi, "-e", team.entry, "--session", team.session])
      assert.strictEqual(directory, team.directory)
      const ours = Object.entries(environment).filter(([name]) => /^(PI_|HERDR_|TMUX|PATH$)/.test(name))
      assert.deepStrictEqual(Object.fromEntries(ours), {
        PATH: team.environment.PATH,
        PI_CODING_AGENT_DIR: team.agentDir,
        PI_INTERCOM_ROOT: team.root,
        PI_INTERCOM_STATE_DIR: team.state,
        TMUX: environment["TMUX"] ?? "none",
        TMUX_PANE: pane
      })
      const { bootId, machineId, pidNamespace } = JSON.parse(fs.readFileSync(team.lock("c-1"), "utf8"))
      const { serverPid } = team.tmux
      const ticks = fs.readFileSync(`/proc/${serverPid}/stat`, "utf8").replace(/^.*\) /, "").split(" ")[19]
      const trace = `tmux tmux:${serverPid}:${ticks}:${bootId}:${machineId}:${pidNamespace} ${pane}`
      assert.deepStrictEqual(attemptsIn(team), {
        ...otherAttempt.attempts,
        "w-1": { at: atOf(team), pane: trace }
      })
      assert.deepStrictEqual({ ...team.untouched(), ledger: before.ledger }, before)
      yield* assertRefused(team, stillOpen("Ada", atOf(team), ` in tmux pane ${pane}`))

      yield* kill(team, pane)
      assert.include(yield* command(team.pane, ""), "Needs attention: the resume of another-id is open.")
      assert.deepStrictEqual(team.untouched(), before)
      assert.lengthOf(team.records(), 1)
    }))

  it.scoped("a Pi that ends before it announces itself leaves nothing open; a dead pane that is kept does", () =>
    Effect.gen(function*() {
      const team = yield* closedTeam()
      const ended = (pane: string) =>
        eventuallyTrue(
          `the end of ${pane}`,
          Effect.map(team.tmux.panes, (rows) => rows.every((row) => row.pane !== pane || row.dead))
        )
      team.flag("die", true)
      yield* Effect.flatMap(assertLaunched(team), ended)
      const again = yield* assertLaunched(team)
      yield* ended(again)

      yield* team.tmux.run(["set-option", "-g", "remain-on-exit", "on"])
      yield* Effect.addFinalizer(() => Effect.orDie(team.tmux.run(["set-option", "-gu", "remain-on-exit"])))
      const kept = yield* assertLaunched(team)
      yield* ended(kept)
      yield* assertRefused(team, stillOpen("Ada", atOf(team), ` in tmux pane ${kept}`))
      yield* kill(team, kept)
      team.flag("die", false)
      yield* team.startedIn(yield* assertLaunched(team))
      assert.lengthOf(team.records(), 4)
    }))

  it.scoped("whoever else answers on the worker's port, without proof: it is resumed, and they are told nothing", () =>
    Effect.gen(function*() {
      const team = yield* closedTeam()
      const key = yield* keyOf(team)
      for (const tactic of tactics.filter(({ holds, what }) => holds !== true || what === "silence")) {
        const stranger = yield* squatter(tactic, "w-1", key)
        setPort(team, stranger.port)
        const file = fs.readFileSync(team.team, "utf8")
        const { ok, text } = yield* resume(team.pane)
        assert.isTrue(ok, `${tactic.what}: ${text}`)
        assertOnlyAsked(stranger.heard, 1)
        assert.notInclude(text, lure)
        assert.strictEqual(fs.readFileSync(team.team, "utf8"), file)
        const panes = yield* launched(team.tmux)
        assert.lengthOf(panes, 1)
        yield* Effect.forEach(panes, (pane) => kill(team, pane))
      }
    }))

  it.scoped("20 calls at once open one pane", () =>
    Effect.gen(function*() {
      const team = yield* closedTeam()
      const answers = yield* Effect.all(Array.from({ length: 20 }, () => resume(team.pane)), {
        concurrency: "unbounded"
      })
      const [pane = "none", ...more] = yield* launched(team.tmux)
      assert.deepStrictEqual(more, [])
      yield* team.startedIn(pane)
      assert.lengthOf(team.records(), 1)
      assert.lengthOf(answers.filter(({ ok }) => ok), 1)
      const others = answers.filter(({ ok }) => !ok).map(({ text }) => text)
      assert.deepStrictEqual(
        others,
        Array.from({ length: 19 }, () => stillOpen("Ada", atOf(team), ` in tmux pane ${pane}`))
      )
      assert.deepStrictEqual(Object.keys(attemptsIn(team)), ["another-id", "w-1"])
    }))

  it.scoped("outlives its coordinator's kill -9, also one in the middle of the launch", () =>
    Effect.gen(function*() {
      const first = yield* closedTeam()
      // That one ends: another process coordinates this team, with a tmux that can be stopped half-way.
      yield* first.pane.ask({ _tag: "Save", id: "w-2", directory: first.directory })
      yield* first.pane.ask({ _tag: "Close" })
      const stopping = { PATH: `${haltingTmux(first)}:${first.environment.PATH}` }
      const before = yield* Pane.start(first.tmux, "before")
      assert.deepInclude(yield* before.ask(first.open("c-1", stopping)), { ok: true, text: "coordinator" })
      const ada = yield* assertLaunched(first, "Ada", before)
      first.flag("halt", true)
      yield* Effect.forkScoped(resume(before, "Ben"))
      yield* eventuallyTrue("Ben's pane", Effect.sync(() => fs.existsSync(join(first.base, "halted"))))
      before.signal("SIGKILL")
      yield* eventuallyTrue("its end", Effect.sync(() => !isRunning(before.pid)))
      assert.lengthOf(yield* launched(first.tmux), 2)

      first.flag("halt", false)
      const after = yield* Pane.start(first.tmux, "after")
      const team = { ...first, pane: after }
      assert.deepInclude(yield* after.ask(team.open("c-1")), { ok: true, text: "coordinator" })
      assert.include(yield* command(after, ""), "Needs attention: the resume of another-id, Ada, Ben is open.")
      assert.deepStrictEqual(Object.keys(attemptsIn(team)["w-2"] ?? {}), ["at"])
      yield* assertRefused(team, stillOpen("Ada", atOf(team), ` in tmux pane ${ada}`))
      yield* assertRefused(team, stillOpen("Ben", atOf(team, "w-2"), unknownPane), "Ben")

      const [ben = "none"] = (yield* launched(team.tmux)).filter((pane) => pane !== ada)
      yield* team.startedIn(ben)
      yield* kill(team, ada)
      yield* kill(team, ben)
      yield* team.startedIn(yield* assertLaunched(team))
      // Nobody knows which pane it was, so only a person can say.
      yield* assertRefused(team, stillOpen("Ben", atOf(team, "w-2"), unknownPane), "Ben")
      assert.strictEqual(
        yield* command(after, "resolve Ben", true),
        "Recorded: the Pi of that resume is closed. Ben can be resumed again."
      )
      yield* assertLaunched(team, "Ben")
    }))
})
