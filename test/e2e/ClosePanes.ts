import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as fs from "node:fs"
import * as path from "node:path"
import type { CloseReason, CloseState } from "../../src/domain/CloseTable.ts"
import type { CloseTeam } from "../support/close/CloseTeam.ts"
import type { Worker } from "../support/close/Reading.ts"
import type { Call } from "../support/close/Trouble.ts"
import { eventually, eventuallyTrue } from "../support/Eventually.ts"
import { isRunning } from "../support/Processes.ts"
import { closesThen, ended, frozen, handoff, isClosed, isFenced, isSettled, isThere } from "./CloseSteps.ts"

/** 5: its process outlives its pane: uncertain, fenced, and closed once the process is gone. tmux only signals. */
export const outlives = (team: CloseTeam, open: CloseTeam["open"] = team.open) =>
  Effect.gen(function*() {
    const worker = yield* open
    yield* team.stubborn(worker.sessionId)
    const jobId = yield* team.close(worker)
    yield* ended(team, worker, jobId, "uncertain", "close_unverified", handoff(jobId))
    assert.isFalse(yield* isThere(team, worker))
    assert.isTrue(isRunning(worker.pid))
    yield* isFenced(team, worker)
    yield* team.kill(worker)
    yield* eventuallyTrue("the end of its process", Effect.sync(() => !isRunning(worker.pid)))
    yield* isSettled(team, worker, jobId, "close_unverified")
  })

/** 5: the pane's own program is a shell, which ends with the pane; its child, the worker's Pi, does not. */
export const childOutlives = (team: CloseTeam) => outlives(team, team.openUnderShell)

const pidIn = (file: string) =>
  eventually(
    `a pid in ${file}`,
    Effect.sync(() =>
      Option.filter(Option.some(fs.existsSync(file) ? Number(fs.readFileSync(file, "utf8")) : 0), (pid) => pid > 0)
    )
  )

const ignoresHangup = (pid: number): boolean =>
  (BigInt(`0x${/^SigIgn:\s+(\w+)/m.exec(fs.readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? "0"}`) & 1n) === 1n

