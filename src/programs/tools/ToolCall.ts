/** One call by the host's model. */
export interface ToolCall {
  /** The host's id of it, by which its result is found on the session's branch. */
  readonly id: string
  /** The epoch in which it began (spec 6.2): read when the host began it, before any wait. */
  readonly epoch: number
}
