import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import { execFile } from "node:child_process"
import * as path from "node:path"
import { encodeConfig } from "../../src/domain/TeamConfig.ts"
import { configOf, coordinator, places, publish } from "../fire/Place.ts"
import { disk } from "../layers/Config/Disk.ts"
import { coordinatorId, first, session } from "../layers/Config/Sessions.ts"
import { findings } from "../support/config-witness/Public.ts"
import * as Records from "../support/config-witness/Records.ts"
import { witness } from "../support/config-witness/Witnessed.ts"
import * as Fleet from "../support/fire/Fleet.ts"
import { Update } from "../support/fire/Orders.ts"
import { temporaryFolder } from "../support/TempFolder.ts"

/** Notes elsewhere what is published until the scope ends: it is meant to be found. Answers what has been so far. */
const apart = Effect.gen(function*() {
  const folder = yield* temporaryFolder
  yield* Effect.acquireRelease(Effect.sync(() => witness(folder)), (forget) => Effect.sync(forget))
  return () => Records.read(folder)
})

/** Bounds a hang on a machine that does much else; a quiet one needs seconds. */
const bound = 300_000

/** What a Node of its own says, and how it exits; nothing of this run is in its environment. */
const runOf = (args: ReadonlyArray<string>) =>
  Effect.async<{ readonly code: number | null; readonly out: string }>((resume) => {
    const env = { PATH: process.env["PATH"], HOME: process.env["HOME"], NO_COLOR: "1" }
    const child = execFile(
      process.execPath,
      args,
      { env },
      (_, stdout, stderr) => resume(Effect.succeed({ code: child.exitCode, out: `${stdout}${stderr}` }))
    )
    return Effect.sync(() => void child.kill())
  })

const job = { jobId: "j", state: "closing", createdAt: "1", updatedAt: "1", deadlineAt: "1" }
const worker = {
  sessionId: "w",
  name: "Ada",
  coordinator: false,
  description: "Helps.",
  port: 4711,
  projectDirectory: ".",
  handoff: { version: 1, jobId: "j", summary: "Done.", updatedAt: "1" },
  closeJob: job
}
const text = (agent: object, file: object = {}) =>
  JSON.stringify({ version: 1, multiplexer: "tmux", agents: [agent], ...file })

describe("what a team file may say", () => {
  it("every field of the specification, and those of another version, whatever else they say", () => {
    assert.deepStrictEqual(
      findings(
        text({ ...worker, dashboardPort: 4712, "x-color": 7, "x-made": { by: ["them", true] } }, { "x-theirs": "y" })
      ),
      []
    )
  })

  for (
    const [what, agent, found] of [
      ["a pane", { ...worker, pane: "here" }, "agent \"w\".pane: \"here\""],
      ["a pid", { ...worker, pid: 4711 }, "agent \"w\".pid: 4711"],
      ["a start", { ...worker, closeJob: { ...job, startTicks: "9" } }, "agent \"w\".closeJob.startTicks: \"9\""],
      ["a number for a name", { ...worker, name: 4711 }, "agent \"w\".name: 4711"],
      ["tmux's pane in a text", { ...worker, description: "in %12" }, "agent \"w\".description: \"in %12\""],
      ["Herdr's pane", { ...worker, "x-at": "w1:p2" }, "agent \"w\".x-at: \"w1:p2\""],
      ["a tty", { ...worker, "x-at": ["/dev/pts/3"] }, "agent \"w\".x-at: [\"/dev/pts/3\"]"],
      [
        "an object for a name",
        { ...worker, name: { pane: "here", pid: 1 } },
        "agent \"w\".name: {\"pane\":\"here\",\"pid\":1}"
      ],
      ["a list for a text", { ...worker, description: ["here"] }, "agent \"w\".description: [\"here\"]"],
      ["a list for a handoff", { ...worker, handoff: ["here"] }, "agent \"w\".handoff: [\"here\"]"],
      ["a text for a close", { ...worker, closeJob: "here" }, "agent \"w\".closeJob: \"here\""],
      ["a list for a state", { ...worker, closeJob: { ...job, state: [1] } }, "agent \"w\".closeJob.state: [1]"],
      ["a pid of another version", { ...worker, "x-pid": 4711 }, "agent \"w\".x-pid: 4711"],
      ["one within something", { ...worker, "x-at": [{ pid: 4711 }] }, "agent \"w\".x-at: [{\"pid\":4711}]"],
      ["a tty in a key", { ...worker, "x-at": { "/dev/pts/3": true } }, "agent \"w\".x-at: {\"/dev/pts/3\":true}"],
      [
        "a saved session",
        { ...worker, handoff: { ...worker.handoff, summary: "in /a/b.jsonl" } },
        "agent \"w\".handoff.summary: \"in /a/b.jsonl\""
      ]
    ] as const
  ) {
    it(`not ${what}`, () => assert.deepStrictEqual(findings(text(agent)), [found]))
  }

  it("not anything else for the agents, or for one of them", () => {
    const agents = (value: unknown) => findings(text(worker, { agents: value }))
    assert.deepStrictEqual(agents({ pane: "here" }), ["file.agents: {\"pane\":\"here\"}"])
    assert.deepStrictEqual(agents([worker, ["here"], 1]), ["agent: [\"here\"]", "agent: 1"])
  })

  it("what a person put there is theirs while it stays as it is", () => {
    const judged = (before: string | undefined, after: string) =>
      Records.judge([{ program: "pi", pid: 1, before, after }])
    const theirs = text({ ...worker, pid: 1 })
    assert.deepStrictEqual(judged(theirs, text({ ...worker, pid: 1, name: "Ben" })), [])
    assert.deepStrictEqual(judged(undefined, theirs), ["pi (1) published agent \"w\".pid: 1"])
    assert.deepStrictEqual(judged(theirs, text({ ...worker, pid: 2 })), ["pi (1) published agent \"w\".pid: 2"])
    assert.deepStrictEqual(judged("{", theirs), ["pi (1) published agent \"w\".pid: 1"])
  })
})

