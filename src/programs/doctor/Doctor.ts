import * as Clock from "effect/Clock"
import * as Data from "effect/Data"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import type { ConfigUnusable } from "../../domain/ConfigErrors.ts"
import { AllowUnauthenticated } from "../../domain/Environment.ts"
import type { Diagnosis } from "../../domain/Finding.ts"
import type { Snapshot } from "../../domain/Snapshot.ts"
import { coordinatorOf, type TeamConfig } from "../../domain/TeamConfig.ts"
import { ConfigReader } from "../../services/ConfigReader.ts"
import { Inspection } from "../../services/Inspection.ts"
import { IntercomClient } from "../../services/IntercomClient.ts"
import { ObservationReader } from "../../services/ObservationReader.ts"
import { ProjectDirectories } from "../../services/ProjectDirectories.ts"
import { openWith } from "../Reopen.ts"
import { ofConfig, ofInspected } from "./Disk.ts"
import { copies, multiplexer, type Part, runtime, together } from "./Machine.ts"
import { ofAbsence, ofClock, ofClose, ofElsewhere, ofPort, ofResumes } from "./Work.ts"

/** Nothing could be examined there. */
export class CouldNotLook extends Data.TaggedError("CouldNotLook")<{ readonly detail: string }> {
  override get message(): string {
    return `Intercom could not look: ${this.detail}.`
  }
}

/**
 * Many large logs must not keep the rest from being said. Files are read synchronously, so this ends between two of them:
 * one that hangs in the system holds up everything, and Ctrl-C ends the program.
 */
const patience = "5 seconds"

/** What the monitor marks as partial. `named`: what could not be read is among the findings. */
const unseen = ({ errors, truncated }: Snapshot, named: boolean): ReadonlyArray<string> => [
  ...(errors.length > 0 && !named ? ["all logs and reports, since some could not be read"] : []),
  ...(truncated ? ["all that sessions did, since not all of their logs fits into one look"] : [])
]

/** What the records and endpoints of a usable team file's agents say. */
const team = Effect.fn("Doctor.team")(function*(root: string, config: TeamConfig, session: string | undefined) {
  const coordinator = coordinatorOf(config)
  const inspected = yield* (yield* Inspection).look(root)
  const { nothingIn } = inspected
  // Without the secret nobody can prove anything here, and that is said by itself.
  const troubled = inspected.troubles.some(({ place }) => place === "secret" || place === "state")
  const blind = troubled || nothingIn !== undefined
  const allowed = yield* Effect.orDie(AllowUnauthenticated)
  const lenient = blind || allowed
  const probes = yield* (yield* IntercomClient).probeAll(root, config.agents)
  const now = yield* Clock.currentTimeMillis
  const seen = probes[config.agents.indexOf(coordinator)]?.reason
  const coordinated = seen === "verified"
  const answering = config.agents.filter((_, index) => probes[index]?.state === "connected")
  // A team whose sessions are all closed lacks nothing; a coordinator that could not start has a finding that says why.
  const missed = seen === "refused" && (answering.length > 0 || session !== undefined) &&
    !(troubled && session === coordinator.sessionId)
  const closes = yield* Effect.forEach(config.agents, (agent) => ofClose(agent, inspected.ledger, coordinated, now))
  const snapshot = yield* Effect.timeoutOption((yield* ObservationReader).snapshot(root), patience)
  const named = inspected.troubles.some(({ place }) => place === "logs" || place === "reports")
  const unasked = probes.filter(({ reason }) => reason === "not_checked").length
  const recorded: Part = {
    findings: [
      ...ofInspected(inspected),
      ...(nothingIn === undefined || allowed ? [] : ofElsewhere(answering.map(({ name }) => name), nothingIn)),
      ...(missed ? [ofAbsence(coordinator, session)] : []),
      ...config.agents.flatMap((agent, index) => {
        const probe = probes[index]
        return probe === undefined ? [] : ofPort(agent, probe, lenient)
      }),
      ...closes.flat(),
      ...ofResumes(config, inspected.ledger),
      ...Option.match(snapshot, { onNone: () => [], onSome: (one) => ofClock(config, one, now) })
    ],
    notChecked: [
      ...(inspected.truncated ? ["every file of a folder that has more than 4096"] : []),
      ...(nothingIn === undefined ? [] : [
        `locks, resumes and who holds a saved port, since ${nothingIn} holds nothing of this team: ` +
        "none of its sessions was ever opened with this PI_INTERCOM_STATE_DIR or XDG_STATE_HOME"
      ]),
      ...(seen === "refused" && !missed && !troubled
        ? [
          `who answers, since no session of this team is open; ${
            openWith(coordinator.sessionId)
          } opens its coordinator's`
        ]
        : []),
      ...(unasked > 0 ? [`${unasked} saved ports, for which there was no time`] : []),
      ...Option.match(snapshot, {
        onNone: () => ["the times of records, which could not be read"],
        onSome: (one) => unseen(one, named)
      })
    ]
  }
  return together(recorded, yield* multiplexer(config.multiplexer, session === coordinator.sessionId))
})

