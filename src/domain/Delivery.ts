/** How text from other sessions is put before the model (spec 3.4). */

/** Why a text is delivered. */
export type Purpose = "registration" | "status" | "report" | "message" | "close request" | "close notice" | "notice"

/** Who a text is from, as the roster knows it; `name` is absent for an unconfigured session. */
export interface Sender {
  readonly name?: string
  readonly sessionId: string
}

/** At most 64 texts wait for the end of a manual compaction; beyond that the receiver answers 503 (spec 3.4). */
export const maxHeld = 64
/** Registrations and statuses that arrive within 250 ms of each other are shown as one message (spec 3.3). */
export const coalesceMs = 250

/** Removes control characters other than newline and tab; CRLF and lone CR become newlines. */
export const stripControls = (text: string): string =>
  text.replace(/\r\n?/g, "\n").replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, "")

/** A text of somebody else as part of a line of ours: without controls, its lines joined by spaces. */
export const oneLine = (text: string): string => stripControls(text).replace(/[\n\t\u2028\u2029]+/g, " ").trim()

/** {@link oneLine} that looks as it reads: embeddings, overrides and isolates of bidirectional text could disguise it. */
export const plainLine = (text: string): string =>
  oneLine(text.replace(/[\u202a-\u202e\u2066-\u2069]/g, "")).replace(/\p{Cs}/gu, "\ufffd")

/**
 * Escapes each line that begins like one of our headers, so that a body cannot pose as another sender; with a tab or
 * any other white space too, since to a reader it looks the same.
 */
export const escapeHeaders = (text: string): string =>
  // Nothing is consumed: the white space may be the end of the line, and the next line a header too.
  text.replace(/(?<=^|[\n\u2028\u2029])(?=\[Intercom[\s\u00a0])/g, "\\")

/** `[Intercom <purpose> from <name> (<session id>)]` */
export const header = (purpose: Purpose, sender: Sender): string =>
  `[Intercom ${purpose} from ${oneLine(sender.name ?? "unconfigured session")} (${oneLine(sender.sessionId)})]`

/** One delivery: its header line, then its cleaned and escaped content. */
export const compose = (purpose: Purpose, sender: Sender, content: string): string => {
  const body = escapeHeaders(stripControls(content))
  return body === "" ? header(purpose, sender) : `${header(purpose, sender)}\n${body}`
}
