import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import { chromium } from "../support/Chromium.ts"
import { hello, listening, post } from "../support/Listening.ts"
import { head, raw } from "../support/RawHttp.ts"
import { recipient } from "../support/Receivers.ts"
import * as Stranger from "../support/Stranger.ts"
import { watching } from "../support/Watching.ts"
import { type Finding, page } from "./Page.ts"

const findingsOf = (text: string): ReadonlyArray<Finding> => JSON.parse(text)

describe("a page in a real browser", () => {
  it.scopedLive(
    "delivers nothing to a session and reads nothing of it, although its requests arrive",
    () =>
      Effect.gen(function*() {
        const seen = yield* watching
        // The most trusting session there is: it would take this very body unsigned.
        const { port, received } = yield* listening({ allowUnauthenticated: true })
        const reported = yield* Deferred.make<string>()
        const naive = yield* Stranger.http((_, response) => {
          response.writeHead(200, { "access-control-allow-origin": "*", "access-control-allow-headers": "*" }).end(
            "naive"
          )
        })
        const rebound = "rebound.example"
        const targets = [`http://127.0.0.1:${port}`, `http://localhost:${port}`, `http://${rebound}:${port}`]
        const own = yield* Stranger.http((request, response) => {
          if (request.url === "/") {
            response.writeHead(200, { "content-type": "text/html" }).end(
              page(targets, `http://127.0.0.1:${naive.port}`, hello)
            )
          } else if (request.url === "/own") response.end("what is mine")
          else response.end()
          if (request.url === "/findings") Deferred.unsafeDone(reported, Effect.sync(() => own.bodies.at(-1) ?? ""))
        })
        yield* chromium(`http://localhost:${own.port}/`, rebound)
        const findings = findingsOf(yield* Deferred.await(reported))

        // The controls: the page runs, reads what is its own, and its posts do reach a server that takes anything.
        assert.include(
          findings,
          findings.find((one) => one.attempt === "own origin" && one.seen === "basic 200 what is mine")
        )
        assert.isAtLeast(naive.bodies.filter((body) => body.includes("hello")).length, 8)
        const arrived = seen.filter((one) => one.port === port)
        for (const host of ["127.0.0.1", "localhost", rebound]) {
          const here = arrived.filter(({ request }) => request.headers.host === `${host}:${port}`)
          const methods = here.map(({ request }) => request.method)
          assert.isAtLeast(methods.filter((method) => method === "POST").length, 6, `${host}: ${methods.join()}`)
          assert.isAtLeast(methods.filter((method) => method === "GET").length, 6, `${host}: ${methods.join()}`)
        }

        // The claim.
        assert.deepStrictEqual(received, [])
        assert.deepStrictEqual([...new Set(arrived.map(({ response }) => response.statusCode))], [403])
        for (const { attempt, seen: text } of findings) assert.notInclude(text, recipient, attempt)
        assert.strictEqual(findings.length, 3 * 22 + 13 + 1)

        // And what was refused was refused to the browser: without one, the same body is taken.
        const plain = { host: `127.0.0.1:${port}`, "content-type": "application/json", "content-length": hello.length }
        assert.strictEqual((yield* raw(port, head("POST /intercom", plain), hello)).status, 202)
        assert.strictEqual((yield* post(port)).status, 202)
        assert.lengthOf(received, 2)
      }),
    120_000
  )
})
