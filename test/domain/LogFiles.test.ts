import { assert, describe, it } from "@effect/vitest"
import { type LogFile, logName, logNames, type LogPart, logPart, prunable } from "../../src/domain/LogFiles.ts"

const writerId = (n: number): string => `00000000-0000-4000-8000-${n.toString(16).padStart(12, "0")}`
const day = 24 * 60 * 60 * 1000
const now = 1000 * day
const mib = 1024 * 1024

const file = (n: number, part: LogPart, ageDays: number, bytes = mib): LogFile => ({
  name: `${n}${part}`,
  writerId: writerId(n),
  part,
  bytes,
  touchedAt: now - ageDays * day
})
const gone = (...files: ReadonlyArray<LogFile>) => prunable(files, now).map(({ name }) => name)

describe("log files", () => {
  it("are known by their names, and only by those", () => {
    const id = writerId(1)
    assert.deepStrictEqual(logNames(id).map(logPart), [
      { writerId: id, part: "current" },
      { writerId: id, part: "closed" },
      { writerId: id, part: "1" },
      { writerId: id, part: "2" }
    ])
    for (
      const name of [
        "",
        "writer-.jsonl",
        "writer-x.jsonl",
        `${logName(id)}.3`,
        `${logName(id)}.1.closed`,
        `x${logName(id)}`,
        `../${logName(id)}`
      ]
    ) assert.isUndefined(logPart(name), name)
  })

  it("are kept for 7 days after the last record, whole logs at a time", () => {
    assert.deepStrictEqual(gone(file(1, "closed", 6.9), file(2, "current", 6.9)), [])
    assert.deepStrictEqual(
      gone(file(1, "closed", 7.1), file(1, "1", 9), file(2, "current", 7.1), file(3, "current", 0)),
      [
        "1closed",
        "11",
        "2current"
      ]
    )
    // What was rotated away of a log that is written is not old by itself.
    assert.deepStrictEqual(gone(file(4, "current", 0), file(4, "1", 8), file(4, "2", 20)), [])
  })

  it("go oldest first while all exceed 32 MiB, but never those that may be written", () => {
    const closed = [5, 1, 4, 2, 3].map((n) => file(n, "closed", n, 10 * mib))
    assert.deepStrictEqual(gone(...closed), ["5closed", "4closed"])
    assert.deepStrictEqual(gone(...closed.slice(0, 3)), [])
    assert.deepStrictEqual(gone(...[6, 5].map((n) => file(n, "current", n, 40 * mib)), file(1, "closed", 1)), [
      "1closed"
    ])
    // What is too old goes first, and may be enough.
    assert.deepStrictEqual(gone(file(9, "current", 8, 20 * mib), file(1, "closed", 1, 20 * mib)), ["9current"])
  })
})
