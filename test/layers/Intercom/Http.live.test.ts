import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Scope from "effect/Scope"
import { randomBytes } from "node:crypto"
import { encodeEnvelope, maxBodyBytes } from "../../../src/domain/Envelope.ts"
import type { Port } from "../../../src/domain/Primitives.ts"
import { proofHeader } from "../../../src/domain/Signature.ts"
import * as IdsNode from "../../../src/layers/Ids/Node.ts"
import * as ClientHttp from "../../../src/layers/IntercomClient/Http.ts"
import * as ServerHttp from "../../../src/layers/IntercomServer/Http.ts"
import { limits } from "../../../src/layers/IntercomServer/Limits.ts"
import { IntercomServer } from "../../../src/services/IntercomServer.ts"
import {
  assertError,
  errorOf,
  hello,
  isProven,
  key,
  listening,
  nonce,
  type Post,
  post
} from "../../support/Listening.ts"
import { authorize, connect, head, raw, type Signing, untilClosed } from "../../support/RawHttp.ts"
import { keeping, message, recipient } from "../../support/Receivers.ts"
import * as SecretsMemory from "../../support/SecretsMemory.ts"
import { contract } from "./Contract.ts"

const client = ClientHttp.layer.pipe(Layer.provide(Layer.merge(SecretsMemory.layer, IdsNode.layer)))
contract("HTTP", Layer.merge(ServerHttp.layer, client))

