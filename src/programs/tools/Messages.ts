import * as Effect from "effect/Effect"
import { summaryFits } from "../../domain/Report.ts"
import { InvalidArguments } from "../../domain/SessionErrors.ts"
import type { ToolArguments } from "../../domain/ToolCatalogue.ts"
import { result } from "../../domain/ToolResult.ts"
import type { Member } from "../Membership.ts"
import { post, postStatus } from "../Post.ts"
import { findTarget } from "./Target.ts"

/** Accepted is what the recipient's extension said; nothing waits for more (spec 2.1). */
const accepted = result({ accepted: true, completion: "not awaited" })

/** Sends a message to a member by name, worker to worker too. */
export const send = Effect.fn("intercom_send")(function*(standing: Member, args: ToolArguments<"intercom_send">) {
  const to = yield* findTarget("intercom_send", standing, args.to, "member")
  yield* post(standing, to, (head) => ({ ...head, kind: "message", payload: { message: args.message } }))
  return accepted
})

/** Makes a worker load its entry. */
export const reloadWorker = Effect.fn("intercom_reload_worker")(
  function*(standing: Member, args: ToolArguments<"intercom_reload_worker">) {
    const to = yield* findTarget("intercom_reload_worker", standing, args.to, "worker")
    yield* post(standing, to, (head) => ({ ...head, kind: "reload", payload: {} }))
    return accepted
  }
)

/** Asks a worker for its status, which comes as a message of its own. */
export const requestStatus = Effect.fn("intercom_request_status")(
  function*(standing: Member, args: ToolArguments<"intercom_request_status">) {
    const to = yield* findTarget("intercom_request_status", standing, args.to, "worker")
    yield* post(standing, to, (head) => ({ ...head, kind: "request_status", payload: {} }))
    return accepted
  }
)

/** Sends this session's status to the coordinator; never registers. */
export const reportStatus = Effect.fn("intercom_report_status")(function*(standing: Member) {
  yield* postStatus(standing)
  return accepted
})

/** Reports work to the coordinator, who saves it and judges it. */
export const reportWork = Effect.fn("intercom_report_work")(
  function*(standing: Member, args: ToolArguments<"intercom_report_work">) {
    const report = { status: args.status, summary: args.summary ?? "" }
    if (!summaryFits(report)) {
      return yield* new InvalidArguments({
        tool: "intercom_report_work",
        problem: args.status === "clear" ? "clear takes no summary" : `${args.status} needs a summary that is not blank`
      })
    }
    yield* post(standing, standing.coordinator, (head) => ({ ...head, kind: "report", payload: report }))
    return result({ accepted: true, coordinatorEvaluation: "not awaited" })
  }
)