describe("the witness of every team file that is published", () => {
  it.scopedLive("sees this process: the first publication, each update, and what a person wrote is not ours", () =>
    Effect.gen(function*() {
      const place = yield* disk
      const { store } = yield* session(place.layer)
      const own = yield* apart
      yield* store.publish(place.root, first(), Effect.void)
      yield* store.update(place.root, coordinatorId, Effect.void, (config) => Either.right({ ...config, pane: "%3" }))
      yield* place.write(encodeConfig({ ...first(), pid: 4711 }))
      yield* store.update(place.root, coordinatorId, Effect.void, (config) => Either.right({ ...config, tty: "none" }))
      assert.deepStrictEqual(own().map(({ after, before }) => [before === undefined, JSON.parse(after).pane]), [
        [true, undefined],
        [false, "%3"],
        [false, undefined]
      ])
      const problems = Records.judge(own()).map((one) => one.replace(/^.* published /, ""))
      assert.deepStrictEqual(problems, ["file.pane: \"%3\"", "file.tty: \"none\""])
    }))

  it.scopedLive("sees a child with an environment of its own", () =>
    Effect.gen(function*() {
      const own = yield* apart
      const child = yield* Fleet.start
      const place = (yield* places)()
      publish(place)
      yield* child.ask(place.open)
      yield* child.ask(new Update({ caller: coordinator, key: "pid", value: child.pid }))
      assert.strictEqual(Reflect.get(configOf(place), "pid"), child.pid)
      assert.deepStrictEqual(Records.judge(own()), [
        `child.cjs (${child.pid}) published file.pid: ${child.pid}`
      ])
    }), bound)

  it.live(
    "fails a run in which a test publishes what it must not, and names the test's file and the field",
    () =>
      Effect.gen(function*() {
        const root = path.resolve(import.meta.dirname, "../..")
        const config = path.join(import.meta.dirname, "../support/config-witness/fixture/vitest.config.ts")
        const run = yield* runOf(
          [path.join(root, "node_modules/vitest/vitest.mjs"), "run", "--root", root, "--config", config]
        )
        assert.strictEqual(run.code, 1, run.out)
        assert.include(run.out, "test/support/config-witness/fixture/Leak.ts: a team file is not public\n")
        assert.include(run.out, " published file.pane: \"%3\"\n")
        assert.match(run.out, /Tests +1 passed/)
      }),
    bound
  )
})
