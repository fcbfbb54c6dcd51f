import { refusal } from "../../domain/CloseConversation.ts"
import { isPending } from "../../domain/CloseTable.ts"
import type { Refusal } from "../../services/IntercomServer.ts"
import type { Member } from "../Membership.ts"
import { refused } from "../receive/Context.ts"
import type { Deadline } from "./Deadline.ts"

/** A report that the coordinator has answered as saved. */
export interface Saved {
  readonly report: number
  /** In which its call began. */
  readonly epoch: number
  readonly callId: string
}

/** The close job that this session was told of. */
export interface OwnJob {
  readonly jobId: string
  readonly deadline: Deadline
  /** Its model was told: from then on it may report. */
  readonly asked: boolean
  /** The number of the last report that was begun; one is sent at a time. */
  readonly reports: number
  readonly reporting: boolean
  readonly saved?: Saved
  /** The announcement that it has settled after the saved report; `accepted` once the coordinator has said so. */
  readonly ready?: { readonly nonce: string; readonly accepted: boolean }
}

/** Whether the session's own entry carries that job and it goes on: what its memory holds may be over (spec 6.2). */
export const carries = ({ self }: Member, jobId: string): boolean =>
  self?.closeJob?.jobId === jobId && isPending(self.closeJob.state)

/** Nothing can be decided now; the coordinator asks again. */
export const notNow: Refusal = {
  status: 503,
  sentence: "this session cannot use its team file now, so nothing was done"
}
/** No job that this session was told of, or not any more. */
export const notThisJob = refused(refusal("worker_changed", "this session does not know of that close job"))
/** The deadline has passed. */
export const tooLate = refused(refusal("timeout", "the close's time is up"))
/** The deadline is further ahead than spec 6.2 lets it be. */
export const tooFar = refused(refusal("timeout", "the close's deadline is more than ten minutes ahead"))
/** What the announcement said does not hold any more, and why. */
export const notCommitted = (sentence: string) => refused(refusal("commit_rejected", sentence))
