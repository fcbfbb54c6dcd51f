import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { fences } from "../../domain/CloseTable.ts"
import { fenceRefusal, mayCall, toolRules } from "../../domain/Permissions.ts"
import { describe, firstProblem } from "../../domain/Problems.ts"
import { InvalidArguments, Refused } from "../../domain/SessionErrors.ts"
import { toolArguments, type ToolName } from "../../domain/ToolCatalogue.ts"
import type { Member, Standing } from "../Membership.ts"
import { enterTeam } from "../Team.ts"
import { closeWorker, reportHandoff } from "./Closing.ts"
import { createWorker } from "./CreateWorker.ts"
import { reloadWorker, reportStatus, reportWork, requestStatus, send } from "./Messages.ts"
import { resumeWorker } from "./ResumeWorker.ts"
import { configureWorker, list, removeWorker, setMultiplexer } from "./Roster.ts"
import type { ToolCall } from "./ToolCall.ts"
import { workerStatus } from "./WorkerStatus.ts"

/** For a tool that needs no team; its arguments are decoded by the schema that the host's JSON Schema is made from. */
const anyone = <A, I, E, R>(
  tool: ToolName,
  schema: Schema.Schema<A, I>,
  run: (standing: Standing, args: A, call: ToolCall) => Effect.Effect<string, E, R>
) => {
  const decode = Schema.decodeUnknown(schema)
  return (standing: Standing, raw: unknown, call: ToolCall) =>
    decode(raw).pipe(
      Effect.mapError((error) => new InvalidArguments({ tool, problem: describe(firstProblem(error)) })),
      Effect.flatMap((args) => run(standing, args, call))
    )
}

const noTeam = new Refused({ reason: "no_team", sentence: "There is no team yet, so nothing was done." })

/** For a tool that only a member may call; the permission table has seen to that before. */
const member = <A, I, E, R>(
  tool: ToolName,
  schema: Schema.Schema<A, I>,
  run: (standing: Member, args: A, call: ToolCall) => Effect.Effect<string, E, R>
) =>
  anyone(
    tool,
    schema,
    (standing, args: A, call): Effect.Effect<string, E | Refused, R> =>
      standing.role === "solo" ? Effect.fail(noTeam) : run(standing, args, call)
  )

const later = (tool: ToolName) => () =>
  Effect.fail(
    new Refused({
      reason: "not_supported",
      sentence: `${tool} is not in this version of Intercom yet; nothing was done.`
    })
  )

const a = toolArguments
const handlers = {
  intercom_create_worker: anyone("intercom_create_worker", a.intercom_create_worker, createWorker),
  intercom_set_multiplexer: anyone("intercom_set_multiplexer", a.intercom_set_multiplexer, setMultiplexer),
  intercom_configure_worker: member("intercom_configure_worker", a.intercom_configure_worker, configureWorker),
  intercom_reload_worker: member("intercom_reload_worker", a.intercom_reload_worker, reloadWorker),
  intercom_send: member("intercom_send", a.intercom_send, send),
  intercom_list: member("intercom_list", a.intercom_list, list),
  intercom_worker_status: member("intercom_worker_status", a.intercom_worker_status, workerStatus),
  intercom_request_status: member("intercom_request_status", a.intercom_request_status, requestStatus),
  intercom_report_status: member("intercom_report_status", a.intercom_report_status, reportStatus),
  intercom_report_work: member("intercom_report_work", a.intercom_report_work, reportWork),
  intercom_remove_worker: member("intercom_remove_worker", a.intercom_remove_worker, removeWorker),
  intercom_close_worker: member("intercom_close_worker", a.intercom_close_worker, closeWorker),
  intercom_report_handoff: member("intercom_report_handoff", a.intercom_report_handoff, reportHandoff),
  intercom_stop_worker: later("intercom_stop_worker"),
  intercom_resume_worker: member("intercom_resume_worker", a.intercom_resume_worker, resumeWorker)
} as const

/**
 * Runs one tool call: the fence, the role on a fresh config, the permission table, the caller's own close fence, then
 * the tool. Answers JSON text for the model; every failure is one typed sentence (spec 4).
 */
export const runTool = Effect.fn("runTool")(function*(tool: ToolName, raw: unknown, call: ToolCall) {
  const standing = yield* enterTeam
  const no = mayCall(tool, standing.role)
  if (no !== undefined) return yield* no
  if (standing.role !== "solo" && toolRules[tool].fenced) {
    const now = yield* Clock.currentTimeMillis
    if (fences(standing.self?.closeJob, now)) return yield* fenceRefusal({ name: "", self: true })
  }
  return yield* handlers[tool](standing, raw, call)
})
