import { CloseJob, type CloseState, type Handoff } from "../../../src/domain/CloseTable.ts"
import type { IdentifiedProcess } from "../../../src/domain/IdentifiedProcess.ts"
import type { Ledger } from "../../../src/domain/Ledger.ts"
import type { VerifiedPane } from "../../../src/domain/PaneClosing.ts"
import { type Agent, agentBySession, type TeamConfig } from "../../../src/domain/TeamConfig.ts"
import type { Body, OsProcess, World } from "./World.ts"

/** What is known from outside of one close job. */
export interface Job {
  readonly id: string
  readonly sessionId: string
  readonly creator: Body
  /** Monotonic, when it was first on disk. */
  readonly createdAt: number
  readonly budgetMs: number
  readonly deadlineWall: number
  commands: number
  command: { readonly pane: VerifiedPane; readonly process: OsProcess; mismatch: boolean } | undefined
  closingSeq: number
  /** The nonce of the commit that the worker accepted. */
  commit: string | undefined
  readonly ready: Set<string>
  readonly nonces: Map<string, { readonly instance: number; readonly epoch: number }>
  lastNonce: string | undefined
  /** Summaries by instance and number of the report. */
  readonly reports: Map<string, string>
  /** As the ledger has it. */
  process: IdentifiedProcess | undefined
  /** Who last tried to write its end. */
  tried: Body | undefined
  /** When the wall clock was first seen past its deadline. */
  passedAt: number | undefined
  sends: number
  undelivered: number
  invalidated: number
  readonly told: Map<number, number>
  /** The states of which the coordinator's model was told. */
  readonly notices: Set<string>
  /** Times that it became final or uncertain. */
  endings: number
}

export const pendings: ReadonlySet<CloseState> = new Set<CloseState>([
  "requested",
  "awaiting_handoff",
  "awaiting_settlement",
  "ready",
  "closing"
])
export const finals: ReadonlySet<CloseState> = new Set<CloseState>(["closed", "failed", "timed_out", "interrupted"])

/** The spec's table (6.1), written down once more: the product's is under test. */
const table: Readonly<Record<CloseState, ReadonlyArray<CloseState>>> = {
  requested: ["awaiting_handoff", "failed", "timed_out", "interrupted"],
  awaiting_handoff: ["awaiting_settlement", "failed", "timed_out", "interrupted"],
  awaiting_settlement: ["awaiting_settlement", "closing", "failed", "timed_out", "interrupted"],
  ready: [],
  closing: ["closed", "failed", "timed_out", "uncertain"],
  uncertain: ["closed", "failed"],
  closed: [],
  failed: [],
  timed_out: [],
  interrupted: []
}

/** Fenced (spec 6.1): uncertain, or pending and at most 10 s past its deadline. */
export const fencedAt = (job: CloseJob, wall: number): boolean =>
  job.state === "uncertain" || (pendings.has(job.state) && wall <= Date.parse(job.deadlineAt) + 10_000)

/** What no team file may hold (spec 6.3): every number and name of this world is of one of these forms. */
const secret = /77[01]\d{5}|9988\d{8}|\/dev\/pts|terminal-x|pane-x|workspace-x|%9\d+7|sessions-x|tmux:/

interface Diff {
  readonly world: World
  readonly jobs: Map<string, Job>
  readonly body: Body
  readonly before: TeamConfig
  readonly next: TeamConfig
  readonly text: string
  readonly seq: number
  readonly said: ReadonlyMap<string, boolean>
  readonly ledger: Ledger | undefined
  readonly verified: (sessionId: string) => boolean
  readonly numberOf: (summary: string | undefined) => number
  readonly created: (job: Job) => void
}

/** Judges one write of the team file by what it changed (invariants 4 to 7). */
export const diffAgents = (diff: Diff): void => {
  const { before, next, text, world } = diff
  if (secret.test(text)) world.fail(`the team file holds ${secret.exec(text)?.[0]}`)
  for (const was of before.agents) {
    const is = agentBySession(next, was.sessionId)
    const fenced = was.closeJob !== undefined && fencedAt(was.closeJob, world.machine.wall())
    if (is === undefined) {
      if (fenced) world.fail(`a worker was removed while its close is ${was.closeJob?.state}`)
      continue
    }
    if (
      fenced &&
      (is.name !== was.name || is.description !== was.description || is.projectDirectory !== was.projectDirectory)
    ) {
      world.fail(`a worker was configured while its close is ${was.closeJob?.state}`)
    }
    checkHandoff(diff, was, is)
    checkJob(diff, was, is)
  }
}

const checkHandoff = ({ numberOf, world }: Diff, was: Agent, is: Agent) => {
  const same = (one: Handoff | undefined, other: Handoff | undefined) => JSON.stringify(one) === JSON.stringify(other)
  if (same(was.handoff, is.handoff)) return
  if (is.handoff === undefined) return world.fail("a saved handoff was lost")
  if (is.handoff.jobId !== is.closeJob?.jobId) world.fail("a handoff of another job was saved")
  if (is.closeJob?.state !== "awaiting_settlement") {
    world.fail(`a handoff was saved while the job is ${is.closeJob?.state}`)
  }
  if (was.handoff?.jobId === is.handoff.jobId && numberOf(is.handoff.summary) <= numberOf(was.handoff.summary)) {
    world.fail("an older report replaced the saved handoff")
  }
}