describe("what the listener answers", () => {
  it.scopedLive("202 with a proof over the very answer", () =>
    Effect.gen(function*() {
      const { port, received } = yield* listening()
      const answer = yield* post(port)
      assert.deepStrictEqual([answer.status, answer.body, isProven(answer)], [202, "{\"accepted\":true}", true])
      assert.strictEqual(received.length, 1)
      assert.strictEqual(
        (yield* post(port, { headers: { host: `localhost:${port}` }, signing: { nonce: `${nonce}2` } })).status,
        202
      )
    }))

  it.scopedLive("health: signed with a proof, unsigned or wrongly signed without, 503 once closed", () =>
    Effect.gen(function*() {
      let open = true
      const { port } = yield* listening({ open: Effect.sync(() => open) })
      const ask = (authorization: string | undefined) =>
        raw(port, head("GET /intercom/health", { host: `127.0.0.1:${port}`, authorization }))
      const signing: Signing = { method: "GET", path: "/intercom/health", nonce }
      const body = `{"version":1,"sessionId":"${recipient}"}`
      const signed = yield* ask(yield* authorize(key, signing))
      assert.deepStrictEqual([signed.status, signed.body, isProven(signed)], [200, body, true])
      const replayed = { ...signing, nonce: "another-nonce-of-it" }
      for (const authorization of [undefined, "Intercom x", yield* authorize(SecretsMemory.keyOf("other"), replayed)]) {
        const answer = yield* ask(authorization)
        assert.deepStrictEqual([answer.status, answer.body, proofHeader in answer.headers], [200, body, false])
      }
      open = false
      assertError(yield* ask(undefined), 503, false)
    }))

  const rows: ReadonlyArray<readonly [what: string, post: Post, status: number, proven: boolean]> = [
    ["a foreign Host", { headers: { host: "example.com" } }, 403, false],
    ["another port's Host", { headers: { host: "127.0.0.1:1" } }, 403, false],
    ["a Host without port", { headers: { host: "127.0.0.1" } }, 403, false],
    ["no Host", { headers: { host: undefined } }, 403, false],
    ["an Origin", { headers: { origin: "http://localhost" } }, 403, false],
    ["an opaque Origin", { headers: { origin: "null" } }, 403, false],
    ["Sec-Fetch-Site", { headers: { "sec-fetch-site": "same-origin" } }, 403, false],
    ["Sec-Fetch-Mode", { headers: { "sec-fetch-mode": "no-cors" } }, 403, false],
    ["an unknown route", { line: "POST /" }, 404, false],
    ["GET on the POST route", { line: "GET /intercom" }, 404, false],
    ["POST on the health route", { line: "POST /intercom/health" }, 404, false],
    ["text/plain", { headers: { "content-type": "text/plain" } }, 415, true],
    ["no content type", { headers: { "content-type": undefined } }, 415, true],
    ["no signature", { headers: { authorization: undefined } }, 401, false],
    ["another scheme", { headers: { authorization: "Bearer x" } }, 401, false],
    ["a signature of another method", { signing: { method: "PUT" } }, 401, false],
    ["a signature of another path", { signing: { path: "/intercom/health" } }, 401, false],
    ["a query added after signing", { line: "POST /intercom?x=1" }, 401, false],
    ["31 s in the past", { signing: { skew: -31_000 } }, 401, false],
    ["31 s in the future", { signing: { skew: 31_000 } }, 401, false],
    ["a body swapped after signing", { signing: { body: encodeEnvelope(message("hellO")) } }, 401, true],
    ["another recipient", { body: hello.replace(`"to":"${recipient}"`, "\"to\":\"someone\"") }, 400, true],
    ["no JSON", { body: "hello" }, 400, true],
    ["deep JSON", { body: `${"[".repeat(100_000)}${"]".repeat(100_000)}` }, 400, true],
    ["a deep payload", { body: hello.replace("\"hello\"", `${"[".repeat(90_000)}${"]".repeat(90_000)}`) }, 400, true],
    [
      "invalid UTF-8",
      { body: Buffer.concat([Buffer.from(hello.slice(0, -4)), Buffer.from([0xff]), Buffer.from("\"}}")]) },
      400,
      true
    ],
    ["an empty body", { body: "" }, 400, true],
    ["5 MB declared", { body: Buffer.alloc(5_000_000, 120) }, 413, true],
    [
      "5 MB declared, unsigned",
      { body: Buffer.alloc(5_000_000, 120), headers: { authorization: undefined } },
      413,
      false
    ],
    ["one byte too many", { body: Buffer.alloc(maxBodyBytes + 1, 120) }, 413, true]
  ]
  for (const [what, given, status, proven] of rows) {
    it.scopedLive(`${what}: ${status}`, () =>
      Effect.gen(function*() {
        const { port, received } = yield* listening()
        assertError(yield* post(port, given), status, proven)
        assert.deepStrictEqual(received, [])
        // The listener is as good as before.
        assert.strictEqual((yield* post(port, { signing: { nonce: `${nonce}-again` } })).status, 202)
      }))
  }

  it.scopedLive("within 30 s of its clock a request is fresh", () =>
    Effect.gen(function*() {
      const { port } = yield* listening()
      assert.strictEqual((yield* post(port, { signing: { skew: -29_000 } })).status, 202)
      assert.strictEqual((yield* post(port, { signing: { skew: 29_000, nonce: `${nonce}2` } })).status, 202)
    }))

  it.scopedLive("any mutation of a signature: 401", () =>
    Effect.gen(function*() {
      const { port, received } = yield* listening()
      const valid = yield* authorize(key, { body: hello, nonce })
      const mutations = [
        valid.slice(0, -1),
        `${valid}A`,
        `${valid.slice(0, -2)}${valid.endsWith("AA") ? "BB" : "AA"}`,
        valid.replace(nonce, `${nonce}x`),
        valid.replace(/ts=\d/, "ts=2"),
        valid.replace("Intercom ", "intercom "),
        valid.replace(", body", ",body"),
        yield* authorize(SecretsMemory.keyOf("other"), { body: hello, nonce })
      ]
      for (const authorization of mutations) assertError(yield* post(port, { headers: { authorization } }), 401, false)
      assert.deepStrictEqual(received, [])
      assert.strictEqual((yield* post(port, { headers: { authorization: valid } })).status, 202)
    }))

  it.scopedLive("a replay to the layer that /reload builds again on the port: 401", () =>
    Effect.gen(function*() {
      const { received, receiver } = keeping()
      const signing = { nonce: randomBytes(16).toString("base64url") }
      const session = (saved: Option.Option<Port>) =>
        Effect.gen(function*() {
          const port = yield* (yield* IntercomServer).listen(saved, receiver)
          return { port, answer: yield* post(port, { signing }) }
        }).pipe(Effect.scoped, Effect.provide(Layer.fresh(ServerHttp.layer)))
      const before = yield* session(Option.none())
      assert.strictEqual(before.answer.status, 202)
      const after = yield* session(Option.some(before.port))
      assert.strictEqual(after.port, before.port)
      assert.deepStrictEqual([after.answer.status, errorOf(after.answer).length > 0], [401, true])
      assert.lengthOf(received, 1)
    }))

  it.scopedLive("a replay: 401, also at the next listener of this process; a full store: 503", () =>
    Effect.gen(function*() {
      const server = yield* ServerHttp.makeWith({ ...limits, maxNonces: 2 })
      const scope = yield* Scope.make()
      const { received, receiver } = keeping()
      const port = yield* server.listen(Option.none(), receiver).pipe(Scope.extend(scope))
      assert.strictEqual((yield* post(port)).status, 202)
      assertError(yield* post(port), 401, true)
      yield* Scope.close(scope, Exit.void)
      assert.strictEqual(yield* server.listen(Option.some(port), receiver), port)
      assertError(yield* post(port), 401, true)
      assert.strictEqual((yield* post(port, { signing: { nonce: `${nonce}2` } })).status, 202)
      assert.strictEqual((yield* post(port, { signing: { nonce: `${nonce}3` } })).status, 503)
      assert.strictEqual(received.length, 2)
    }))

  it.scopedLive("5 MB in chunks, signed: read while it is counted, and a 413", () =>
    Effect.gen(function*() {
      const { port, received } = yield* listening()
      const chunk = `10000\r\n${"x".repeat(0x10000)}\r\n`
      const headers = {
        host: `127.0.0.1:${port}`,
        "content-type": "application/json",
        "transfer-encoding": "chunked",
        authorization: yield* authorize(key, { body: "x", nonce })
      }
      assertError(yield* raw(port, head("POST /intercom", headers), chunk.repeat(80), "0\r\n\r\n"), 413, true)
      assert.deepStrictEqual(received, [])
    }))

  it.scopedLive("a body without end is cut after a bounded drain", () =>
    Effect.gen(function*() {
      const { port } = yield* listening()
      const socket = yield* connect(port)
      const headers = { host: `127.0.0.1:${port}`, "content-type": "application/json", "content-length": 10 ** 12 }
      socket.write(head("POST /intercom", headers))
      const more = (): void => {
        if (!socket.destroyed) socket.write(Buffer.alloc(1 << 20), more)
      }
      more()
      assert.strictEqual((yield* untilClosed(socket)).status, 413)
    }))

  it.scopedLive("slow headers, slow bodies and silent connections end, with a 408 where a request began", () =>
    Effect.gen(function*() {
      const { port } = yield* listening({}, { arrivalMs: 200 })
      const answers = yield* Effect.all([
        raw(port, "POST /intercom HTTP/1.1\r\nhost: "),
        post(port, { headers: { "content-length": hello.length + 1 } }),
        raw(port)
      ], { concurrency: "unbounded" })
      assertError(answers[0], 408, false)
      assertError(answers[1], 408, false)
      assert.isFalse(answers[2].reset)
    }))

  const smuggled: ReadonlyArray<readonly [what: string, headers: string, status?: number]> = [
    ["content-length and transfer-encoding", "content-length: 5\r\ntransfer-encoding: chunked\r\n"],
    ["two content-lengths", "content-length: 5\r\ncontent-length: 6\r\n"],
    ["an unknown transfer-encoding", "transfer-encoding: x\r\n", 401],
    ["a folded header", "x: a\r\n b\r\ncontent-length: zz\r\n"],
    ["a 20 KB header", `x: ${"y".repeat(20_000)}\r\n`]
  ]
  for (const [what, headers, status = 400] of smuggled) {
    it.scopedLive(`${what}: ${status}, and nothing after it is served`, () =>
      Effect.gen(function*() {
        const { port, received } = yield* listening()
        const host = `host: 127.0.0.1:${port}\r\n`
        const health = `GET /intercom/health HTTP/1.1\r\n${host}\r\n`
        const answer = yield* raw(
          port,
          `POST /intercom HTTP/1.1\r\n${host}content-type: application/json\r\n${headers}\r\n0\r\n\r\n${health}`
        )
        assertError(answer, status, false)
        assert.notInclude(answer.body, "HTTP/1.1")
        assert.deepStrictEqual(received, [])
      }))
  }

  it.scopedLive("a pipelined second request is not served", () =>
    Effect.gen(function*() {
      const { port, received } = yield* listening()
      const health = head("GET /intercom/health", { host: `127.0.0.1:${port}` })
      const second = head("POST /intercom", {
        host: `127.0.0.1:${port}`,
        "content-type": "application/json",
        "content-length": hello.length,
        authorization: yield* authorize(key, { body: hello })
      })
      const answer = yield* raw(port, health + second + hello)
      assert.strictEqual(answer.status, 200)
      assert.notInclude(answer.body, "HTTP/1.1")
      assert.deepStrictEqual(received, [])
    }))

  it.scopedLive("300 connections: 256 are held, the others are closed, and the port lives on", () =>
    Effect.gen(function*() {
      const { port } = yield* listening()
      const scope = yield* Scope.make()
      const sockets = yield* Effect.forEach(Array.from({ length: 300 }), () => connect(port), { concurrency: 50 }).pipe(
        Scope.extend(scope)
      )
      const closed = yield* Deferred.make<void>()
      let count = 0
      for (const socket of sockets) {
        socket.on("error", () => undefined).resume().on("close", () => {
          count += 1
          if (count === 300 - limits.maxConnections) Deferred.unsafeDone(closed, Effect.void)
        })
      }
      yield* Deferred.await(closed)
      assert.strictEqual(count, 300 - limits.maxConnections)
      yield* Scope.close(scope, Exit.void)
      const answer = yield* post(port).pipe(Effect.repeat({ until: ({ status }) => status !== 0 }))
      assert.strictEqual(answer.status, 202)
    }))
})

