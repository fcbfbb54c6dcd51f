import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { encodeEnvelope } from "../../../src/domain/Envelope.ts"
import type { Port } from "../../../src/domain/Primitives.ts"
import { limits } from "../../../src/layers/IntercomServer/Limits.ts"
import * as Nonces from "../../../src/layers/IntercomServer/Nonces.ts"
import { eventuallyTrue } from "../../support/Eventually.ts"
import {
  assertError,
  errorOf,
  hello,
  isProven,
  key,
  listening,
  nonce,
  post,
  postHead
} from "../../support/Listening.ts"
import { authorize, connect, head, raw, untilClosed } from "../../support/RawHttp.ts"
import { message, recipient } from "../../support/Receivers.ts"
import { watching } from "../../support/Watching.ts"

/** A signed POST as text: what is before the body, with the bytes of the body left to the caller. */
const signedHead = (port: Port, edit: (head: string) => string = (text) => text) => Effect.map(postHead(port), edit)
const chunked = (text: string): string => text.replace(/content-length: \d+/, "transfer-encoding: chunked")
const chunk = (text: string, extension = ""): string => `${text.length.toString(16)}${extension}\r\n${text}\r\n0\r\n`
const twice = (name: string, value: string) => (text: string): string =>
  text.replace("\r\n\r\n", `\r\n${name}: ${value}\r\n\r\n`)

interface Row {
  readonly what: string
  readonly edit: (head: string, port: Port) => string
  readonly body?: string
  /** Absent: it is served, 202. */
  readonly refused?: readonly [status: number, proven: boolean]
}

