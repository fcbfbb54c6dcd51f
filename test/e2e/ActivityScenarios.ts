import { assert, it } from "@effect/vitest"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as fs from "node:fs"
import * as path from "node:path"
import { names, recordsIn } from "../layers/ObservationLog/Place.ts"
import * as Canaries from "../support/Canaries.ts"
import { eventually, eventuallyTrue } from "../support/Eventually.ts"
import * as Gate from "../support/Gate.ts"
import type { HostVersion } from "../support/HostVersions.ts"
import * as PiHarness from "../support/PiHarness.ts"
import { type Answer, call, type Part, say, type Script, streamed } from "../support/ScriptedModel.ts"
import * as TeamScript from "../support/TeamScript.ts"

const coordinatorId = "coordinator-session"
const workerId = "worker-session"
const asking = path.resolve(import.meta.dirname, "../support/Asking.ts")

/** Bounds a hang on a machine that does much else; a quiet one needs seconds. */
const bound = 240_000
/** The next refresh begins 3 s after the last one ended (spec 8); the rest is for reading and drawing. */
export const oneRefresh = "5 seconds"

/** What a worker is seen to do: `observedStatus` and `lastActivity` (spec 7.4). */
type Words = readonly [status: string, lastActivity: string | null]

/** All that a worker can be seen to do, in the order in which it does it here. */
const all = {
  starting: ["working", null],
  thinking: ["thinking", "Thinking"],
  answering: ["working", "Writing response"],
  reading: ["working", "Reading files"],
  editing: ["working", "Editing files"],
  running: ["working", "Running command"],
  several: ["working", "Running multiple tools"],
  asking: ["waiting", "Waiting for you"],
  answered: ["working", "Using a tool"],
  settled: ["idle", "Writing response"]
} as const satisfies Readonly<Record<string, Words>>
type Step = keyof typeof all

/** Each takes a refresh to look at: these are what issue 6 names. */
export const named: ReadonlySet<string> = new Set<Step>([
  ...["thinking", "answering", "reading", "editing", "running", "asking", "settled"] as const
])
export const every: ReadonlySet<string> = new Set(Object.keys(all))

/** What is recorded of it, each change once (spec 3.6). This model's thoughts end, for Pi, only with its answer. */
const recorded = [
  ...["processing", "thinking", "responding", "processing", "reading_files", "processing", "editing_files"],
  ...["processing", "running_command", "processing", "reading_files", "multiple_tools", "one of them", "processing"],
  ...["using_tool", "waiting_for_user", "using_tool", "processing", "responding", "settled"]
]

const Status = Schema.parseJson(Schema.Struct({
  workers: Schema.Array(Schema.Struct({
    name: Schema.String,
    observedStatus: Schema.String,
    lastActivity: Schema.NullOr(Schema.String),
    evidence: Schema.String
  }))
}))

/** What may be in no file. */
const secret = {
  prompt: Canaries.make("the prompt"),
  thought: Canaries.make("a thought"),
  said: Canaries.make("an answer"),
  file: Canaries.make("the path of a file"),
  before: Canaries.make("what a file holds"),
  after: Canaries.make("what is written into it"),
  command: Canaries.make("a command"),
  question: Canaries.make("a question to the user"),
  reply: Canaries.make("the user's reply"),
  message: Canaries.make("a message of the coordinator"),
  last: Canaries.make("the last answer")
}
/** The command's result: in no file before it runs, and not in the command. */
const result: Canaries.Canary = {
  ...secret.after,
  what: "the result of a command",
  pieces: secret.after.pieces.map((piece) =>
    piece.replace(/[a-z]/g, (one) => one === "z" ? "a" : String.fromCharCode(one.charCodeAt(0) + 1))
  )
}
const secrets = [...Object.values(secret), result]
/** What the worker itself hands to Intercom, which saves it as its report. */
const summary = Canaries.make("the worker's own report")

const thinks = (canary: Canaries.Canary): ReadonlyArray<Part> => canary.pieces.map((thinks) => ({ thinks }))
const says = (canary: Canaries.Canary): ReadonlyArray<Part> => canary.pieces.map((says) => ({ says }))

