import { assert, describe, it } from "@effect/vitest"
import * as FastCheck from "effect/FastCheck"
import { decodeDevice, isSameDevice, parseFacts, parseVariable } from "../../src/domain/ProcessFacts.ts"

const stat = (over: { command?: string; state?: string; session?: string; tty?: string; start?: string } = {}) =>
  [
    `77 (${over.command ?? "node"})`,
    over.state ?? "S",
    `5 6 ${over.session ?? "70"} ${over.tty ?? "34821"}`,
    Array.from({ length: 14 }, () => "0").join(" "),
    `${over.start ?? "900"} 1 2\n`
  ].join(" ")
const status = "Name:\tnode\nUmask:\t0022\nState:\tS (sleeping)\nUid:\t1000\t1001\t1002\t1003\nGid:\t0\t0\t0\t0\n"
const facts = { startTicks: "900", state: "S", session: 70, tty: { major: 136, minor: 5 }, uid: 1001 }

describe("what procfs says of a process", () => {
  it("is read, the effective uid of the four", () => {
    assert.deepStrictEqual(parseFacts(stat(), status), facts)
    assert.deepStrictEqual(parseFacts(stat({ tty: "0" }), status), { ...facts, tty: { major: 0, minor: 0 } })
  })

  it("whatever the command is called", () => {
    for (const command of ["a) Z 1 1 1 1 (b", ") S 1 2 3 4 5", "a\nUid:\t0\t0\t0\t0", "(", ")) ", "x y"]) {
      assert.deepStrictEqual(parseFacts(stat({ command }), status), facts, command)
    }
    // Only a newline is escaped in a name: a line of ours must not begin at any other blank.
    for (const name of ["\rUid:\t0\t0\t0\t0", "\u0085Uid:\t0\t0\t0\t0", "x\\nUid:\t0\t0\t0\t0", "Uid:\t0\t0\t0\t0"]) {
      assert.deepStrictEqual(parseFacts(stat(), status.replace("node", name)), facts, name)
    }
  })

  it("is nothing when anything of it is of another form", () => {
    for (
      const line of [
        "",
        "77 node S 5 6 70 34821",
        stat({ session: "x" }),
        stat({ session: "-1" }),
        stat({ session: "" }),
        stat({ tty: "" }),
        stat({ tty: "1.5" }),
        stat({ tty: "99999999999" }),
        stat({ start: "-9" }),
        stat({ state: "SS" }),
        stat().slice(0, 30)
      ]
    ) {
      assert.isUndefined(parseFacts(line, status), line)
    }
    for (
      const text of [
        "",
        "Name:\tnode\n",
        status.replace("1001", "x"),
        status.replace("\t1003", ""),
        " Uid:\t1\t1\t1\t1"
      ]
    ) {
      assert.isUndefined(parseFacts(stat(), text), text)
    }
  })

  it("a terminal's number is decoded as the kernel encodes it, also when it is printed as a negative one", () => {
    FastCheck.assert(
      FastCheck.property(
        FastCheck.integer({ min: 0, max: 0xfff }),
        FastCheck.integer({ min: 0, max: 0xfffff }),
        (major, minor) => {
          const encoded = (minor & 0xff) | (major << 8) | ((minor & ~0xff) << 12)
          return [encoded, encoded >>> 0].every((number) => isSameDevice(decodeDevice(number), { major, minor }))
        }
      )
    )
    assert.isFalse(isSameDevice({ major: 136, minor: 5 }, { major: 136, minor: 6 }))
    assert.isFalse(isSameDevice({ major: 136, minor: 5 }, { major: 137, minor: 5 }))
  })

  it("one variable of an environment, and only by its whole name", () => {
    const environ = "AB=1\0A=2=3\0A=4\0=x\0B=\0XA=5\0"
    assert.strictEqual(parseVariable(environ, "A"), "2=3")
    assert.strictEqual(parseVariable(environ, "B"), "")
    for (const name of ["C", "a", "A=2"]) assert.isUndefined(parseVariable(environ.replace("A=2=3\0", ""), name), name)
    assert.isUndefined(parseVariable("", "A"))
    assert.isUndefined(parseVariable("X=\nA=1\0", "A"))
  })
})