const checkJob = (diff: Diff, was: Agent, is: Agent) => {
  const { body, jobs, world } = diff
  const [old, now] = [was.closeJob, is.closeJob]
  if (JSON.stringify(old) === JSON.stringify(now)) return
  if (now === undefined) return world.fail("a close job was dropped from the team file")
  world.note(`${body.who}/${body.instance} saves ${was.name}: ${now.jobId} ${now.state} ${now.reason ?? ""}`)
  if (old?.jobId !== now.jobId) {
    if (old !== undefined && !finals.has(old.state)) world.fail(`a new job replaced one that is ${old.state}`)
    if (now.state !== "requested") world.fail(`a new job begins as ${now.state}`)
    const budgetMs = Date.parse(now.deadlineAt) - Date.parse(now.createdAt)
    const job: Job = {
      id: now.jobId,
      sessionId: is.sessionId,
      creator: body,
      createdAt: world.machine.now(),
      budgetMs,
      deadlineWall: Date.parse(now.deadlineAt),
      commands: 0,
      command: undefined,
      closingSeq: 0,
      commit: undefined,
      ready: new Set(),
      nonces: new Map(),
      lastNonce: undefined,
      reports: new Map(),
      process: undefined,
      tried: undefined,
      passedAt: undefined,
      sends: 0,
      undelivered: 0,
      invalidated: 0,
      told: new Map(),
      notices: new Set(),
      endings: 0
    }
    jobs.set(job.id, job)
    world.count("state requested")
    return diff.created(job)
  }
  const job = jobs.get(now.jobId)
  if (job === undefined) return world.fail("a job that was never requested is saved")
  if (old.createdAt !== now.createdAt || old.deadlineAt !== now.deadlineAt) world.fail("a job's times were changed")
  world.count(`state ${now.state}`)
  if (now.reason !== undefined && now.state !== old.state) world.count(`reason ${now.reason}`)
  if (!pendings.has(now.state) && now.state !== old.state) job.endings += 1
  checkTransition(diff, job, old, now, is)
}

const checkTransition = (diff: Diff, job: Job, old: CloseJob, now: CloseJob, is: Agent) => {
  const { body, ledger, said, seq, verified, world } = diff
  const { fail } = world
  const orphan = job.creator !== body
  const named = ledger?.jobs[job.id] !== undefined
  const step = `${old.state} → ${now.state}/${now.reason ?? "-"}`
  const asOrphan = pendings.has(old.state) && now.reason === "interrupted" &&
    now.state === (named || old.state === "closing" ? "uncertain" : "interrupted")
  if (finals.has(old.state)) return fail(`a final state was overwritten: ${step}`)
  if (orphan ? !(asOrphan || old.state === "uncertain") : !table[old.state].includes(now.state) && !asOrphan) {
    return fail(`not a transition${orphan ? " of an orphan" : ""}: ${step}`)
  }
  const dead = (process: OsProcess | undefined) => process === undefined || !process.alive
  const processOf = (identified: IdentifiedProcess | undefined) => {
    const there = identified === undefined ? undefined : world.processes.get(identified.pid)
    return identified !== undefined && "startTicks" in identified && there?.startTicks === identified.startTicks
      ? there
      : undefined
  }
  if (old.state === "uncertain") {
    world.count(`settled ${said.get(job.sessionId) === undefined ? "by proof" : "by the person"}`)
    const proven = job.process !== undefined && dead(processOf(job.process))
    if (now.state === "closed" && !proven && said.get(job.sessionId) !== true) fail(`settled without proof: ${step}`)
    if (now.state === "failed" && said.get(job.sessionId) === undefined) fail(`settled without the person: ${step}`)
    if (now.state === "closed" && said.get(job.sessionId) === undefined && now.reason !== old.reason) {
      fail(`the reason was not kept: ${step}`)
    }
    return
  }
  if (now.state === "awaiting_handoff" && !verified(job.sessionId)) fail("awaiting_handoff without a verified pane")
  if (now.state === "awaiting_settlement" && is.handoff?.jobId !== job.id) {
    fail("awaiting_settlement without its handoff")
  }
  if (now.state === "closing") {
    job.closingSeq = seq
    if (is.handoff?.jobId !== job.id) fail("closing without a saved handoff")
    if (!named) fail("closing without the process in the ledger")
  }
  if (now.state === "interrupted" && !asOrphan) fail(`interrupted by itself: ${step}`)
  if (now.state === "closed") {
    if (job.command === undefined) fail("closed without a command")
    else if (world.panes.get(job.command.pane.paneId)?.terminal === job.command.pane.terminalId) {
      fail("closed, and the pane is there")
    } else if (job.command.process.alive) fail("closed, and the process lives")
  }
  if ((now.state === "failed" || now.state === "timed_out") && job.commands > 0 && job.command?.mismatch !== true) {
    fail(`a command was issued, and the job is ${now.state}/${now.reason}`)
  }
}