describe("requests that no client of ours makes", () => {
  const rows: ReadonlyArray<Row> = [
    {
      what: "CONNECT to itself",
      edit: (text, port) => text.replace("POST /intercom", `CONNECT 127.0.0.1:${port}`),
      refused: [404, false]
    },
    {
      what: "CONNECT of a stranger",
      edit: () => "CONNECT example.com:443 HTTP/1.1\r\nhost: example.com:443\r\n\r\n",
      refused: [403, false]
    },
    ...["TRACE", "OPTIONS", "PUT", "PATCH", "DELETE"].map((method): Row => ({
      what: method,
      edit: (text) => text.replace("POST", method),
      refused: [404, false]
    })),
    {
      what: "an absolute target",
      edit: (text, port) => text.replace("/intercom", `http://127.0.0.1:${port}/intercom`),
      refused: [404, false]
    },
    {
      what: "a target with a fragment",
      edit: (text) => text.replace("/intercom", "/intercom#x"),
      refused: [404, false]
    },
    { what: "two slashes", edit: (text) => text.replace("/intercom", "//intercom"), refused: [404, false] },
    { what: "a second, foreign Host", edit: twice("host", "example.com"), refused: [403, false] },
    { what: "a second signature", edit: twice("authorization", "Intercom x"), refused: [401, false] },
    { what: "a second content type", edit: twice("content-type", "text/plain"), refused: [415, true] },
    { what: "an empty Origin", edit: twice("origin", ""), refused: [403, false] },
    { what: "an empty Sec-Fetch-Site", edit: twice("sec-fetch-site", ""), refused: [403, false] },
    { what: "LOCALHOST", edit: (text) => text.replace("127.0.0.1", "LOCALHOST"), refused: [403, false] },
    { what: "[::1]", edit: (text) => text.replace("127.0.0.1", "[::1]"), refused: [403, false] },
    { what: "a trailing dot", edit: (text) => text.replace("127.0.0.1", "localhost."), refused: [403, false] },
    { what: "bare line feeds", edit: (text) => text.replaceAll("\r\n", "\n"), refused: [400, false] },
    { what: "a blank before the colon", edit: (text) => text.replace("host:", "host :"), refused: [400, false] },
    { what: "NUL in a header", edit: twice("x", "a\u0000b"), refused: [400, false] },
    { what: "a folded signature", edit: (text) => text.replace(", body", ",\r\n body"), refused: [400, false] },
    {
      what: "content-length twice, the same",
      edit: twice("content-length", String(hello.length)),
      refused: [400, false]
    },
    {
      what: "content-length as a list",
      edit: (text) => text.replace(/length: (\d+)/, "length: $1, $1"),
      refused: [400, false]
    },
    {
      what: "content-length with a sign",
      edit: (text) => text.replace("length: ", "length: +"),
      refused: [400, false]
    },
    { what: "a negative content-length", edit: (text) => text.replace("length: ", "length: -"), refused: [400, false] },
    {
      what: "a content-length over 64 bits",
      edit: (text) => text.replace("length: ", "length: 99999999999999999999"),
      refused: [400, false]
    },
    {
      what: "content-length and chunks",
      edit: twice("transfer-encoding", "chunked"),
      body: `${chunk(hello)}\r\n`,
      refused: [400, false]
    },
    {
      what: "chunked twice",
      edit: (text) => chunked(text).replace("chunked", "chunked, chunked"),
      body: `${chunk(hello)}\r\n`,
      refused: [400, false]
    },
    { what: "a chunk without a size", edit: chunked, body: `zz\r\n${hello}\r\n0\r\n\r\n`, refused: [400, false] },
    {
      what: "a chunk extension of 20 KB",
      edit: chunked,
      body: `${chunk(hello, `;${"a".repeat(20_000)}`)}\r\n`,
      refused: [400, false]
    },
    { what: "HTTP/2", edit: () => "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", body: "", refused: [400, false] },
    {
      what: "no version, which is HTTP/0.9",
      edit: (text) => text.replace(" HTTP/1.1\r\n", "\n"),
      refused: [400, false]
    },
    { what: "HTTP/3.7", edit: (text) => text.replace("HTTP/1.1", "HTTP/3.7"), refused: [400, false] },
    { what: "a TLS greeting", edit: () => "\u0016\u0003\u0001\u0002\u0000\u0001", body: "", refused: [400, false] },
    {
      what: "a body longer than it says",
      edit: (text) => text.replace(/length: \d+/, "length: 5"),
      refused: [401, true]
    },
    // What the signature covers is whole: how it travels is nobody's business.
    { what: "HTTP/1.0", edit: (text) => text.replace("HTTP/1.1", "HTTP/1.0") },
    { what: "an upgrade", edit: (text) => twice("upgrade", "websocket")(twice("connection", "upgrade")(text)) },
    { what: "an expectation that nobody knows", edit: twice("expect", "wonders") },
    { what: "chunks with extensions", edit: chunked, body: `${chunk(hello, ";a=b;c=\"d\"")}\r\n` },
    { what: "trailers", edit: chunked, body: `${chunk(hello)}origin: x\r\nhost: example.com\r\n\r\n` },
    {
      what: "other case and blanks",
      edit: (text) => text.replace("host:", "HOST:").replace("content-type: ", "Content-TYPE:\t ")
    },
    { what: "garbage behind it", edit: (text) => text, body: `${hello}\u0001\u0002 garbage\r\n\r\n` },
    { what: "4 MB of garbage behind it", edit: (text) => text, body: `${hello}${"x".repeat(4_000_000)}` }
  ]
  for (const { body = hello, edit, refused, what } of rows) {
    it.scopedLive(`${what}: ${refused === undefined ? "served" : refused[0]}`, () =>
      Effect.gen(function*() {
        const { port, received } = yield* listening()
        const answer = yield* raw(port, yield* signedHead(port, (text) => edit(text, port)), body)
        if (refused === undefined) {
          assert.deepStrictEqual([answer.status, answer.body, isProven(answer)], [202, "{\"accepted\":true}", true])
          assert.deepStrictEqual(received.map(({ envelope }) => envelope), [message("hello")])
        } else {
          assertError(answer, ...refused)
          assert.deepStrictEqual(received, [])
        }
        assert.strictEqual((yield* post(port, { signing: { nonce: `${nonce}-again` } })).status, 202)
      }))
  }

  it.scopedLive("what comes behind a request while it is decided about changes nothing of its answer", () =>
    Effect.gen(function*() {
      const seen = yield* watching
      const [running, go] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
      const { port } = yield* listening({
        receive: (_1, _2, commit) =>
          Deferred.succeed(running, undefined).pipe(
            Effect.zipRight(Deferred.await(go)),
            Effect.zipRight(commit(Effect.fail({ status: 400, sentence: "not from you" } as const)))
          )
      })
      const socket = yield* connect(port)
      const answering = yield* Effect.fork(untilClosed(socket))
      socket.write((yield* signedHead(port)) + hello)
      yield* Deferred.await(running)
      const [atServer] = seen.filter((one) => one.port === port)
      const garbage = "\u0000garbage\r\n\r\n".repeat(5000)
      socket.write(garbage)
      const read = Effect.sync(() => (atServer?.request.socket.bytesRead ?? 0) > garbage.length)
      yield* eventuallyTrue("the listener has read what comes behind", read)
      yield* Deferred.succeed(go, undefined)
      const answer = yield* Fiber.join(answering)
      assertError(answer, 400, true)
      assert.strictEqual(errorOf(answer), "not from you")
    }))

  it.scopedLive("Expect: 100-continue gets its 100, then the answer, also a refusal", () =>
    Effect.gen(function*() {
      const { port, received } = yield* listening()
      const served = yield* raw(port, yield* signedHead(port, twice("expect", "100-continue")), hello)
      assert.strictEqual(served.status, 100)
      assert.match(served.body, /^HTTP\/1\.1 202 /)
      const headers = { host: `127.0.0.1:${port}`, "content-type": "application/json", expect: "100-continue" }
      const refused = yield* raw(
        port,
        head("POST /intercom", { ...headers, "content-length": 5_000_000 }),
        "x".repeat(5_000_000)
      )
      assert.match(refused.body, /^HTTP\/1\.1 413 /)
      assert.lengthOf(received, 1)
    }))
})

