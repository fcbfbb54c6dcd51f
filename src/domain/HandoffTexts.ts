/** What a worker's model is told when its session is being closed (spec 6.2, step 3). */
export const askForHandoff = (jobId: string): string =>
  [
    "Your terminal pane will be closed after you have handed off. Your session stays saved and can be resumed.",
    "Stop taking work now. Call intercom_report_handoff with this job id and a summary for whoever goes on: what is",
    "done, what is open, where it is. It is shown to the team, so put no secret in it. Then end your turn and wait;",
    "do not exit by yourself.",
    `jobId: ${jobId}`
  ].join("\n")

/** What it is told, once, when something new began after its report (spec 6.2, epochs). */
export const askAgain = (jobId: string): string =>
  [
    "Something new began in this session after you reported your handoff, so the pane stays open for now. When that is",
    "done, you may call intercom_report_handoff again with the same job id; then end your turn and wait.",
    `jobId: ${jobId}`
  ].join("\n")
