import { assert, describe, it } from "@effect/vitest"
import * as FC from "effect/FastCheck"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import {
  maxRecordBytes,
  type Observation,
  ObservationRecord,
  readRecord,
  recordLine
} from "../../src/domain/Observation.ts"
import { SessionId } from "../../src/domain/Primitives.ts"

const head = {
  timestamp: "2026-01-01T00:00:00.000Z",
  writerId: "00000000-0000-4000-8000-000000000001",
  sessionId: SessionId.make("s-1")
} as const
const sessionId = FC.string({ minLength: 1, maxLength: 40 }).filter((id) => id.trim() !== "" && !id.includes("\0"))
const port = FC.integer({ min: 1, max: 65_535 })
const kind = FC.constantFrom("message" as const, "status" as const, "close_commit" as const)

/** Each variant of what can be observed. */
const observation: FC.Arbitrary<Observation> = FC.oneof(
  FC.record({
    event: FC.constantFrom(
      "runtime.starting" as const,
      "runtime.closed" as const,
      "config.changed" as const,
      "config.reloaded" as const
    )
  }),
  FC.record({
    event: FC.constant("runtime.ready" as const),
    role: FC.constantFrom(
      "solo" as const,
      "coordinator" as const,
      "worker" as const,
      "unloaded" as const,
      "anonymous" as const
    ),
    port
  }),
  FC.record({ event: FC.constant("runtime.failed" as const), errorCode: FC.constant("lock_taken") }),
  FC.record({
    event: FC.constantFrom("transport.send" as const, "transport.receipt" as const, "transport.received" as const),
    kind,
    peerSessionId: sessionId
  }),
  FC.record({
    event: FC.constant("transport.failed" as const),
    kind,
    peerSessionId: sessionId,
    outcome: FC.constantFrom(
      "Undelivered" as const,
      "Rejected" as const,
      "OutcomeUnknown" as const,
      "StateUnusable" as const
    )
  }),
  FC.record({
    event: FC.constant("transport.rejected" as const),
    kind,
    peerSessionId: sessionId,
    outcome: FC.constantFrom("400", "403", "503")
  }),
  FC.record({ event: FC.constant("registration.received" as const), peerSessionId: sessionId, port }),
  FC.record({ event: FC.constant("status.received" as const), peerSessionId: sessionId, port, busy: FC.boolean() }),
  FC.record({
    event: FC.constant("launch.result" as const),
    outcome: FC.constantFrom("submitted" as const, "missing_program" as const, "unknown" as const)
  }),
  FC.record({
    event: FC.constant("host.submission" as const),
    outcome: FC.constantFrom("submitted" as const, "held" as const, "dropped" as const)
  }),
  FC.record({
    event: FC.constant("host.activity" as const),
    busy: FC.boolean(),
    phase: FC.constantFrom("working" as const, "thinking" as const, "tool" as const, "idle" as const),
    detail: FC.constantFrom("processing" as const, "thinking" as const, "multiple_tools" as const, "settled" as const)
  }),
  FC.record({
    event: FC.constant("host.ui_prompt" as const),
    phase: FC.constantFrom("start" as const, "end" as const)
  }),
  FC.record({
    event: FC.constant("close.transition" as const),
    peerSessionId: sessionId,
    correlationId: FC.constant("job-1"),
    outcome: FC.constantFrom("requested" as const, "timed_out" as const),
    detail: FC.constantFrom("timeout" as const, "worker_busy" as const)
  })
)

const token = "sk-live-0123456789abcdef0123456789abcdef0123456789abcdef"
/** What must never stand in a log, in whatever field somebody puts it. */
const forbidden = [
  "Please look at the payroll of Mr. Fox.",
  "/home/ada/project/secret.txt",
  "C:\\Users\\ada\\x.ts",
  "../../etc/passwd",
  token,
  "ENOENT: no such file or directory, open '/tmp/x'",
  "line one\nline two",
  "漢字"
]
/** The fields whose values are not ids that others chose: of them nothing but lists and patterns may stand in a log. */
const listed = ["kind", "role", "outcome", "phase", "detail", "busy", "port"] as const
const patterned = ["operation", "errorCode", "correlationId"] as const
const invented = ["message", "args", "path", "error", "summary", "description", "pane", "pid", "secret", "__proto__"]

