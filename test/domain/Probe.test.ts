import { assert, describe, it } from "@effect/vitest"
import { encodeHealth, judgeHealth } from "../../src/domain/Probe.ts"

describe("judgeHealth", () => {
  const rows: ReadonlyArray<readonly [status: number, body: string, proven: boolean, state: string, reason: string]> = [
    [200, encodeHealth("us"), true, "connected", "verified"],
    [200, encodeHealth("us"), false, "connected", "unproven"],
    [200, encodeHealth("other"), false, "disconnected", "identity_mismatch"],
    [200, encodeHealth("other"), true, "disconnected", "identity_mismatch"],
    [200, "{\"version\":1,\"sessionId\":\"us\",\"later\":1}", true, "connected", "verified"],
    [200, "{\"version\":2,\"sessionId\":\"us\"}", true, "unknown", "unsupported_version"],
    [200, "{\"version\":0}", false, "unknown", "unsupported_version"],
    [200, "{\"version\":1}", true, "unknown", "malformed"],
    [200, "{\"version\":\"1\",\"sessionId\":\"us\"}", true, "unknown", "malformed"],
    [200, "null", true, "unknown", "malformed"],
    [200, "", true, "unknown", "malformed"],
    [200, "<html>", false, "unknown", "malformed"],
    [404, encodeHealth("us"), true, "unknown", "legacy"],
    [503, encodeHealth("us"), true, "unknown", "http_error"],
    [202, encodeHealth("us"), true, "unknown", "http_error"],
    [302, "", false, "unknown", "http_error"]
  ]
  for (const [status, body, proven, state, reason] of rows) {
    it(`${status} ${body} ${proven ? "proven" : "unproven"}: ${state}, ${reason}`, () => {
      const seen: { readonly state: string; readonly reason: string } = judgeHealth({ status, body, proven }, "us")
      assert.deepStrictEqual(seen, { state, reason })
    })
  }
})
