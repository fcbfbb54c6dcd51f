import * as Either from "effect/Either"
import * as Option from "effect/Option"
import type { ParseError } from "effect/ParseResult"
import * as Schema from "effect/Schema"
import { CloseReason } from "./CloseTable.ts"
import { Port, ProjectDirectory, SessionId, Summary, Timestamp, Token } from "./Primitives.ts"
import { describe, firstProblem, unknownKey } from "./Problems.ts"
import { ReportStatus, ReportSummary, summaryFits } from "./Report.ts"

/** A request body is at most 320 KiB (spec 2.1). */
export const maxBodyBytes = 320 * 1024

/** A message's text: 1–48000 characters, not blank (spec 2.3). */
export const MessageText = Schema.String.pipe(
  Schema.minLength(1),
  Schema.maxLength(48_000),
  Schema.filter((text) => text.trim().length > 0 || "must not be blank")
)

const closed = { parseOptions: { onExcessProperty: "error" } } as const
const closedPayload = <Fields extends Schema.Struct.Fields>(fields: Fields) => Schema.Struct(fields).annotations(closed)
const EmptyPayload = Schema.Record({ key: Schema.String, value: Schema.Unknown })
const ReportNumber = Schema.Int.pipe(Schema.positive())
const digits = Schema.String.pipe(Schema.pattern(/^\d{1,20}$/))
const short = Schema.String.pipe(Schema.maxLength(256))

/** The payload of `close_identity`; never written anywhere (spec 6.3). */
export const PaneIdentity = closedPayload({
  workspaceId: short,
  paneId: short,
  terminalId: short,
  sessionId: SessionId,
  sessionFile: Schema.String.pipe(
    Schema.maxLength(4096),
    Schema.filter((file) => file.startsWith("/") || "must be an absolute path")
  ),
  pid: Schema.Int.pipe(Schema.positive()),
  processStart: digits
})
export type PaneIdentity = typeof PaneIdentity.Type

const head = {
  version: Schema.Literal(1),
  from: SessionId,
  to: SessionId,
  correlationId: Schema.optionalWith(Token, { exact: true }),
  messageId: Schema.optionalWith(Token, { exact: true })
}
const envelope = <Kind extends string, Payload extends Schema.Schema.Any>(kind: Kind, payload: Payload) =>
  // The kind comes first: the union then picks the member by it, and a problem is reported of that member.
  Schema.Struct({ kind: Schema.Literal(kind), ...head, payload })

/** One envelope of each kind (spec 2.3). Unknown envelope keys are ignored; handoff payloads are closed. */
export const Envelope = Schema.Union(
  envelope("message", Schema.Struct({ message: MessageText })),
  envelope(
    "report",
    Schema.Struct({ status: ReportStatus, summary: ReportSummary }).pipe(
      Schema.filter((report) => summaryFits(report) || "the summary must not be blank, and empty for clear")
    )
  ),
  envelope("registration", Schema.Struct({ port: Port, projectDirectory: ProjectDirectory })),
  envelope("status", Schema.Struct({ port: Port, busy: Schema.Boolean })),
  envelope("request_status", EmptyPayload),
  envelope("reload", EmptyPayload),
  envelope("stop", EmptyPayload),
  envelope("close", EmptyPayload),
  envelope("close_prepare", closedPayload({ jobId: Token, deadlineAt: Timestamp })),
  envelope("close_identity", closedPayload({ jobId: Token, instanceId: Token, identity: PaneIdentity })),
  envelope("close_request", closedPayload({ jobId: Token, instanceId: Token })),
  envelope(
    "handoff_report",
    closedPayload({ jobId: Token, instanceId: Token, report: ReportNumber, summary: Summary })
  ),
  envelope(
    "close_ready",
    closedPayload({ jobId: Token, instanceId: Token, report: ReportNumber, readyNonce: Token })
  ),
  envelope("close_commit", closedPayload({ jobId: Token, instanceId: Token, readyNonce: Token }))
)
export type Envelope = typeof Envelope.Type
export type Kind = Envelope["kind"]
export type EnvelopeOf<K extends Kind> = Extract<Envelope, { readonly kind: K }>

const kinds: ReadonlySet<unknown> = new Set<string>(Envelope.members.map((member) => member.fields.kind.literals[0]))
const parseJson = Schema.decodeUnknownOption(Schema.parseJson())
const decodeWhole = Schema.decodeUnknownEither(Envelope)
const ofAKind = Schema.is(Schema.Struct({ kind: Schema.Unknown }))

/** No envelope nests deeper; what does could overflow the stack of whatever walks it. */
const maxDepth = 16
const isDeeper = (value: unknown, than: number): boolean =>
  typeof value === "object" && value !== null &&
  (than === 0 || Object.values(value).some((child) => isDeeper(child, than - 1)))

/** The excess key of a closed payload is the sender's text: it is not repeated. */
const problemOf = (error: ParseError): string => {
  const first = firstProblem(error)
  return first.problem === unknownKey
    ? "the payload has a key that this kind does not take"
    : describe(first)
}

/** Reads a request body; on the left one sentence without the offending value. */
export const decodeEnvelope = (body: string): Either.Either<Envelope, string> => {
  const json = parseJson(body)
  if (Option.isNone(json)) return Either.left("the envelope is not valid JSON")
  if (isDeeper(json.value, maxDepth)) return Either.left("the envelope is nested too deeply")
  if (ofAKind(json.value) && !kinds.has(json.value.kind)) {
    return Either.left("the envelope is of a kind that this session does not know")
  }
  return Either.mapLeft(decodeWhole(json.value), (error) => `the envelope is not valid: ${problemOf(error)}`)
}

/** The kinds that are taken unsigned, and sent to an unproven holder, under PI_INTERCOM_ALLOW_UNAUTHENTICATED (spec 2.2). */
const unsigned: ReadonlySet<Kind> = new Set<Kind>(["message", "report", "status", "registration", "request_status"])

/** Whether a kind may go unsigned where that is allowed at all; closing never may. */
export const mayBeUnsigned = (kind: Kind): boolean => unsigned.has(kind)

/** The JSON text of an envelope, which is its own encoding: nothing in the schema transforms. */
export const encodeEnvelope = (value: Envelope): string => JSON.stringify(value)

/** The body of an error answer (spec 2.1): one sentence, and for handoff kinds a reason. */
export const ErrorBody = Schema.Struct({
  error: Schema.String,
  code: Schema.optionalWith(CloseReason, { exact: true })
})

/** The body of a 202 (spec 2.1): `accepted: true`, other keys are ignored. */
export const AcceptedBody = Schema.Struct({ accepted: Schema.Literal(true) })
