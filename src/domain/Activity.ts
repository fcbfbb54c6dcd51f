/** What a session is seen to do: categories only, never content, arguments or results (spec 3.6). */

export type Detail =
  | "processing"
  | "thinking"
  | "responding"
  | "reading_files"
  | "editing_files"
  | "running_command"
  | "using_tool"
  | "multiple_tools"
  | "settled"
  | "waiting_for_user"

export type Phase = "working" | "thinking" | "responding" | "tool" | "idle" | "waiting"

/** A recorded activity; equal consecutive ones are recorded once. */
export interface Activity {
  readonly phase: Phase
  readonly detail: Detail
}

/** The host events that matter, reduced to what may be known of them. */
export type HostEvent =
  | { readonly type: "agent_start" }
  | { readonly type: "thinking" }
  | { readonly type: "thinking_end" }
  | { readonly type: "responding" }
  | { readonly type: "tool_start"; readonly id: string; readonly tool: string }
  | { readonly type: "tool_end"; readonly id: string }
  | { readonly type: "settled" }
  | { readonly type: "prompt_start" }
  | { readonly type: "prompt_end" }

/** What is shown, the tools that run, and what was shown before the user was asked. */
export interface ActivityState {
  readonly shown: Activity
  readonly tools: ReadonlyMap<string, Detail>
  readonly beforePrompt: Activity | undefined
}

const idle: Activity = { phase: "idle", detail: "settled" }
const processing: Activity = { phase: "working", detail: "processing" }

/** Where every session starts. */
export const initial: ActivityState = { shown: idle, tools: new Map(), beforePrompt: undefined }

const toolDetail = (tool: string): Detail => {
  if (tool === "read") return "reading_files"
  if (tool === "edit" || tool === "write") return "editing_files"
  return tool === "bash" || tool === "powershell" ? "running_command" : "using_tool"
}

const ofTools = (tools: ReadonlyMap<string, Detail>): Activity => {
  const [only, ...others] = tools.values()
  if (only === undefined) return processing
  return { phase: "tool", detail: others.length > 0 ? "multiple_tools" : only }
}

/** The next state; message events are ignored while tools run, and a dialog hides everything until it ends. */
export const step = (state: ActivityState, event: HostEvent): ActivityState => {
  const show = (shown: Activity, tools = state.tools): ActivityState =>
    state.beforePrompt === undefined ? { ...state, shown, tools } : { ...state, beforePrompt: shown, tools }
  switch (event.type) {
    case "agent_start":
      return show(processing, new Map())
    case "thinking":
      return state.tools.size > 0 ? state : show({ phase: "thinking", detail: "thinking" })
    case "thinking_end":
      return state.tools.size > 0 ? state : show(processing)
    case "responding":
      return state.tools.size > 0 ? state : show({ phase: "responding", detail: "responding" })
    case "tool_start": {
      const tools = new Map(state.tools).set(event.id, toolDetail(event.tool))
      return show(ofTools(tools), tools)
    }
    case "tool_end": {
      const tools = new Map(state.tools)
      tools.delete(event.id)
      return show(ofTools(tools), tools)
    }
    case "settled":
      return show(idle, new Map())
    case "prompt_start":
      return state.beforePrompt === undefined
        ? { ...state, beforePrompt: state.shown, shown: { phase: "waiting", detail: "waiting_for_user" } }
        : state
    case "prompt_end":
      return state.beforePrompt === undefined
        ? state
        : { ...state, shown: state.beforePrompt, beforePrompt: undefined }
  }
}

/** Whether a session doing this is busy. */
export const isBusy = (activity: Activity): boolean => activity.phase !== "idle"

/** Whether two activities are the same. */
export const same = (a: Activity, b: Activity): boolean => a.phase === b.phase && a.detail === b.detail
