import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { lockOf } from "../../domain/ConfigErrors.ts"
import { LaunchFailed, mayHaveStarted } from "../../domain/Launch.ts"
import { addAttempt, type Attempt, attemptOf, maxAttempts, tracePane } from "../../domain/Ledger.ts"
import { Refused } from "../../domain/SessionErrors.ts"
import { type Agent, agentBySession } from "../../domain/TeamConfig.ts"
import type { ToolArguments } from "../../domain/ToolCatalogue.ts"
import { result } from "../../domain/ToolResult.ts"
import { HostProgram } from "../../services/HostProgram.ts"
import { IntercomClient } from "../../services/IntercomClient.ts"
import { OwnedLock } from "../../services/OwnedLock.ts"
import { ProcessLedger } from "../../services/ProcessLedger.ts"
import { ProjectDirectories } from "../../services/ProjectDirectories.ts"
import { SavedSessions } from "../../services/SavedSessions.ts"
import { openAttempt, Resuming, settle, submitted } from "../Attempts.ts"
import { launchPi } from "../LaunchPi.ts"
import type { Member } from "../Membership.ts"
import { enterTeam } from "../Team.ts"
import { findTarget } from "./Target.ts"

const tool = "intercom_resume_worker"

const unconfirmed = new Refused({
  reason: "invalid",
  sentence:
    "Nothing was started: confirmClosed must be true, and may be only after the user has said that the worker's " +
    "old session is closed. Ask the user first."
})

const stillOpen = ({ name }: Agent, attempt: Attempt) =>
  new Refused({
    reason: "busy",
    sentence:
      `Nothing was started: an earlier resume of ${name} is still open; it ${submitted(attempt)}. Its Pi may be ` +
      "starting, or asking the person something in its tab: look there. If that Pi is closed, the person can run " +
      `/intercom resolve ${name}.`
  })

const full = new Refused({
  reason: "busy",
  sentence:
    `Nothing was started: ${maxAttempts} resumes are open already. /intercom names them; the person can settle ` +
    "one with /intercom resolve."
})

const runs = ({ name, port }: Agent) =>
  new Refused({
    reason: "running",
    sentence:
      `Nothing was started: ${name} runs. Its session answers on port ${port} and proved to be itself; send it ` +
      "work, or ask the user to quit it first."
  })

const changed = ({ name }: Agent) =>
  new Refused({
    reason: "changed",
    sentence: `Nothing was started: ${name}'s entry in the team file changed while it was being checked. Look at ` +
      "intercom_list and, if it is right, call again."
  })

const elsewhere = new Refused({
  reason: "not_coordinator",
  sentence: "Nothing was started: this session does not coordinate the team any more. /intercom shows who does."
})

/** The team as it is now, while this session coordinates it. */
const coordinating = Effect.flatMap(
  enterTeam,
  (standing) => standing.role === "coordinator" ? Effect.succeed(standing) : elsewhere
)

/** The worker's real directory, which must be the one that its entry names: a link in its place leads elsewhere. */
const directoryOf = Effect.fn("resume.directory")(function*(root: string, { name, projectDirectory }: Agent) {
  const failed = (detail: string) => new LaunchFailed({ reason: "directory", detail })
  const found = yield* (yield* ProjectDirectories).resolve(root, projectDirectory).pipe(
    Effect.mapError(({ detail }) => failed(`${name} works in ${projectDirectory}, and ${detail}`))
  )
  return found.relative === projectDirectory
    ? found.real
    : yield* failed(`${name}'s directory ${projectDirectory} was replaced by a link and leads to ${found.relative} now`)
})

/** Everything that must be so before a launch (spec 5.5); the file of the saved session. */
const check = Effect.fn("resume.check")(function*({ root }: Member, worker: Agent) {
  const { sessionId } = worker
  const attempt = yield* openAttempt(root, sessionId)
  if (attempt !== undefined) return yield* stillOpen(worker, attempt)
  const seen = yield* (yield* IntercomClient).probe(root, worker)
  if (seen.reason === "verified") return yield* runs(worker)
  yield* (yield* OwnedLock).sessionFree(root, sessionId).pipe(
    Effect.mapError(lockOf(`${worker.name}'s saved session`))
  )
  const directory = yield* directoryOf(root, worker)
  const file = yield* (yield* SavedSessions).find(directory, sessionId)
  yield* (yield* HostProgram).checkCopies(directory)
  return file
})

