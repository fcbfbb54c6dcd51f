import { assert, describe, it } from "@effect/vitest"
import * as Either from "effect/Either"
import { decide, leftBehind, MonitorFailed, noMonitor, onceDone } from "../../src/domain/MonitorPane.ts"
import { monitorFormat, ownedPanes, parseMonitorRows } from "../../src/domain/TmuxMonitor.ts"

const at = (pane: string, tab: string) => ({ pane, tab })
const keep = (pane: string | undefined) => Either.right(pane)
const refusal = (decided: ReturnType<typeof decide>) =>
  Either.match(decided, { onLeft: (failed) => failed.message, onRight: (pane) => `kept ${pane}` })
const alone = "Nothing was created or changed; messages work without it."

describe("what to do about a monitor pane", () => {
  it("keeps the own one in this tab, makes one where there is none, and touches nothing doubtful", () => {
    assert.deepStrictEqual(decide([], "t1"), keep(undefined))
    assert.deepStrictEqual(decide([at("p1", "t1")], "t1"), keep("p1"))
    assert.strictEqual(
      refusal(decide([at("p1", "t2")], "t1")),
      "The monitor pane was left alone: it is the pane p1, which is in another tab than this session, t2. " +
        `${alone} Move it back or close it; then run /reload.`
    )
    for (const tab of ["t1", "t2", "t3"]) {
      assert.strictEqual(
        refusal(decide([at("p1", "t1"), at("p2", "t2")], tab, ["p3"])),
        `The monitor pane was left alone: there is more than one, p1 and p2. ${alone} ` +
          "Close all but one of them, which has to be in this session's tab; then run /reload."
      )
    }
    assert.strictEqual(
      refusal(decide([], "t1", ["p8", "p9"])),
      "The monitor pane was left alone: there is a pane of its title in this tab that this session did not make, " +
        `p8 and p9. ${alone} Close or rename it; then run /reload.`
    )
    assert.deepStrictEqual(decide([at("p1", "t1")], "t1", ["p8", "p9"]), keep("p1"))
  })

  it("says what there is of it, that nothing was cleaned up, and when it is tried again", () => {
    assert.strictEqual(
      noMonitor("it rains").message,
      "There is no monitor pane: it rains. Nothing was created; messages work without it."
    )
    const mend = onceDone("closed it")
    assert.strictEqual(
      new MonitorFailed({ reason: "left", detail: "it rains", left: leftBehind("%5"), mend }).message,
      "The monitor pane could not be finished: it rains. The pane %5 may have been left behind; nothing was cleaned up " +
        "and messages work without it. Once you have closed it, /reload makes a new one."
    )
  })
})

describe("tmux's answer about monitor panes", () => {
  it("is read whole or not at all, and a pane that several sessions show is one", () => {
    const rows = parseMonitorRows("77|%3|@1|40|0|0\n77|%4|@1|40|1|1\n77|%4|@1|40|1|1\n")
    assert.deepStrictEqual(rows?.map(({ owned, pane, rows, zoomed }) => [pane, rows, zoomed, owned]), [
      ["%3", 40, false, false],
      ["%4", 40, true, true],
      ["%4", 40, true, true]
    ])
    assert.deepStrictEqual(ownedPanes(rows ?? []).map(({ pane }) => pane), ["%4"])
    for (const text of ["", "77|%3|@1|40|0|0", "77|%3|@1|40|0|\n", "77|%3|@1|40|0|0\n77|%4|@\n", "x\n"]) {
      assert.isUndefined(parseMonitorRows(text), JSON.stringify(text))
    }
    assert.strictEqual(
      monitorFormat("0a").split("|").at(-1),
      "#{m:* --owner 0a*,#{pane_start_command}}"
    )
  })
})
