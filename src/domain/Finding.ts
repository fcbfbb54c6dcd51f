import { plainLine } from "./Delivery.ts"

/** What the doctor can find (issue 6). */
export type FindingCode =
  | "node_old"
  | "pi_old"
  | "pi_new"
  | "multiplexer_missing"
  | "multiplexer_old"
  | "multiplexer_outside"
  | "other_copy"
  | "config_unreadable"
  | "config_invalid"
  | "config_too_large"
  | "config_unsafe"
  | "config_misnamed"
  | "state_unusable"
  | "state_elsewhere"
  | "secret_unusable"
  | "record_unusable"
  | "logs_unusable"
  | "reports_unusable"
  | "lock_stale"
  | "lock_unknown"
  | "lock_unreadable"
  | "takeover_left"
  | "coordinator_absent"
  | "port_taken"
  | "port_unproven"
  | "port_silent"
  | "close_uncertain"
  | "close_orphaned"
  | "resume_open"
  | "monitor_unfinished"
  | "script_left"
  | "temporary_left"
  | "clock_future"

/** Something that is not as it should be. */
export interface Finding {
  readonly code: FindingCode
  /** One sentence: what it is, and what it means. */
  readonly what: string
  /** What to do; once that is done, it is not found again. */
  readonly advice: string
}

/** What an examination of one folder found. */
export interface Diagnosis {
  readonly root: string
  readonly checkedAt: string
  readonly findings: ReadonlyArray<Finding>
  /** What could not be looked at, and why: the ends of sentences. */
  readonly notChecked: ReadonlyArray<string>
}

const maxFindings = 64
const maxText = 600

/** A diagnosis as it may be shown: each text one bounded line, without what steers a terminal; `more` did not fit. */
export const presented = (diagnosis: Diagnosis, present: (text: string) => string) => {
  const clean = (text: string): string => {
    const line = present(plainLine(text))
    return line.length > maxText ? `${line.slice(0, maxText - 1)}…` : line
  }
  const shown = diagnosis.findings.slice(0, maxFindings)
  return {
    version: 1,
    root: clean(diagnosis.root),
    checkedAt: diagnosis.checkedAt,
    findings: shown.map(({ advice, code, what }) => ({ code, what: clean(what), advice: clean(advice) })),
    more: diagnosis.findings.length - shown.length,
    notChecked: diagnosis.notChecked.slice(0, maxFindings).map(clean)
  } as const
}

/** A diagnosis for a person. */
export const diagnosisText = (diagnosis: Diagnosis, present: (text: string) => string): string => {
  const { findings, more, notChecked, root } = presented(diagnosis, present)
  const count = findings.length + more
  return [
    count === 0
      ? `Intercom: nothing wrong was found in ${root}.`
      : `Intercom: ${count === 1 ? "1 finding" : `${count} findings`} in ${root}.`,
    ...findings.map(({ advice, code, what }, index) => `${index + 1}. ${what} ${advice} [${code}]`),
    ...(more > 0 ? [`${more} more are not shown.`] : []),
    ...notChecked.map((what) => `Not checked: ${what}.`)
  ].join("\n")
}

/** A diagnosis for a program: one JSON object. */
export const diagnosisJson = (diagnosis: Diagnosis, present: (text: string) => string): string =>
  JSON.stringify(presented(diagnosis, present), null, 2)
