import * as Schema from "effect/Schema"

/** What a health probe says of an endpoint (spec 2.5). Disconnected never means that a process ended. */
export const Probe = Schema.Union(
  Schema.Struct({ state: Schema.Literal("connected"), reason: Schema.Literal("verified", "unproven") }),
  Schema.Struct({
    state: Schema.Literal("disconnected"),
    reason: Schema.Literal("identity_mismatch", "refused", "timeout")
  }),
  Schema.Struct({
    state: Schema.Literal("unknown"),
    reason: Schema.Literal(
      "unsupported_version",
      "legacy",
      "http_error",
      "malformed",
      "oversize",
      "network_error",
      "aborted",
      "not_checked",
      "stale"
    )
  })
)
export type Probe = typeof Probe.Type

/** The health answer's body. */
export const HealthBody = Schema.Struct({ version: Schema.Literal(1), sessionId: Schema.String })

/** Judges a complete health answer: `proven` says whether its proof was valid. */
export const judgeHealth = (
  answer: { readonly status: number; readonly body: string; readonly proven: boolean },
  expectedSession: string
): Probe => {
  if (answer.status === 404) return { state: "unknown", reason: "legacy" }
  if (answer.status !== 200) return { state: "unknown", reason: "http_error" }
  const versioned = decodeVersion(answer.body)
  if (versioned._tag === "None") return { state: "unknown", reason: "malformed" }
  if (versioned.value.version !== 1) return { state: "unknown", reason: "unsupported_version" }
  const body = decodeHealth(answer.body)
  if (body._tag === "None") return { state: "unknown", reason: "malformed" }
  if (body.value.sessionId !== expectedSession) return { state: "disconnected", reason: "identity_mismatch" }
  return { state: "connected", reason: answer.proven ? "verified" : "unproven" }
}

// Another version's answer need not have our other fields.
const decodeVersion = Schema.decodeUnknownOption(Schema.parseJson(Schema.Struct({ version: Schema.Number })))
const decodeHealth = Schema.decodeUnknownOption(Schema.parseJson(HealthBody))

/** The JSON text of a session's health answer. */
export const encodeHealth = (sessionId: string): string => JSON.stringify({ version: 1, sessionId })