describe("the time a request may take to arrive", () => {
  it.scopedLive("a body that drips is cut at the limit for the whole request, however alive its sender is", () =>
    Effect.gen(function*() {
      const { port, received } = yield* listening({}, { arrivalMs: 300 })
      const socket = yield* connect(port)
      const answering = yield* Effect.fork(untilClosed(socket))
      socket.write(yield* signedHead(port))
      const drip = yield* Effect.fork(
        Effect.forEach(hello, (char) => Effect.zipRight(Effect.sync(() => socket.write(char)), Effect.sleep(20)))
      )
      assertError(yield* Fiber.join(answering), 408, false)
      yield* Fiber.interrupt(drip)
      assert.deepStrictEqual(received, [])
    }))

  it.scopedLive("the limit of the product is 5 s", () => Effect.sync(() => assert.strictEqual(limits.arrivalMs, 5000)))
})

describe("the store of nonces", () => {
  const at = 1_000_000
  it("holds 65,536, refuses the next, and forgets each one 60 s after its time", () => {
    const store = Nonces.make(limits.maxNonces)
    for (let index = 0; index < 65_536; index += 1) assert.strictEqual(store.add(`n${index}`, at, at), "added")
    assert.strictEqual(store.add("one more", at, at), "full")
    assert.strictEqual(store.add("n7", at, at), "seen")
    assert.strictEqual(store.add("one more", at, at + 60_000), "full")
    assert.strictEqual(store.add("n7", at, at + 60_000), "seen")
    assert.strictEqual(store.add("one more", at, at + 60_001), "added")
    assert.strictEqual(store.add("n7", at, at + 60_001), "added")
  })

  it("remembers a nonce from the future until 60 s after that, and forgets what expired behind it when full", () => {
    const store = Nonces.make(2)
    assert.strictEqual(store.add("future", at + 30_000, at), "added")
    assert.strictEqual(store.add("past", at - 30_000, at), "added")
    assert.strictEqual(store.add("next", at, at + 30_000), "full")
    assert.strictEqual(store.add("next", at, at + 30_001), "added")
    assert.strictEqual(store.add("future", at + 30_000, at + 90_000), "seen")
  })

  it.scopedLive("when it is full a health request says so too, proven; an unsigned one is answered", () =>
    Effect.gen(function*() {
      const { port } = yield* listening({}, { maxNonces: 1 })
      assert.strictEqual((yield* post(port)).status, 202)
      const ask = (authorization: string | undefined) =>
        raw(port, head("GET /intercom/health", { host: `127.0.0.1:${port}`, authorization }))
      const of = `${nonce}2`
      const full = yield* ask(yield* authorize(key, { method: "GET", path: "/intercom/health", nonce: of }))
      assert.deepStrictEqual([full.status, isProven(full, of), errorOf(full).length > 0], [503, true, true])
      assert.strictEqual((yield* ask(undefined)).status, 200)
    }))
})

describe("deciding in time, over HTTP", () => {
  const slow = { decideMs: 100, truthMs: 100 }
  it.scopedLive("before the commit: a proven 503, and the effect never happens", () =>
    Effect.gen(function*() {
      let effects = 0
      const { port } = yield* listening({
        receive: (_1, _2, commit) => Effect.zipRight(Effect.never, commit(Effect.sync(() => void (effects += 1))))
      }, slow)
      assertError(yield* post(port), 503, true)
      assert.strictEqual(effects, 0)
    }))

  it.scopedLive("after the commit: the truth, or the connection is cut without a word", () =>
    Effect.gen(function*() {
      const ended = yield* Deferred.make<void>()
      const late = yield* listening({ receive: (_1, _2, commit) => commit(Effect.sleep(150)) }, {
        decideMs: 50,
        truthMs: 60_000
      })
      assert.strictEqual((yield* post(late.port)).status, 202)
      const never = yield* listening({ receive: (_1, _2, commit) => commit(Deferred.await(ended)) }, slow)
      const cut = yield* post(never.port)
      assert.deepStrictEqual([cut.status, cut.body], [0, ""])
      yield* Deferred.succeed(ended, undefined)
    }))
})