/** The worker's turns after the prompt, each up to the gate. */
const turns = (hold: Effect.Effect<void>): ReadonlyArray<Answer> => {
  const file = `${secret.file.text}.md`
  const read = { name: "read", args: { path: file } }
  const command = `tr a-z b-za < '${file}' # ${secret.command.text}`
  const bash = { name: "bash", args: { command } }
  const edits = [{ oldText: secret.before.text, newText: secret.after.text }]
  const waits = { waits: hold }
  return [
    streamed([waits, ...thinks(secret.thought), waits, ...says(secret.said), waits], [read]),
    streamed([], [{ name: "edit", args: { path: file, edits } }]),
    streamed([], [bash]),
    streamed([], [read, bash]),
    streamed([], [{ name: "ask_user", args: { question: secret.question.text } }]),
    streamed(says(secret.last))
  ]
}

/** The coordinator's and the worker's model. */
const scripts = (hold: Effect.Effect<void>): Script => {
  const team = TeamScript.make(
    () => "Ada",
    (text) => /^look at \w+$/.test(text) ? [{ name: "intercom_worker_status", args: {} }] : []
  )
  const worker = turns(hold)
  return (request) => {
    if (request.session !== workerId) return team.script(request)
    const { lastRole, lastUser, messages } = request
    if (lastUser === "report") {
      const args = { status: "ready_for_review", summary: summary.text }
      return lastRole === "user" ? call("intercom_report_work", args) : say("reported")
    }
    const asked = messages.findIndex(({ text }) => text === secret.prompt.text)
    const turn = messages.slice(asked).filter(({ role }) => role === "assistant").length
    return asked < 0 || lastUser !== secret.prompt.text ? say("heard") : worker[turn] ?? say("too many turns")
  }
}

/**
 * A team of a coordinator with its monitor pane and a worker, which does everything while `looked` at. `within` bounds how
 * long the monitor takes to show a step, on a machine that is fast enough for it; without it only a hang is bounded.
 */
