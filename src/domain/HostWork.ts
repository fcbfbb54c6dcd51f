/** What a session's host is seen to work on, for closing (spec 6.2 Epochs): categories only, never content. */

/** The host events that matter. `ofJob`: the text is one of the extension's own deliveries of the running close job. */
export type WorkEvent =
  | { readonly type: "session_start" }
  /** A text came in (typed, or sent by an extension), or a queued one entered the conversation. */
  | { readonly type: "user_text"; readonly ofJob: boolean }
  /** A run is about to start with a text. */
  | { readonly type: "run_prepared"; readonly ofJob: boolean }
  | { readonly type: "agent_start" }
  /** `restarted`: another run has begun before this one's end was told. */
  | { readonly type: "settled"; readonly restarted: boolean }
  | { readonly type: "user_bash" }
  | { readonly type: "tree_navigation" }
  | { readonly type: "compaction_start"; readonly manual: boolean }
  | { readonly type: "compaction_end" }
  | { readonly type: "dialog_start" }
  | { readonly type: "dialog_end" }

/** The epoch, and what is needed to find the next one. */
export interface WorkState {
  /** Only goes up; two equal looks mean that nothing began between them. */
  readonly epoch: number
  /** From the first agent start to the settlement; retries and automatic compactions start the agent again meanwhile. */
  readonly running: boolean
  /** The run about to start is the job's own. */
  readonly preparedByJob: boolean
  readonly compacting: boolean
  readonly dialog: boolean
}

/** Where every extension instance starts. */
export const initial: WorkState = { epoch: 0, running: false, preparedByJob: false, compacting: false, dialog: false }

/** The next state. */
export const step = (state: WorkState, event: WorkEvent): WorkState => {
  const epoch = state.epoch + 1
  switch (event.type) {
    case "session_start":
      return { ...initial, epoch }
    // Counted when it comes, which is the person's moment, and when the model gets it: what was reported between the
    // two was reported without it.
    case "user_text":
      return event.ofJob ? state : { ...state, epoch }
    case "run_prepared":
      return { ...state, preparedByJob: event.ofJob }
    // A compaction that told no end is over when the agent starts.
    case "agent_start":
      return {
        ...state,
        epoch: state.running || state.preparedByJob ? state.epoch : epoch,
        running: true,
        preparedByJob: false,
        compacting: false
      }
    case "settled":
      // A new epoch too many costs a second report; a run that stays open forever would cost every later one.
      return { ...state, epoch: event.restarted ? epoch : state.epoch, running: false }
    case "user_bash":
    case "tree_navigation":
      return { ...state, epoch }
    case "compaction_start":
      return { ...state, epoch: event.manual ? epoch : state.epoch, compacting: true }
    case "compaction_end":
      return { ...state, compacting: false }
    case "dialog_start":
      return { ...state, epoch, dialog: true }
    case "dialog_end":
      return { ...state, dialog: false }
  }
}

/** Whether something that is no run occupies the session: the host itself may call it idle (facts/pi). */
export const isOccupied = (state: WorkState): boolean => state.compacting || state.dialog