describe("a record of the log", () => {
  it("is read back as it was written, with everything that was observed (property)", () => {
    FC.assert(FC.property(observation, (observed) => {
      const line = Option.getOrThrow(recordLine(head, observed))
      assert.isTrue(line.endsWith("}\n"))
      assert.notInclude(line.slice(0, -1), "\n")
      const record: unknown = Option.getOrThrow(readRecord(line))
      assert.deepStrictEqual(record, { version: 1, ...head, ...observed })
    }))
  })

  it("encodes to what it decodes from, and decodes to itself (property)", () => {
    const arbitrary = observation.map((observed) =>
      Option.getOrThrow(Option.flatMap(recordLine(head, observed), readRecord))
    )
    const [encode, decode] = [Schema.encodeSync(ObservationRecord), Schema.decodeUnknownSync(ObservationRecord)]
    FC.assert(FC.property(arbitrary, (record) => {
      assert.deepStrictEqual(decode(encode(record)), record)
    }))
  })

  it("drops every key that it does not have, and everything that no list or pattern has (property)", () => {
    const smuggled = FC.dictionary(
      FC.constantFrom(...listed, ...patterned, ...invented),
      FC.constantFrom(...forbidden)
      // An id of a job is any token: nobody can tell it from a secret that is one.
    ).filter(({ correlationId }) => correlationId !== token)
    FC.assert(FC.property(observation, smuggled, (observed, extra) => {
      const wanted: unknown = { ...observed, ...extra }
      const text = JSON.stringify({ version: 1, ...head, ...Object(wanted) })
      const line = JSON.stringify(Option.getOrUndefined(readRecord(text)) ?? null)
      const peer = "peerSessionId" in observed ? observed.peerSessionId : ""
      for (const one of forbidden) if (!peer.includes(one)) assert.notInclude(line, JSON.stringify(one).slice(1, -1))
      for (const key of invented) if (peer !== key) assert.notInclude(line, `"${key}":`)
    }))
  })

  it("is none without its fixed fields, of another version, or of an event that nobody knows", () => {
    const valid = { version: 1, ...head, event: "config.changed" }
    assert.isTrue(Option.isSome(readRecord(JSON.stringify(valid))))
    const broken: ReadonlyArray<object> = [
      { version: 2 },
      { timestamp: "2026-01-01T00:00:00Z" },
      { timestamp: "2026-02-31T25:00:00.000Z" },
      { timestamp: "2026-01-01T00:00:00.000+02:00" },
      { writerId: "../x" },
      { writerId: "" },
      { sessionId: " " },
      { sessionId: "x".repeat(257) },
      { event: "config.deleted" },
      { event: null }
    ]
    for (const one of broken) {
      assert.isTrue(Option.isNone(readRecord(JSON.stringify({ ...valid, ...one }))), String(Object.values(one)))
    }
    for (const key of ["version", "timestamp", "writerId", "sessionId", "event"]) {
      const { [key]: _, ...rest }: Record<string, unknown> = valid
      assert.isTrue(Option.isNone(readRecord(JSON.stringify(rest))), key)
    }
    for (const text of ["", "null", "[]", "1", "{", "\ufffd"]) assert.isTrue(Option.isNone(readRecord(text)), text)
  })

  it("keeps a record whose optional field another version knows better, without that field", () => {
    const text = JSON.stringify({
      version: 1,
      ...head,
      event: "host.activity",
      busy: true,
      phase: "dreaming",
      port: "1"
    })
    const record: unknown = Option.getOrThrow(readRecord(text))
    assert.deepStrictEqual(record, { version: 1, ...head, event: "host.activity", busy: true })
  })

  it("is at most 4 KiB", () => {
    const observed: Observation = { event: "registration.received", peerSessionId: "\ud800".repeat(256), port: 1 }
    const own = { ...head, sessionId: SessionId.make(`${"\u0001".repeat(255)}x`) }
    const line = Option.getOrThrow(recordLine(own, observed))
    assert.isAtMost(new TextEncoder().encode(line).length, maxRecordBytes)
    const grown = { ...observed, peerName: "\ud800".repeat(128), correlationId: "x".repeat(128) }
    assert.isTrue(Option.isNone(recordLine(own, grown)))
  })
})