describe("unsigned requests where they are allowed", () => {
  const unsigned = { headers: { authorization: undefined } }
  const kind = (name: string, payload: unknown): string =>
    JSON.stringify({ version: 1, kind: name, from: "a", to: recipient, payload })

  it.scopedLive("five kinds are taken, every other stays signed, and a wrong signature is no missing one", () =>
    Effect.gen(function*() {
      const { port, received } = yield* listening({ allowUnauthenticated: true })
      const open = [
        kind("message", { message: "x" }),
        kind("report", { status: "clear", summary: "" }),
        kind("status", { port: 1, busy: true }),
        kind("registration", { port: 1, projectDirectory: "." }),
        kind("request_status", {})
      ]
      for (const body of open) {
        const answer = yield* post(port, { ...unsigned, body })
        assert.deepStrictEqual([answer.status, proofHeader in answer.headers], [202, false])
      }
      assert.deepStrictEqual(received.map(({ signed }) => signed), open.map(() => false))
      const closed = [
        kind("stop", {}),
        kind("reload", {}),
        kind("close", {}),
        kind("close_commit", { jobId: "a", instanceId: "a", readyNonce: "a" })
      ]
      for (const body of closed) assertError(yield* post(port, { ...unsigned, body }), 401, false)
      assertError(yield* post(port, { headers: { authorization: "Intercom x" } }), 401, false)
      assert.strictEqual(received.length, open.length)
    }))
})

