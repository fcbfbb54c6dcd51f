import * as Option from "effect/Option"
import * as Schema from "effect/Schema"

/**
 * What Herdr's CLI prints, as far as it is used (facts/herdr, herdr-api.schema.json): unknown fields are ignored, and
 * what is optional may be left out or null.
 */

/**
 * A workspace's, tab's, pane's or terminal's id: opaque, but it becomes an argument and a word of a trace, so it has 1
 * to 256 characters, none of them blank or a control character, and does not begin with a hyphen.
 */
export const HerdrId = Schema.String.pipe(Schema.maxLength(256), Schema.pattern(/^(?!-)[^\s\p{C}]+$/u))

/** Whether a text is a {@link HerdrId}. */
export const isId = Schema.is(HerdrId)

const optional = <A, I>(schema: Schema.Schema<A, I>) => Schema.optional(Schema.NullOr(schema))

/** Who Herdr's integration says is in a pane. It can be stale or lost: never proof by itself (facts/herdr). */
export const AgentSession = Schema.Struct({ source: Schema.String, kind: Schema.String, value: Schema.String })

/** One pane. */
export const HerdrPane = Schema.Struct({
  pane_id: HerdrId,
  terminal_id: HerdrId,
  workspace_id: HerdrId,
  tab_id: HerdrId,
  agent: optional(Schema.String),
  agent_session: optional(AgentSession)
})
export type HerdrPane = typeof HerdrPane.Type

const Tab = Schema.Struct({ tab_id: HerdrId, workspace_id: HerdrId })

/** The answer of `pane current`. */
export const PaneCurrent = Schema.Struct({ type: Schema.Literal("pane_current"), pane: HerdrPane })
/** The answer of `pane get`. */
export const PaneInfo = Schema.Struct({ type: Schema.Literal("pane_info"), pane: HerdrPane })
/** The answer of `pane list`. A list without `panes` is none: it is what proves that a pane is gone. */
export const PaneList = Schema.Struct({
  type: Schema.Literal("pane_list"),
  panes: Schema.Array(
    Schema.Struct({
      pane_id: HerdrId,
      terminal_id: HerdrId,
      workspace_id: HerdrId,
      tab_id: HerdrId,
      label: optional(Schema.String)
    })
  )
})
/** The answer of `pane process-info`; no foreground processes may be left out. */
export const PaneProcesses = Schema.Struct({
  type: Schema.Literal("pane_process_info"),
  process_info: Schema.Struct({
    pane_id: HerdrId,
    foreground_processes: optional(Schema.Array(Schema.Struct({ pid: Schema.Int })))
  })
})
const Rect = Schema.Struct({ x: Schema.Int, y: Schema.Int, width: Schema.Int, height: Schema.Int })

/** The answer of `pane layout`. */
export const PaneLayout = Schema.Struct({
  type: Schema.Literal("pane_layout"),
  layout: Schema.Struct({
    focused_pane_id: HerdrId,
    panes: Schema.Array(Schema.Struct({ pane_id: HerdrId, rect: Rect }))
  })
})
export type Layout = typeof PaneLayout.Type["layout"]

/** Whether one pane lies right above another one in the same column, and that other one has its tab's focus. */
export const isAbove = ({ focused_pane_id, panes }: Layout, pane: string, below: string): boolean => {
  const [upper, lower] = [pane, below].map((id) => panes.find(({ pane_id }) => pane_id === id)?.rect)
  return upper !== undefined && lower !== undefined && upper.x === lower.x && upper.y + upper.height <= lower.y &&
    focused_pane_id === below
}

/** The answer of `pane swap`: what cannot be swapped is an answer too (facts/herdr). */
export const PaneSwap = Schema.Struct({
  type: Schema.Literal("pane_swap"),
  swap: Schema.Struct({ changed: Schema.Boolean, reason: optional(Schema.String) })
})

/** The answer of `tab create`. */
export const TabCreated = Schema.Struct({ type: Schema.Literal("tab_created"), tab: Tab, root_pane: HerdrPane })
/** The answer of `tab rename`. */
export const TabInfo = Schema.Struct({ type: Schema.Literal("tab_info"), tab: Tab })

/** Reads the line that a command printed as the answer that it should be; none for anything else. */
export const parseAnswer = <A, I>(answer: Schema.Schema<A, I>): (stdout: string) => Option.Option<A> => {
  const decode = Schema.decodeUnknownOption(Schema.parseJson(Schema.Struct({ result: answer })))
  return (stdout) => Option.map(decode(stdout), ({ result }) => result)
}

const parseClosed = parseAnswer(Schema.Struct({ type: Schema.Literal("ok") }))

/** Whether that is the answer of a `pane close` that closed the pane. */
export const isClosed = (stdout: string): boolean => Option.isSome(parseClosed(stdout))

const decodeError = Schema.decodeUnknownOption(
  Schema.parseJson(Schema.Struct({ error: Schema.Struct({ code: Schema.String.pipe(Schema.pattern(/^\w{1,64}$/)) }) }))
)

/** The code of an error that Herdr's server answered; none for a usage error and every other text. */
export const parseCode = (stderr: string): Option.Option<string> =>
  Option.map(decodeError(stderr), ({ error }) => error.code)

const refusals: ReadonlySet<string> = new Set([
  "confirmation_required",
  "invalid_pane_swap",
  "pane_split_failed",
  "protocol_mismatch",
  "server_not_running",
  "tab_create_failed"
])

/** Whether a code says that nothing was done. Every other one, `timeout` above all, leaves that open. */
export const didNothing = (code: string): boolean => refusals.has(code) || code.endsWith("_not_found")
