import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Scope from "effect/Scope"
import { emptyLedger, maxAttempts } from "../../src/domain/Ledger.ts"
import { attemptIn, change, closedAda, refused, resume } from "../support/ResumeSteps.ts"
import { during, makeTeam, portOf, settle } from "../support/TeamSteps.ts"

describe("intercom_resume_worker (spec 5.5)", () => {
  it.scoped("opens the saved session by its file in the worker's directory; it comes back as itself", () =>
    Effect.gen(function*() {
      const { coordinator, machine } = yield* closedAda
      const before = machine.world.files.get("/work")
      const text = yield* resume(coordinator)
      assert.deepStrictEqual(JSON.parse(text), {
        submitted: true,
        name: "Ada",
        multiplexer: "tmux",
        tab: "@1",
        pane: "%1",
        projectDirectory: "api",
        registrationAwaited: false,
        note:
          "No work was assigned. Its status arrives by itself once it runs; if none does, look at that tab: Pi may be " +
          "asking the person whether to trust the folder. If the tab is gone, Pi ended at once."
      })
      assert.deepStrictEqual(machine.terminals.launches, [{
        root: "/work",
        argv: ["pi", "-e", "/extension.js", "--session", "/saved/work/api/ada-id.jsonl"],
        directory: "/work/api",
        environment: { PATH: "/bin", PI_INTERCOM_ROOT: "/work", PI_INTERCOM_STATE_DIR: "/state" }
      }])
      assert.strictEqual(attemptIn(machine)?.pane, "tmux tmux:1:1 %1")
      assert.strictEqual(machine.world.files.get("/work"), before)

      const back = yield* machine.open("ada-id", "/work/api")
      yield* settle
      assert.strictEqual(back.host.name, "Ada")
      assert.match(Option.getOrThrow(yield* back.section), /You are Ada \(session ada-id\)\. Responsibility: Ada does/)
      assert.deepStrictEqual(back.host.texts, [])
      assert.match(coordinator.host.texts.at(-1) ?? "", /^\[Intercom status from Ada \(ada-id\)\]/)
      assert.isUndefined(attemptIn(machine))
      yield* coordinator.tool("intercom_send", { to: "Ada", message: "go on" })
      assert.strictEqual(back.host.texts.at(-1), "[Intercom message from Coordinator (coordinator-id)]\ngo on")
    }))

  it.scoped("20 calls at once submit one launch", () =>
    Effect.gen(function*() {
      const { coordinator, machine } = yield* closedAda
      const calls = Array.from({ length: 20 }, () => Effect.either(resume(coordinator)))
      const results = yield* during(Effect.all(calls, { concurrency: "unbounded" }))
      assert.strictEqual(results.filter(Either.isRight).length, 1)
      assert.strictEqual(machine.terminals.launches.length, 1)
      for (const one of results.filter(Either.isLeft)) {
        assert.match(one.left.message, /earlier resume of Ada is still open/)
      }
    }))

  it.scoped("20 calls at once submit one launch, however fast the worker is back", () =>
    Effect.gen(function*() {
      const { coordinator, machine } = yield* closedAda
      const scope = yield* Effect.scope
      machine.terminals.during.do = Effect.asVoid(
        Effect.zipRight(machine.open("ada-id", "/work/api"), Effect.sleep("2 seconds"))
      ).pipe(Scope.extend(scope))
      const calls = Array.from({ length: 20 }, () => Effect.either(resume(coordinator)))
      const results = yield* during(Effect.all(calls, { concurrency: "unbounded" }))
      assert.strictEqual(results.filter(Either.isRight).length, 1)
      assert.strictEqual(machine.terminals.launches.length, 1)
      assert.isUndefined(attemptIn(machine))
      for (const one of results.filter(Either.isLeft)) assert.match(one.left.message, /Ada runs\. Its session answers/)
    }))
})

