import * as Effect from "effect/Effect"
import type { ToolArguments } from "../../domain/ToolCatalogue.ts"
import { result } from "../../domain/ToolResult.ts"
import { CloseJobs } from "../close/CloseJobs.ts"
import { OwnClose } from "../close/OwnClose.ts"
import type { Member } from "../Membership.ts"
import { findTarget } from "./Target.ts"
import type { ToolCall } from "./ToolCall.ts"

const defaultSeconds = 120

/** Begins to park a worker and answers its job at once (spec 6); asked again while it runs, the same job. */
export const closeWorker = Effect.fn("intercom_close_worker")(
  function*(standing: Member, args: ToolArguments<"intercom_close_worker">) {
    const worker = yield* findTarget("intercom_close_worker", standing, args.to, "worker")
    const job = yield* (yield* CloseJobs).request(standing, worker, args.timeoutSeconds ?? defaultSeconds)
    const { deadlineAt, jobId, state } = job
    return result({
      name: worker.name,
      jobId,
      state,
      deadlineAt,
      completion: "not awaited",
      note: "A close notice tells what became of it; end your turn instead of waiting. Nothing is closed before the " +
        "worker's handoff is saved."
    })
  }
)

/** Saves this worker's handoff with the coordinator; closing waits for the end of the turn. */
export const reportHandoff = Effect.fn("intercom_report_handoff")(
  function*(standing: Member, args: ToolArguments<"intercom_report_handoff">, call: ToolCall) {
    yield* (yield* OwnClose).report(standing, args, call)
    return result({
      saved: true,
      closed: false,
      note: "The pane is closed only after this turn has ended. End your turn now and wait; do not exit."
    })
  }
)
