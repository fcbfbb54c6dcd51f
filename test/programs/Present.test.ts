import { assert, describe, it } from "@effect/vitest"
import { withoutHome } from "../../src/programs/Present.ts"

describe("withoutHome", () => {
  it.each([
    ["/root", "~"],
    ["/root/a/b", "~/a/b"],
    ["in /root/a, \"/root\" and (/root)", "in ~/a, \"~\" and (~)"],
    ["file=/root/a:/root/b", "file=~/a:~/b"],
    ["file:///root/a", "file://~/a"]
  ])("shortens %s", (text, short) => {
    assert.strictEqual(withoutHome(text, "/root"), short)
  })

  it.each(["/srv/root/x", "/srv.d/x./root/y", "/srv/é/root/x", "a-/root", "..//root/x", "/rooted/x", "/root-2/x"])(
    "leaves %s, which is not there",
    (text) => {
      assert.strictEqual(withoutHome(text, "/root"), text)
    }
  )

  it("takes the home to the letter", () => {
    assert.strictEqual(withoutHome("C:\\Users\\A (b)\\x", "C:\\Users\\A (b)"), "~\\x")
    assert.strictEqual(withoutHome("/home/axb/x /home/a.b/x", "/home/a.b"), "/home/axb/x ~/x")
  })

  it("has nothing to shorten where there is no home", () => {
    assert.strictEqual(withoutHome("/a/b", "/"), "/a/b")
    assert.strictEqual(withoutHome("/a/b", ""), "/a/b")
  })
})
