import type { CloseJob } from "./CloseTable.ts"
import type { Agent } from "./TeamConfig.ts"

const why = {
  timeout: "its time was up",
  interrupted: "nobody ran it any more: a restart or a take-over of the coordinator, or a restored team file",
  delivery_failed: "the worker could not be asked",
  identity_failed: "its pane or process could not be verified",
  save_failed: "the team file or this machine's record of closes could not be written",
  worker_changed: "the worker's session was restarted or replaced meanwhile",
  worker_busy: "the worker was busy",
  commit_rejected: "something new began in the worker's session after its handoff",
  close_unverified: "that its process and its pane are gone could not be shown",
  close_failed: "the close command failed or gave no answer"
} as const

const outcome = (job: CloseJob): string => {
  switch (job.state) {
    case "closed":
      return job.reason === undefined
        ? "Its pane is closed and its session stays saved. intercom_resume_worker opens it again."
        : "Its Pi is gone; its tab may still be there. Its session stays saved. intercom_resume_worker opens it again."
    case "uncertain":
      return "Its pane may be closed or not, so it takes no work until that is proven or the person has run " +
        "/intercom resolve with its name. Do not ask for another close; tell the person."
    default:
      return "Its pane was not closed; while its Pi runs, it can be given work. If it should still be closed, look at it " +
        "first, then ask again." +
        (job.reason === "delivery_failed"
          ? " If the user says that its Pi is closed, intercom_resume_worker opens it again."
          : "")
  }
}

/**
 * What the coordinator's model is told when a job becomes final or uncertain (spec 6.2, telling): worker, job, state,
 * reason, whether its handoff is saved, what to do.
 */
export const closeNotice = (agent: Agent, job: CloseJob): string =>
  [
    `worker: ${agent.name}`,
    `job: ${job.jobId}`,
    `state: ${job.state}${job.reason === undefined ? "" : ` (${job.reason}: ${why[job.reason]})`}`,
    `handoff of this close: ${agent.handoff?.jobId === job.jobId ? "saved" : "none saved"}`,
    outcome(job)
  ].join("\n")