/** The team once more, if the worker's entry in it is what was checked. */
const unchanged = Effect.fn("resume.unchanged")(function*(worker: Agent) {
  const team = yield* coordinating
  const now = agentBySession(team.config, worker.sessionId)
  return JSON.stringify(now) === JSON.stringify(worker) ? team : yield* changed(worker)
})

/** Records the attempt: from then on nobody resumes that worker, whatever happens to this session. */
const begin = Effect.fn("resume.begin")(function*(root: string, worker: Agent) {
  const attempt: Attempt = { at: DateTime.formatIso(yield* DateTime.now) }
  const ledger = yield* (yield* ProcessLedger).change(root, addAttempt(worker.sessionId, attempt))
  const open = attemptOf(ledger, worker.sessionId)
  if (open?.at === attempt.at) return attempt
  return yield* open === undefined ? full : stillOpen(worker, open)
})

const recordPane = Effect.fn("resume.recordPane")(
  function*(root: string, worker: Agent, { at }: Attempt, trace: string | undefined) {
    if (trace === undefined) return
    yield* (yield* ProcessLedger).change(root, tracePane(worker.sessionId, at, trace))
  },
  // Submitted it is: without its pane the attempt only takes a status, or a person, to end.
  Effect.catchAll((failed) => Effect.logWarning(failed.message))
)

/**
 * Records, looks once more, launches, and records what came of it. Only what surely started nothing ends the attempt: an
 * interruption, a crash of this process or a lost answer leave it open (spec 5.5). `--session` is given the file and not
 * the id: Pi takes an id also as the beginning of another one, and asks whether to copy a session of another folder.
 */
const submit = (team: Member, worker: Agent, file: string) =>
  Effect.uninterruptibleMask((restore) =>
    Effect.gen(function*() {
      const attempt = yield* begin(team.root, worker)
      const launch = Effect.gen(function*() {
        const now = yield* unchanged(worker)
        return yield* launchPi(now, yield* directoryOf(now.root, worker), ["--session", file])
      })
      const exit = yield* Effect.exit(restore(launch))
      if (Exit.isSuccess(exit)) yield* recordPane(team.root, worker, attempt, exit.value.trace)
      return yield* Effect.catchAll(exit, (error) =>
        Effect.gen(function*() {
          if (error._tag === "LaunchFailed" && mayHaveStarted(error)) {
            yield* recordPane(team.root, worker, attempt, error.trace)
            return yield* new LaunchFailed({ ...error, open: worker.name })
          }
          yield* settle(team.root, worker.sessionId, attempt)
          return yield* Effect.fail(error)
        }))
    })
  )

/**
 * Opens a closed worker's saved session in a new tab (spec 5.5). Removes, replaces and assigns nothing: the worker takes
 * its name and responsibility from the team file by itself, and reports its status.
 */
export const resumeWorker = Effect.fn("intercom_resume_worker")(
  function*(_: Member, args: ToolArguments<"intercom_resume_worker">) {
    if (!args.confirmClosed) return yield* unconfirmed
    const resume = Effect.gen(function*() {
      const team = yield* coordinating
      const worker = yield* findTarget(tool, team, args.to, "worker")
      const launched = yield* submit(team, worker, yield* check(team, worker))
      return result({
        submitted: true,
        name: worker.name,
        multiplexer: launched.multiplexer,
        tab: launched.tab,
        pane: launched.pane,
        projectDirectory: worker.projectDirectory,
        registrationAwaited: false,
        note:
          "No work was assigned. Its status arrives by itself once it runs; if none does, look at that tab: Pi may be " +
          "asking the person whether to trust the folder. If the tab is gone, Pi ended at once."
      })
    })
    return yield* (yield* Resuming).withPermits(1)(resume)
  }
)
