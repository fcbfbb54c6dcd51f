/** One deliberate breakage of the product, as replacements of its text; each text must be there exactly once. */
export interface Mutant {
  readonly name: string
  readonly file: string
  readonly change: ReadonlyArray<readonly [find: string, put: string]>
  /** The test files that look at this place, where the model has no part of it. */
  readonly tests?: ReadonlyArray<string>
}

const job = "src/programs/close/Job.ts"
const jobs = "src/programs/close/CloseJobs.ts"
const own = "src/programs/close/OwnClose.ts"
const pane = "src/programs/close/Pane.ts"
const orphans = "src/programs/close/Orphans.ts"
const conversation = "src/domain/CloseConversation.ts"
const changes = "src/domain/CloseChanges.ts"
const table = "src/domain/CloseTable.ts"

const closing = "const closing = yield* yield* move(progress, { state: \"closing\" })"
const second = "const pane = yield* yield* verify(closing, identity, false)"
const commit = "yield* send(\"close_commit\", readyNonce, instanceId)"
const close = "closePane({ deadline, fence: guard, multiplexer, pane, identity })"

/** What must be caught (issue 5): by the model, or by the tests that are named. */
export const mutants: ReadonlyArray<Mutant> = [
  {
    name: "skip the header check",
    file: job,
    change: [["if (header === \"wrong\" || (header === \"absent\" && !first)) {", "if (header === undefined) {"]]
  },
  {
    name: "take an old report for a repeat",
    file: conversation,
    change: [["if (report === state.report) return repeat", "if (report <= state.report) return repeat"]],
    tests: ["test/domain/CloseConversation.test.ts"]
  },
  {
    name: "verify only once",
    file: job,
    change: [
      ["yield* yield* verify(progress, identity, true)", "const seen = yield* yield* verify(progress, identity, true)"],
      ["{ state: \"awaiting_handoff\" }, { identity })", "{ state: \"awaiting_handoff\" }, { identity, seen })"],
      [second, "const pane = progress.seen"]
    ]
  },
  {
    name: "commit before closing is saved",
    file: job,
    change: [[commit, ""], [closing, `${commit}\n      ${closing}`]]
  },
  {
    name: "command before the commit",
    file: job,
    change: [[
      commit,
      `return yield* Effect.flatMap(${close}, (to) => Effect.fail(to === "left" ? to : end(closing, to)))`
    ]]
  },
  {
    name: "ignore the epoch at the commit",
    file: own,
    change: [["if ((yield* work.busy) || (yield* work.epoch) !== saved.epoch) {", "if (yield* work.busy) {"]]
  },
  {
    name: "ignore the epoch when it settles",
    file: own,
    change: [
      ["if ((yield* work.epoch) !== saved.epoch || !(yield*", "if (!(yield*"],
      ["if ((yield* work.epoch) !== saved.epoch) return", ""],
      ["|| saved.epoch === (yield* work.epoch)) return", "|| true) return"]
    ]
  },
  {
    name: "announce while busy",
    file: own,
    change: [["Effect.repeat({ while: () => work.busy }), Effect.whenEffect(work.busy)", "Effect.when(() => false)"]]
  },
  {
    name: "announce without a successful result",
    file: own,
    change: [[" || !(yield* work.succeeded(saved.callId))) return", ") return"]]
  },
  {
    name: "accept a second nonce",
    file: conversation,
    change: [["return readyNonce === state.readyNonce", "return readyNonce !== \"\""]],
    tests: ["test/domain/CloseConversation.test.ts"]
  },
  {
    name: "forget the deadline in the last look",
    file: pane,
    change: [["if (yield* deadline.passed) return yield* new TooLate()", ""]]
  },
  {
    name: "forget the deadline of the job",
    file: job,
    change: [["Effect.zipRight(deadline.reached, Queue.offer(inbox, { _tag: \"Deadline\" }))", "Effect.void"]]
  },
  {
    name: "lift the uncertain fence",
    file: table,
    change: [["(job.state === \"uncertain\" ||", "(false ||"]]
  },
  {
    name: "settle it by another process's proof",
    file: orphans,
    change: [["ProcessIdentity).look(process)", "ProcessIdentity).look({ ...process, pid: 7700999 })"]]
  },
  {
    name: "settle what was closing as if nothing had happened",
    file: changes,
    change: [["job.state === \"closing\" || named ? \"uncertain\" : \"interrupted\"", "\"interrupted\""]]
  },
  {
    name: "replay after a restart",
    file: jobs,
    change: [[
      "import * as Clock from \"effect/Clock\"",
      "import * as Clock from \"effect/Clock\"\nimport * as Either from \"effect/Either\""
    ], [
      "const settled = yield* settle(root, undefined)",
      "const file = yield* store.update(root, scope.sessionId, scope.guard, (config) => Either.right(config))\n" +
      "            for (const agent of file.agents) {\n" +
      "              const job = agent.closeJob\n" +
      "              if (job === undefined || isFinal(job.state) || job.state === \"uncertain\") continue\n" +
      "              const running = { root, worker: agent, job, deadline: yield* makeDeadline(Date.parse(job.deadlineAt)),\n" +
      "                multiplexer: Option.getOrThrow(multiplexers.own), inbox: yield* Queue.unbounded<Item>() }\n" +
      "              held.set(agent.sessionId, { _tag: \"Running\", running })\n" +
      "              yield* scope.fork(Effect.interruptible(run(running)))\n" +
      "            }\n" +
      "            const settled = yield* settle(root, undefined)"
    ]]
  },
  {
    name: "close twice",
    file: job,
    change: [[close, `Effect.zipRight(${close}, ${close})`]]
  },
  {
    name: "compare the pid without start ticks",
    file: pane,
    change: [["facts.startTicks !== identity.processStart || ", ""]]
  },
  {
    name: "judge a process without start ticks",
    file: "src/domain/IdentifiedProcess.ts",
    change: [["seen.startTicks !== process.startTicks || ", ""]],
    tests: ["test/layers/ProcessIdentity/Procfs.live.test.ts"]
  },
  {
    name: "overwrite a final state",
    file: changes,
    change: [
      [" || !from.includes(job.state)) {", ") {"],
      ["if (!mayBecome(job.state, to.state)) {", "if (job.jobId !== jobId) {"]
    ],
    tests: ["test/domain/CloseChanges.test.ts"]
  },
  {
    name: "write whatever job the entry carries",
    file: changes,
    change: [[" || job.jobId !== jobId || !from", " || !from"]],
    tests: ["test/domain/CloseChanges.test.ts"]
  },
  {
    name: "answer the report before saving it",
    file: job,
    change: [[
      "return yield* report(next, message.payload).pipe(",
      "yield* accepted\n          return yield* report(next, message.payload).pipe("
    ]]
  },
  {
    name: "drop a message because the job is busy",
    file: jobs,
    change: [[
      "one.running.inbox.unsafeOffer(",
      "if (Option.getOrElse(one.running.inbox.unsafeSize(), () => 0) >= 0) return yield* Effect.fail(over)\n" +
      "            one.running.inbox.unsafeOffer("
    ]]
  },
  {
    name: "no name in the ledger before closing",
    file: job,
    change: [["ledger.change(root, addJob(jobId, process))", "Effect.void"]]
  },
  {
    name: "go on announcing in a new epoch",
    file: own,
    change: [["withoutReport(job.value)))\n        yield* FiberHandle.clear(sending)", "withoutReport(job.value)))"]]
  },
  {
    name: "tell the model at every repeat of the request",
    file: own,
    change: [["if (job.value.asked) return yield* commit(Effect.void)", ""]]
  },
  {
    name: "kill-pane without the compare",
    file: "src/domain/TmuxClosing.ts",
    change: [["{==:#{pane_pid},${firstPid}}", "{==:1,1}"]],
    tests: ["test/domain/TmuxClosing.test.ts"]
  },
  {
    name: "a 17th close",
    file: table,
    change: [["maxPending = 16", "maxPending = 17"]],
    tests: ["test/domain/CloseTable.test.ts"]
  }
]