describe("what intercom_resume_worker refuses, with nothing started (spec 5.5)", () => {
  it.scoped("before the user has said that the old session is closed", () =>
    Effect.gen(function*() {
      const { coordinator, machine } = yield* closedAda
      const text = yield* refused(machine, coordinator, { confirmClosed: false })
      assert.match(text, /^Nothing was started: confirmClosed must be true.*Ask the user first\.$/)
    }))

  it.scoped("for anybody but the coordinator, an unknown name, the coordinator", () =>
    Effect.gen(function*() {
      const { ben, coordinator, machine } = yield* closedAda
      assert.match(yield* refused(machine, ben), /^Only the team's coordinator/)
      assert.match(yield* refused(machine, coordinator, { to: "Eve" }), /^Nobody in the team is called "Eve"/)
      assert.match(yield* refused(machine, coordinator, { to: "Coordinator" }), /the target is the coordinator/)
    }))

  it.scoped("under the close fence", () =>
    Effect.gen(function*() {
      const { coordinator, machine } = yield* closedAda
      const at = "2999-01-01T00:00:00Z"
      const closeJob = { jobId: "j", state: "uncertain", createdAt: at, updatedAt: at, deadlineAt: at }
      yield* change(machine, (text) =>
        text.replace(`"sessionId": "ada-id"`, `"sessionId": "ada-id", "closeJob": ${JSON.stringify(closeJob)}`))
      assert.match(yield* refused(machine, coordinator), /^Ada is being closed or its close is unsettled/)
    }))

  it.scoped("while it runs; also while another process has its session, whoever answers on its port", () =>
    Effect.gen(function*() {
      const { coordinator, machine, workers: [ada = coordinator] } = yield* makeTeam("Ada")
      machine.pi.saved.add("ada-id")
      const { port } = yield* portOf(ada)
      assert.match(
        yield* refused(machine, coordinator),
        new RegExp(`^Nothing was started: Ada runs\\. .*port ${port} `)
      )
      // Its listener is gone, its process is not.
      yield* ada.stop
      const held = new RegExp(`^Ada's saved session is in use by process ${ada.pid} .*Close that session`)
      assert.match(yield* refused(machine, coordinator), held)
      machine.network.squat(port)
      assert.match(yield* refused(machine, coordinator), held)
      machine.locks.hide(ada.pid)
      assert.match(yield* refused(machine, coordinator), /^Ada's saved session may be in use by process/)
    }))

  it.scoped("but not because a squatter answers, or a killed process left its lock", () =>
    Effect.gen(function*() {
      const { coordinator, machine, workers: [ada = coordinator] } = yield* makeTeam("Ada")
      machine.pi.saved.add("ada-id")
      machine.network.squat((yield* portOf(ada)).port)
      yield* machine.kill(ada)
      yield* resume(coordinator)
      assert.strictEqual(machine.terminals.launches.length, 1)
    }))

  it.scoped("without a saved session, a directory, or with another copy there", () =>
    Effect.gen(function*() {
      const { coordinator, machine } = yield* closedAda
      machine.pi.saved.clear()
      assert.strictEqual(
        yield* refused(machine, coordinator),
        "Nothing was started: that worker's session is not saved."
      )
      machine.pi.saved.add("ada-id")
      machine.pi.copies.in = "/work/api"
      assert.match(yield* refused(machine, coordinator), /two copies of Intercom\. No tab was opened\.$/)
      machine.pi.copies.in = undefined
      machine.world.folders.set("/work/api", "/work/web")
      assert.strictEqual(
        yield* refused(machine, coordinator),
        "The worker was not launched: Ada's directory api was replaced by a link and leads to web now. No tab was opened."
      )
      machine.world.folders.set("/work/api", "/elsewhere")
      assert.match(yield* refused(machine, coordinator), /Ada works in api, and the project directory is outside/)
      machine.world.folders.delete("/work/api")
      assert.match(yield* refused(machine, coordinator), /Ada works in api, and the project directory does not exist/)
    }))

  const edits: ReadonlyArray<readonly [string, (text: string) => string, RegExp]> = [
    [
      "the entry changed",
      (text) => text.replace("Ada does things.", "Ada does more."),
      /entry in the team file changed/
    ],
    ["the entry was removed", (text) => {
      const config = JSON.parse(text)
      config.agents = config.agents.filter(({ name }: { name: string }) => name !== "Ada")
      return JSON.stringify(config)
    }, /entry in the team file changed/],
    [
      "another session took the team over",
      (text) => text.replace(`"sessionId": "coordinator-id"`, `"sessionId": "another-id"`),
      /does not coordinate the team any more/
    ],
    ["the team file was broken", () => "{", /cannot be used for a team/]
  ]
  for (const [what, edit, sentence] of edits) {
    it.scoped(`${what} during the checks`, () =>
      Effect.gen(function*() {
        const { coordinator, machine } = yield* closedAda
        // The last check before the launch is recorded.
        machine.pi.checking.do = change(machine, edit)
        const error = yield* Effect.flip(resume(coordinator))
        assert.match(error.message, sentence)
        assert.deepStrictEqual(machine.terminals.launches, [])
        assert.isUndefined(attemptIn(machine))
      }))
  }

  it.scoped("its directory was replaced during the checks", () =>
    Effect.gen(function*() {
      const { coordinator, machine } = yield* closedAda
      machine.pi.checking.do = Effect.sync(() => void machine.world.folders.set("/work/api", "/work/web"))
      const error = yield* Effect.flip(resume(coordinator))
      assert.match(error.message, /Ada's directory api was replaced by a link and leads to web now\. No tab was opened/)
      assert.deepStrictEqual(machine.terminals.launches, [])
      assert.isUndefined(attemptIn(machine))
    }))

  it.scoped("while 256 resumes are open", () =>
    Effect.gen(function*() {
      const { coordinator, machine } = yield* closedAda
      const at = "2025-11-02T10:15:30Z"
      const attempts = Object.fromEntries(Array.from({ length: maxAttempts }, (_, index) => [`s-${index}`, { at }]))
      machine.ledgers.set("/work", { ...emptyLedger, attempts })
      assert.match(yield* refused(machine, coordinator), /^Nothing was started: 256 resumes are open already/)
    }))
})
