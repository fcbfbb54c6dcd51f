/** An error of Herdr's server: exit 1 with JSON on stderr. */
export class Refused extends Error {
  readonly code: string
  constructor(code: string, message: string) {
    super(message)
    this.code = code
  }
}

/** Arguments that Herdr's command line does not know: exit 2 with plain text. */
export class Misused extends Error {}

/** What a command that succeeded prints: an answer as JSON, or raw text. */
export type Outcome = { readonly result: { readonly type: string } } | { readonly text: string }
