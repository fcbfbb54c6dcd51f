import * as fc from "effect/FastCheck"
import { recipient, sender } from "./Receivers.ts"

/** What a fuzzer does to requests and envelopes. Everything is a fast-check arbitrary: one seed gives one sequence. */

type Json = null | boolean | number | string | ReadonlyArray<Json> | { readonly [key: string]: Json }

const job = { jobId: "job-1", instanceId: "instance-1" }
const identity = {
  workspaceId: "w1",
  paneId: "p1",
  terminalId: "t1",
  sessionId: "sender",
  sessionFile: "/sessions/sender.jsonl",
  pid: 4242,
  processStart: "123456"
}

/** One valid payload of each kind of spec 2.3. */
export const payloads: Readonly<Record<string, Json>> = {
  message: { message: "Please look at the parser. 漢字" },
  report: { status: "ready_for_review", summary: "Done." },
  registration: { port: 40_001, projectDirectory: "packages/api" },
  status: { port: 40_001, busy: true },
  request_status: {},
  reload: {},
  stop: {},
  close: {},
  close_prepare: { jobId: job.jobId, deadlineAt: "2030-01-02T03:04:05.678Z" },
  close_identity: { ...job, identity },
  close_request: job,
  handoff_report: { ...job, report: 1, summary: "Half of it." },
  close_ready: { ...job, report: 2, readyNonce: "nonce-1" },
  close_commit: { ...job, readyNonce: "nonce-1" }
}

const envelopeOf = (kind: string): Json => ({
  version: 1,
  kind,
  from: sender,
  to: recipient,
  payload: payloads[kind] ?? {},
  correlationId: "attempt-1"
})

const kind = fc.constantFrom(...Object.keys(payloads))
/** A valid envelope of any kind. */
export const envelope: fc.Arbitrary<Json> = kind.map(envelopeOf)

const nested = (levels: number): Json => levels === 0 ? 1 : [nested(levels - 1)]
const strange: fc.Arbitrary<Json> = fc.oneof(
  fc.constantFrom<Json>(
    null,
    true,
    false,
    0,
    1,
    -1,
    2,
    65_535,
    65_536,
    1.5,
    -0,
    1e300,
    2 ** 53,
    "",
    " ",
    "\u0000",
    "x\u0000y",
    "\ud800",
    "\u202e",
    ".",
    "..",
    "a/../b",
    "/etc",
    "C:\\x",
    "a\\b",
    "clear",
    "blocked",
    "message",
    "close",
    "__proto__",
    "constructor",
    "toString",
    "2030-01-02T03:04:05Z",
    "2030-13-02T03:04:05Z",
    "2030-01-02",
    sender,
    recipient,
    [],
    {},
    [[]],
    [{}],
    { x: 1 },
    "x".repeat(128),
    "x".repeat(129),
    "x".repeat(257),
    "y".repeat(2000),
    "y".repeat(2001),
    "z".repeat(48_000),
    "z".repeat(48_001),
    "漢".repeat(4001),
    nested(15),
    nested(16),
    nested(17),
    nested(400)
  ),
  fc.integer(),
  fc.double(),
  fc.string({ maxLength: 40 }),
  fc.fullUnicodeString({ maxLength: 20 })
)
const strangeKey = fc.oneof(
  fc.constantFrom(
    "__proto__",
    "constructor",
    "prototype",
    "toString",
    "hasOwnProperty",
    "",
    "x",
    "kind",
    "payload",
    "message",
    "version",
    "messageId",
    "correlationId",
    "jobId",
    "k".repeat(1000)
  ),
  fc.string({ maxLength: 12 })
)

/** A place in a JSON value, chosen by numbers so that it can be reproduced. */
type Edit = (value: Json, at: number) => Json
type Way = "value" | "delete" | "add" | "wrap" | "rename"

const put = (entries: ReadonlyArray<readonly [string, Json]>): Json => Object.fromEntries(entries)

/** Applies a change at the `turns`-th way down: each number picks a child, until they are used up. */
const edit = (value: Json, turns: ReadonlyArray<number>, change: Edit): Json => {
  const [turn, ...rest] = turns
  if (turn === undefined || typeof value !== "object" || value === null || Array.isArray(value)) return change(value, 0)
  const entries = Object.entries(value)
  if (entries.length === 0) return change(value, 0)
  const at = turn % entries.length
  if (rest.length === 0) return change(value, at)
  return put(entries.map(([key, child], index) => [key, index === at ? edit(child, rest, change) : child]))
}