/** What can be said of a root without its team file. */
const unread = Effect.fn("Doctor.unread")(function*(root: string, unusable: ConfigUnusable) {
  // Which folder was meant is not known.
  const seen = unusable.reason === "misnamed" ? [] : ofInspected(yield* (yield* Inspection).look(root))
  const part: Part = {
    findings: [ofConfig(unusable), ...seen],
    notChecked: ["ports, closes, resumes, times and the multiplexer, since the team file cannot be used"]
  }
  return part
})

const diagnosis = Effect.fn("Doctor.diagnosis")(function*(root: string, part: Part) {
  const { findings, notChecked } = together(part, yield* runtime)
  const all: Diagnosis = { root, checkedAt: DateTime.formatIso(yield* DateTime.now), findings, notChecked }
  return all
})

const directoriesOf = Effect.fn("Doctor.directoriesOf")(function*(root: string, config: TeamConfig) {
  const directories = yield* ProjectDirectories
  const wanted = [...new Set(config.agents.map(({ projectDirectory }) => projectDirectory))]
  const found = yield* Effect.forEach(wanted, (one) => Effect.option(directories.resolve(root, one)))
  return found.flatMap(Option.match({ onNone: () => [], onSome: ({ real }) => [real] }))
})

const examine = Effect.fn("Doctor.examine")(function*(
  root: string,
  read: Either.Either<Option.Option<TeamConfig>, ConfigUnusable>,
  session?: string
) {
  if (Either.isLeft(read)) {
    return yield* diagnosis(root, together(yield* unread(root, read.left), yield* copies([root])))
  }
  if (Option.isNone(read.right)) {
    const part: Part = { findings: [], notChecked: ["the multiplexer, since there is no team file here"] }
    return yield* diagnosis(root, together(part, yield* copies([root])))
  }
  const config = read.right.value
  const here = yield* copies(yield* directoriesOf(root, config))
  return yield* diagnosis(root, together(yield* team(root, config, session), here))
})

/** Examines the team of a root that the person names, an absolute path. Writes nothing. */
export const examineRoot = Effect.fn("examineRoot")(function*(root: string) {
  const { real } = yield* (yield* ProjectDirectories).resolve(root, ".").pipe(
    Effect.mapError(() => new CouldNotLook({ detail: `${root} is not a folder that can be read` }))
  )
  const read = yield* Effect.either((yield* ConfigReader).read(real))
  if (Either.isRight(read) && Option.isNone(read.right)) {
    return yield* new CouldNotLook({ detail: `there is no team file, .pi-intercom/config.json, in ${root}` })
  }
  return yield* examine(real, read)
})

/** Examines the team that a Pi session's directory belongs to, whether the session takes part in it or not. */
export const examineHere = Effect.fn("examineHere")(function*(directory: string, sessionId: string) {
  const reader = yield* ConfigReader
  const root = yield* Effect.either(reader.discover(directory))
  if (Either.isLeft(root)) return yield* examine(directory, Either.left(root.left), sessionId)
  if (Option.isNone(root.right)) return yield* examine(directory, Either.right(Option.none()), sessionId)
  return yield* examine(root.right.value, yield* Effect.either(reader.read(root.right.value)), sessionId)
})
