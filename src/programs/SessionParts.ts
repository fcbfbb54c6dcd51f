import * as Layer from "effect/Layer"
import { ActivityTracker } from "./ActivityTracker.ts"
import { Resuming } from "./Attempts.ts"
import { CloseJobs } from "./close/CloseJobs.ts"
import { OwnClose } from "./close/OwnClose.ts"
import { Delivery } from "./Delivery.ts"
import { Membership } from "./Membership.ts"
import { MonitorTurn } from "./MonitorPane.ts"
import { Newcomers } from "./Newcomers.ts"
import { ReportQueue } from "./ReportQueue.ts"

/** What the programs of one session share, over its services; built once a session. */
export const layer = Layer.merge(CloseJobs.layer, OwnClose.layer).pipe(
  Layer.provideMerge(Layer.mergeAll(
    Membership.layer,
    MonitorTurn.layer,
    Delivery.layer,
    ReportQueue.layer,
    Newcomers.layer,
    ActivityTracker.layer,
    Resuming.layer
  ))
)