const changeBy = (way: Way, given: Json, key: string): Edit => (value, at) => {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return way === "wrap" ? [value] : given
  const entries = Object.entries(value)
  switch (way) {
    case "value":
      return put(entries.map(([name, child], index) => [name, index === at ? given : child]))
    case "delete":
      return put(entries.filter((_, index) => index !== at))
    case "add":
      return put([...entries, [key, given]])
    case "rename":
      return put(entries.map(([name, child], index) => [index === at ? key : name, child]))
    case "wrap":
      return put(entries.map(([name, child], index) => [name, index === at ? [child] : child]))
  }
}

const structural = fc.tuple(
  fc.array(fc.nat(20), { minLength: 1, maxLength: 3 }),
  fc.constantFrom<Way>("value", "value", "delete", "add", "wrap", "rename"),
  strange,
  strangeKey
)

/** Bytes: one place is changed, left out, repeated, or cut off. */
export interface Splice {
  readonly at: number
  readonly way: "flip" | "set" | "insert" | "delete" | "repeat" | "cut" | "case" | "blank"
  readonly bytes: Uint8Array
  readonly length: number
}
/** `void_`: how often the change is one of those that mean nothing in HTTP. */
export const splice = (void_: number): fc.Arbitrary<Splice> =>
  fc.record({
    at: fc.nat(1 << 20),
    way: fc.oneof(
      {
        weight: 10 - void_,
        arbitrary: fc.constantFrom<Splice["way"]>("flip", "set", "insert", "delete", "repeat", "cut")
      },
      { weight: void_, arbitrary: fc.constantFrom<Splice["way"]>("case", "blank") }
    ),
    bytes: fc.oneof(
      fc.uint8Array({ minLength: 1, maxLength: 6 }),
      fc.constantFrom(
        "\r\n",
        "\n",
        "\r\n\r\n",
        " ",
        "\t",
        ":",
        ",",
        "\"",
        "}",
        "\u0000",
        "host: x\r\n",
        "origin: x\r\n",
        "\\u0000"
      ).map((text) => new Uint8Array(Buffer.from(text)))
    ),
    length: fc.integer({ min: 1, max: 40 })
  })

const letter = (byte: number): boolean => (byte >= 65 && byte <= 90) || (byte >= 97 && byte <= 122)

/** `bytes` with the splice applied. */
export const spliced = (bytes: Buffer, { at: place, bytes: given, length, way }: Splice): Buffer => {
  const at = bytes.length === 0 ? 0 : place % bytes.length
  const [before, after] = [bytes.subarray(0, at), bytes.subarray(at)]
  switch (way) {
    case "flip":
      return Buffer.concat([before, Buffer.from([(after[0] ?? 0) ^ (1 << (length % 8))]), after.subarray(1)])
    case "set":
      return Buffer.concat([before, given, after.subarray(given.length)])
    case "insert":
      return Buffer.concat([before, given, after])
    case "delete":
      return Buffer.concat([before, after.subarray(length)])
    case "repeat":
      return Buffer.concat([before, after.subarray(0, length), after])
    case "cut":
      return before
    case "case":
      return Buffer.concat([
        before,
        Buffer.from(after.subarray(0, length)).map((byte) => letter(byte) ? byte ^ 32 : byte),
        after.subarray(length)
      ])
    case "blank": {
      const colon = bytes.indexOf(": ", at)
      return colon < 0
        ? bytes
        : Buffer.concat([
          bytes.subarray(0, colon + 1),
          Buffer.from(" \t".repeat(length % 4)),
          bytes.subarray(colon + 1)
        ])
    }
  }
}

/** The bytes of an envelope that its sender broke before signing: its structure, its text, or both. */
export const brokenEnvelope: fc.Arbitrary<Buffer> = fc.tuple(
  envelope,
  fc.array(structural, { minLength: 0, maxLength: 3 }),
  fc.array(splice(1), { maxLength: 1 })
).map(([whole, changes, splices]) => {
  const changed = changes.reduce<Json>(
    (value, [turns, way, given, key]) => edit(value, turns, changeBy(way, given, key)),
    whole
  )
  return splices.reduce(spliced, Buffer.from(JSON.stringify(changed)))
})