describe("closing the listener", () => {
  it.scopedLive("frees the port at once under a silent, an idle and a running connection; it is bound again", () =>
    Effect.gen(function*() {
      const server = yield* IntercomServer
      const scope = yield* Scope.make()
      const [running, interrupted] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
      const { receiver } = keeping({
        receive: () =>
          Deferred.succeed(running, undefined).pipe(
            Effect.zipRight(Effect.never),
            Effect.onInterrupt(() => Deferred.succeed(interrupted, undefined))
          )
      })
      const port = yield* server.listen(Option.none(), receiver).pipe(Scope.extend(scope))
      const silent = yield* Effect.fork(Effect.flatMap(connect(port), untilClosed))
      const half = yield* connect(port)
      half.write("GET /intercom/health HTTP/1.1\r\nconnection: keep-alive\r\n")
      const halfClosed = yield* Effect.fork(untilClosed(half))
      const inFlight = yield* Effect.fork(post(port))
      yield* Deferred.await(running)
      yield* Scope.close(scope, Exit.void)
      yield* Deferred.await(interrupted)
      const again = keeping()
      assert.strictEqual(yield* server.listen(Option.some(port), again.receiver), port)
      assert.deepStrictEqual([(yield* inFlight).status, (yield* silent).status, (yield* halfClosed).status], [0, 0, 0])
      assert.strictEqual((yield* post(port, { signing: { nonce: `${nonce}2` } })).status, 202)
    }).pipe(Effect.provide(ServerHttp.layer)))
})
