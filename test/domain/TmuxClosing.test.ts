import { assert, describe, it } from "@effect/vitest"
import type { VerifiedPane } from "../../src/domain/PaneClosing.ts"
import { closePane, parseClosed } from "../../src/domain/TmuxClosing.ts"

const pane: VerifiedPane = {
  workspaceId: "tmux:77:1000",
  paneId: "%4",
  terminalId: "/dev/pts/2",
  firstPid: 100
}

describe("the command that closes a pane of tmux", () => {
  it("compares server, life, first process and terminal, and kills in the same step", () => {
    assert.deepStrictEqual(closePane(pane), [
      "if-shell",
      "-F",
      "-t",
      "%4",
      "#{&&:#{&&:#{==:#{pid},77},#{==:#{pane_dead},0}},#{&&:#{==:#{pane_pid},100},#{==:#{pane_tty},/dev/pts/2}}}",
      "kill-pane -t %4 ; display-message -p closed",
      "display-message -p mismatch"
    ])
  })

  it("is made of nothing that tmux could read as anything else", () => {
    const others: ReadonlyArray<Partial<VerifiedPane>> = [
      ...["", "4", "%", "%4 ", "%4;", "%4\n", "@4", "$1:", "-t", "w1:p4", "%4 ; kill-server", "%12345678901"].map((
        paneId
      ) => ({ paneId })),
      ...[
        ...["", "/dev/", "pts/2", "/dev/pts/2}", "/dev/pts/2,1", "/dev/pts/#{pid}", "/dev/pts/#(id)", "/dev/pts/2\n"],
        ...["/dev/pts/2 ; kill-server", "/dev/../etc", "term-4", `/dev/${"x".repeat(251)}`]
      ].map((terminalId) => ({ terminalId })),
      ...["", "w1", "tmux:77", "tmux:0:1", "tmux:-7:1", "tmux:77:", "tmux:77,1:1", "tmux:77:1000:boot", "tmux:77:1\n"]
        .map((workspaceId) => ({ workspaceId })),
      ...[undefined, 0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 60].map((firstPid) => ({ firstPid }))
    ]
    for (const changed of others) assert.isUndefined(closePane({ ...pane, ...changed }), JSON.stringify(changed))
  })

  it("has done what it says, and nothing is known of any other answer", () => {
    assert.strictEqual(parseClosed(0, "closed\n"), "closed")
    assert.strictEqual(parseClosed(0, "mismatch\n"), "mismatch")
    for (const stdout of ["", "closed", "closed\nmismatch\n", "mismatch", "Closed\n", " closed\n", "not closed\n"]) {
      assert.strictEqual(parseClosed(0, stdout), "unknown", stdout)
    }
    for (const stdout of ["closed\n", "mismatch\n", ""]) assert.strictEqual(parseClosed(1, stdout), "unknown")
  })
})