export const activity = (version: HostVersion, looked: ReadonlySet<string>, within?: Duration.DurationInput): void => {
  const when = within === undefined ? "" : " within one refresh"
  it.scopedLive(
    `is shown${when} in Pi ${version}, and nothing of its content is in any file`,
    () =>
      Effect.gen(function*() {
        const gate = yield* Gate.make
        const harness = yield* PiHarness.make(version, scripts(gate.hold))
        const coordinator = yield* harness.start({ sessionId: coordinatorId })
        yield* coordinator.type("/intercom start")
        yield* coordinator.shows("this session now coordinates the team")
        const worker = yield* harness.start({
          sessionId: workerId,
          extensions: [harness.entry, asking],
          environment: { GATE_URL: gate.url }
        })
        yield* worker.shows("• Ada")
        const file = path.join(harness.project, `${secret.file.text}.md`)
        fs.writeFileSync(file, secret.before.text)

        const panes = harness.tmux.run(["list-panes", "-t", coordinator.pane, "-F", "#{pane_id}"])
        const monitor = yield* eventually(
          "the monitor's pane",
          Effect.map(
            panes,
            (text) => Option.fromNullable(text.trim().split("\n").find((id) => id !== coordinator.pane))
          )
        )
        const frame = harness.tmux.run(["capture-pane", "-p", "-t", monitor])
        const seenFrame = Effect.orElseSucceed(frame, () => "no monitor")
        /** The words in the worker's row, as spec 8 has them. */
        const row = Effect.map(frame, (text) => {
          const [, status, last] = /^> Ada +\S+ +\S+ +(\S+) +\d+s ago +(\S.*?) *$/m.exec(text) ?? []
          return [status, last === "—" ? null : last]
        })
        const shown = ([status, last]: Words) =>
          eventually(
            `${status}, ${last} in the monitor`,
            Effect.map(row, (seen) => seen[0] === status && seen[1] === last ? Option.some(seen) : Option.none()),
            seenFrame,
            within
          )
        const told = (step: string) =>
          Effect.gen(function*() {
            yield* coordinator.type(`look at ${step}`)
            const { messages } = yield* harness.model.request(
              `worker_status of ${step}`,
              ({ lastRole, lastUser, session }) =>
                session === coordinatorId && lastRole === "tool" && lastUser === `look at ${step}`
            )
            return yield* Schema.decodeUnknown(Status)(messages.at(-1)?.text)
          })
        const texts: Array<string> = []
        const look = (step: Step) =>
          Effect.gen(function*() {
            if (!looked.has(step)) return
            const [{ workers }] = yield* Effect.all([told(step), shown(all[step])], { concurrency: 2 })
            const [observedStatus, lastActivity] = all[step]
            assert.deepStrictEqual(workers, [{ name: "Ada", observedStatus, lastActivity, evidence: "recent" }])
            texts.push(yield* frame, JSON.stringify(workers))
          })
        const at = (step: Step, held = 1) => Effect.zipRight(gate.reached(held), look(step))

        yield* worker.type(secret.prompt.text)
        for (const step of ["starting", "thinking", "answering", "reading", "editing", "running"] as const) {
          yield* at(step)
          yield* gate.open
        }
        yield* at("several", 2)
        yield* gate.open
        yield* worker.shows(secret.question.text)
        yield* look("asking")
        yield* harness.tmux.run(["send-keys", "-t", worker.pane, "-l", secret.reply.text])
        yield* worker.shows(secret.reply.text)
        yield* worker.keys("Enter")
        yield* at("answered")
        yield* gate.open
        yield* worker.shows(secret.last.text)
        yield* look("settled")
        const logs = path.join(harness.project, ".pi-intercom", "logs")
        const activities = () =>
          names(logs).flatMap((name) => recordsIn(path.join(logs, name)))
            .filter(({ event, sessionId }) => event === "host.activity" && sessionId === workerId)
            .map(({ detail }) => detail)
        yield* eventuallyTrue("the end of the run", Effect.sync(() => activities().at(-1) === "settled"))
        // Which of two tools ends first is not known.
        assert.deepStrictEqual(
          activities().map((detail, at) => recorded[at] === "one of them" ? recorded[at] : detail),
          recorded
        )

        yield* coordinator.type(`tell Ada: ${secret.message.text}`)
        yield* harness.model.request(
          "the message",
          ({ lastUser, session }) => session === workerId && lastUser.endsWith(secret.message.text)
        )
        yield* worker.shows("heard")
        yield* worker.type("report")
        yield* worker.shows("reported")
        yield* worker.type("/quit")
        yield* worker.gone
        const sessions = path.relative(harness.root, path.join(harness.agentDir, "sessions"))
        const inSessions = (name: string) => name.startsWith(`${sessions}/`)
        const ofUser = path.relative(harness.root, file)
        const { files, found } = Canaries.search(
          harness.root,
          [...secrets, summary],
          (name) => inSessions(name) || name === ofUser
        )
        const reports = found.filter(({ file }) => /^project\/\.pi-intercom\/reports\/[0-9a-f]{64}\.json$/.test(file))
        assert.deepStrictEqual([...new Set(reports.map(({ what }) => what))], [summary.what])
        assert.deepStrictEqual(found.filter((one) => !reports.includes(one)), [])
        for (
          const one of [/\.pi-intercom\/config\.json$/, /\/logs\/writer-.*\.closed$/, /\/pi-intercom\/.*\/secret$/]
        ) {
          assert.isTrue(files.some((name) => one.test(name)), `${one} was searched`)
        }
        // Pi's own files show that all of it was there to be found.
        const known = Canaries.search(path.join(harness.root, sessions), secrets).found
        assert.sameMembers([...new Set(known.map(({ what }) => what))], secrets.map(({ what }) => what))
        for (const text of texts) {
          for (const piece of [...secrets, summary].flatMap(({ pieces }) => pieces)) assert.notInclude(text, piece)
        }
      }),
    bound
  )
}