describe("300 at once", () => {
  it.scopedLive("256 are served, the rest are closed unserved, and the next request is as good as any", () =>
    Effect.gen(function*() {
      const others = 300 - limits.maxConnections
      const go = yield* Deferred.make<void>()
      let [inside, unserved] = [0, 0]
      const { port } = yield* listening({
        receive: (_1, _2, commit) =>
          Effect.suspend(() => ++inside > limits.maxConnections ? Deferred.succeed(go, undefined) : Effect.void).pipe(
            Effect.zipRight(Deferred.await(go)),
            Effect.zipRight(commit(Effect.void))
          )
      }, { decideMs: 60_000, truthMs: 60_000 })
      const one = (index: number) =>
        post(port, { signing: { nonce: `${nonce}-${index}` } }).pipe(
          Effect.map(({ status }) => status),
          Effect.orElseSucceed(() => 0),
          Effect.tap((status) => status === 0 && ++unserved === others ? Deferred.succeed(go, undefined) : Effect.void)
        )
      const statuses = yield* Effect.forEach(Array.from({ length: 300 }, (_, index) => index), one, {
        concurrency: "unbounded"
      })
      const served = statuses.filter((status) => status === 202).length
      assert.deepStrictEqual([served, inside, unserved], [limits.maxConnections, limits.maxConnections, others])
      yield* eventuallyTrue("a place is free", Effect.map(one(300), (status) => status === 202))
    }))
})

describe("the largest and strangest bodies, signed", () => {
  const envelope = (text: string): string => hello.replace("\"hello\"", text)
  const rows: ReadonlyArray<readonly [what: string, body: string | Buffer, status: number]> = [
    ["a number of 300,000 digits", envelope("9".repeat(300_000)), 400],
    ["1e999999999", envelope("1e999999999"), 400],
    ["a string of 300,000 characters", envelope(JSON.stringify("x".repeat(300_000))), 400],
    ["30,000 keys", envelope(`{${Array.from({ length: 30_000 }, (_, i) => `"${i}":0`).join(",")}}`), 400],
    ["100,000 array elements", envelope(`[${"[],".repeat(100_000)}0]`), 400],
    ["50,000 objects deep", `${"{\"a\":".repeat(50_000)}1${"}".repeat(50_000)}`, 400],
    ["a byte order mark", `\ufeff${hello}`, 400],
    ["UTF-16", Buffer.from(hello, "utf16le"), 400],
    ["an overlong NUL", Buffer.from(hello.replace("hello", "\u00c0\u0080"), "latin1"), 400],
    ["a surrogate as UTF-8", Buffer.from(hello.replace("hello", "\u00ed\u00a0\u0080"), "latin1"), 400],
    ["half a character at the end", Buffer.concat([Buffer.from(hello), Buffer.from([0xe6, 0xbc])]), 400],
    ["__proto__ for the envelope", `{"__proto__":${hello}}`, 400],
    ["__proto__ beside the envelope's keys", hello.replace("{", "{\"__proto__\":{\"polluted\":1},"), 202],
    [
      "__proto__ in an open payload",
      hello.replace("\"message\":\"hello\"", "\"message\":\"hello\",\"__proto__\":{\"polluted\":1}"),
      202
    ],
    ["constructor.prototype", hello.replace("{", "{\"constructor\":{\"prototype\":{\"polluted\":1}},"), 202],
    [
      "__proto__ in an empty payload",
      `{"version":1,"kind":"reload","from":"a","to":"${recipient}","payload":{"__proto__":{"polluted":1}}}`,
      202
    ],
    [
      "__proto__ in a closed payload",
      `{"version":1,"kind":"close_request","from":"a","to":"${recipient}","payload":{"jobId":"a","instanceId":"a","__proto__":{"x":1}}}`,
      400
    ],
    ["a key twice: the last counts, as JSON.parse has it", hello.replace("{", "{\"to\":\"another\","), 202],
    ["a kind that is a method of objects", hello.replace("\"message\"", "\"constructor\""), 400]
  ]
  for (const [what, body, status] of rows) {
    it.scopedLive(`${what}: ${status}`, () =>
      Effect.gen(function*() {
        const { port, received } = yield* listening()
        const answer = yield* post(port, { body })
        assert.deepStrictEqual([answer.status, isProven(answer)], [status, true], answer.body)
        if (status === 400) assertError(answer, 400, true)
        assert.lengthOf(received, status === 202 ? 1 : 0)
        assert.notProperty({}, "polluted")
        const [first] = received
        if (first !== undefined) {
          assert.strictEqual(Object.getPrototypeOf(first.envelope), Object.prototype)
          assert.notInclude(encodeEnvelope(first.envelope), "polluted")
        }
      }))
  }
})
