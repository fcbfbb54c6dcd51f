import { assert, describe, it } from "@effect/vitest"
import * as FastCheck from "effect/FastCheck"
import { type Diagnosis, diagnosisJson, diagnosisText, type Finding } from "../../src/domain/Finding.ts"

const finding: Finding = { code: "script_left", what: "A script is left.", advice: "Remove it." }
const diagnosis = (given: Partial<Diagnosis>): Diagnosis => ({
  root: "/home/ada/team",
  checkedAt: "2026-01-01T00:00:00.000Z",
  findings: [],
  notChecked: [],
  ...given
})
const present = (text: string): string => text.replaceAll("/home/ada", "~")

/** Letters of several widths, and what steers a terminal or a line. */
const unit = FastCheck.constantFrom(
  ..."aé漢👩\u0301\u001b\u009b\n\r\t\u0000\u2028\u2029\u202e\u2066\u2069\ud800".split("")
)

describe("a diagnosis", () => {
  it("as text", () => {
    assert.strictEqual(diagnosisText(diagnosis({}), present), "Intercom: nothing wrong was found in ~/team.")
    assert.strictEqual(
      diagnosisText(diagnosis({ findings: [finding], notChecked: ["the version of Pi"] }), present),
      "Intercom: 1 finding in ~/team.\n1. A script is left. Remove it. [script_left]\nNot checked: the version of Pi."
    )
    const many = diagnosisText(diagnosis({ findings: Array.from({ length: 66 }, () => finding) }), present)
    assert.match(many, /^Intercom: 66 findings in ~\/team\.\n1\. /)
    assert.match(many, /\n64\. .*\n2 more are not shown\.$/)
  })

  it("as JSON, bounded and clean whatever it is about", () => {
    const texts = FastCheck.string({ unit, maxLength: 800 })
    const findings = FastCheck.array(FastCheck.record({ what: texts, advice: texts }), { maxLength: 70 })
    FastCheck.assert(
      FastCheck.property(findings, texts, (all, root) => {
        const json = diagnosisJson(
          diagnosis({ root, findings: all.map((one) => ({ ...finding, ...one })), notChecked: [root] }),
          present
        )
        const decoded = JSON.parse(json)
        assert.strictEqual(decoded.findings.length + decoded.more, all.length)
        assert.isAtMost(decoded.findings.length, 64)
        for (const { advice, what } of decoded.findings) {
          for (const text of [advice, what]) {
            assert.isAtMost(text.length, 600)
            assert.notMatch(text, /[\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/)
          }
        }
      }),
      { numRuns: 10 }
    )
  })
})