/** The process that leads the session of a process: the pane's first one, for all that has the pane's terminal. */
const leaderOf = (pid: number): number =>
  Number(fs.readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").at(-1)?.split(" ")[3])

/**
 * 5: programs that its Pi has started ignore SIGHUP: one in Pi's own terminal, and one that its agent has left in the
 * background, which Pi puts into a session of its own. Closed all the same: that is said of Pi and its pane alone, and
 * nothing else is killed, but by Herdr what is in the pane.
 */
export const childrenOutlive = (team: CloseTeam) =>
  Effect.gen(function*() {
    const { herdr, root } = team.harness
    const worker = yield* team.open
    yield* worker.pi.type("/child")
    const inPane = yield* pidIn(path.join(root, "faults", `child-${worker.sessionId}`))
    const [script, file] = [path.join(root, `serve-${worker.name}`), path.join(root, `served-${worker.name}`)]
    fs.writeFileSync(script, `nohup sh -c 'echo $$ >${file}; exec sleep 1000' >/dev/null 2>&1 </dev/null &\n`)
    yield* worker.pi.type(`run sh ${script}`)
    const background = yield* pidIn(file)
    const children = [inPane, background]
    yield* Effect.addFinalizer(() =>
      Effect.sync(() => {
        for (const pid of children) if (isRunning(pid)) process.kill(pid, "SIGKILL")
      })
    )
    const leader = (yield* team.harness.tmux.panes).find(({ pane }) => pane === worker.pane)?.pid
    yield* eventuallyTrue("deaf children", Effect.sync(() => children.every(ignoresHangup)))
    assert.deepStrictEqual(children.map((pid) => leaderOf(pid) === leader), [true, false])
    yield* closesThen(team, worker)
    assert.isTrue(isRunning(background))
    // Herdr kills what is in the pane, when it is given the time.
    if (herdr === undefined) assert.isTrue(isRunning(inPane))
  }).pipe(Effect.scoped)

/** Why a job ended as it did, and that its worker still has its pane and no command was given for it. */
const isSpared = (team: CloseTeam, worker: Worker, jobId: string, state: CloseState, reason: CloseReason) =>
  Effect.gen(function*() {
    yield* ended(team, worker, jobId, state, reason, handoff(jobId))
    assert.isTrue(yield* isThere(team, worker))
    assert.notInclude(yield* team.commands, worker.pane)
  })

/** 6: its pane is put beside the coordinator's own meanwhile, in the same window: that one is closed, and only that. */
export const movedHere = (team: CloseTeam) =>
  Effect.gen(function*() {
    const worker = yield* team.open
    const { jobId, thaw } = yield* frozen(team, worker, "awaiting_settlement")
    yield* team.harness.tmux.run(["join-pane", "-d", "-s", worker.pane, "-t", team.coordinator().pane])
    yield* thaw
    yield* isClosed(team, worker, jobId)
  })

/** 6: its pane goes to another session of tmux, or another workspace of Herdr. */
export const movedAway = (team: CloseTeam) =>
  Effect.gen(function*() {
    const { herdr, project, tmux } = team.harness
    const worker = yield* team.open
    const { jobId, thaw } = yield* frozen(team, worker, "awaiting_settlement")
    if (herdr === undefined) {
      yield* tmux.run(["new-session", "-d", "-s", `away-${worker.name}`, "--", "sleep", "1000"])
      yield* tmux.run(["join-pane", "-d", "-s", worker.pane, "-t", `away-${worker.name}:`])
    } else {
      const { workspace } = yield* herdr.workspace(project, ["sleep", "1000"])
      const pane = `w0:p${Number(worker.pane.slice(1)) + 1}`
      yield* herdr.move({ workspace: "", tab: "", pane, terminal: "", tmux: worker.pane }, workspace)
    }
    yield* thaw
    yield* isSpared(team, worker, jobId, "failed", "identity_failed")
  })

/** 7: another program takes its pane just before that call: that program stays. */
export const respawned = (team: CloseTeam, before: Call) =>
  Effect.gen(function*() {
    const { socket } = team.harness.tmux
    const worker = yield* team.open
    const { jobId, thaw } = yield* frozen(team, worker, "awaiting_settlement")
    yield* team.before(
      before,
      `env -u TMUX ${team.hook.real} -S ${socket} respawn-pane -k -t ${worker.pane} -- sleep 1000`
    )
    yield* thaw
    yield* ended(team, worker, jobId, "failed", "identity_failed", handoff(jobId))
    const row = (yield* team.harness.tmux.panes).find(({ pane }) => pane === worker.pane)
    assert.strictEqual(commandOf(row?.pid ?? 0), "sleep")
    yield* eventuallyTrue("the end of its process", Effect.sync(() => !isRunning(worker.pid)))
    // tmux itself compared: the command was given, and closed nothing.
    assert.strictEqual((yield* team.commands).filter((pane) => pane === worker.pane).length, before === "close" ? 1 : 0)
  })

const commandOf = (pid: number): string => fs.readFileSync(`/proc/${pid}/comm`, "utf8").trim()

/** 8: its Pi ends and another program runs under the same shell, just before it is verified the second time. */
export const replaced = (team: CloseTeam) =>
  Effect.gen(function*() {
    const worker = yield* team.openUnderShell
    const { jobId, thaw } = yield* frozen(team, worker, "awaiting_settlement")
    yield* team.before("verify", `kill -9 ${worker.pid}; while kill -0 ${worker.pid} 2>/dev/null; do sleep 0.01; done`)
    yield* thaw
    yield* isSpared(team, worker, jobId, "failed", "identity_failed")
    assert.isFalse(isRunning(worker.pid))
  })

/** 12: the close command has its effect and its answer is lost. */
export const answerLost = (team: CloseTeam) =>
  Effect.gen(function*() {
    const worker = yield* team.open
    const { jobId, thaw } = yield* frozen(team, worker, "awaiting_settlement")
    if (team.harness.herdr !== undefined) {
      yield* team.harness.herdr.faults({ does: "hang", when: "after", command: "pane close" })
    } else {
      yield* team.before("close", `"$tmux" "$@" >/dev/null; while kill -0 $PPID; do sleep 0.05; done; exit 1`)
    }
    yield* thaw
    yield* isClosed(team, worker, jobId)
  })

/** 12: the close command hangs without effect: uncertain, until the person has looked. */
export const commandHangs = (team: CloseTeam) =>
  Effect.gen(function*() {
    const worker = yield* team.open
    const { jobId, thaw } = yield* frozen(team, worker, "awaiting_settlement")
    if (team.harness.herdr !== undefined) {
      yield* team.harness.herdr.faults({ does: "hang", when: "before", command: "pane close" })
    } else yield* team.before("close", `while kill -0 $PPID; do sleep 0.05; done; exit 1`)
    yield* thaw
    yield* ended(team, worker, jobId, "uncertain", "close_failed", handoff(jobId))
    assert.isTrue(yield* isThere(team, worker))
    yield* isFenced(team, worker)
    assert.strictEqual((yield* team.commands).filter((pane) => pane === worker.pane).length, 1)
    yield* team.kill(worker)
    yield* eventuallyTrue("the end of its process", Effect.sync(() => !isRunning(worker.pid)))
    yield* isSettled(team, worker, jobId, "close_failed")
  })
