import * as Effect from "effect/Effect"
import type { CloseState } from "../../../src/domain/CloseTable.ts"
import type { Envelope, EnvelopeOf } from "../../../src/domain/Envelope.ts"
import type { Ledger } from "../../../src/domain/Ledger.ts"
import type { VerifiedPane } from "../../../src/domain/PaneClosing.ts"
import { type Agent, agentBySession, type TeamConfig } from "../../../src/domain/TeamConfig.ts"
import { type SendError, Undelivered } from "../../../src/domain/WireErrors.ts"
import type { Decision } from "../../../src/layers/IntercomServer/Decide.ts"
import type { Header } from "../../../src/services/SavedSessions.ts"
import type { MuxOperation } from "./Schedule.ts"
import { diffAgents, fencedAt, finals, type Job, pendings } from "./Transitions.ts"
import type { Body, OsProcess, World, WorldPane } from "./World.ts"

/** What an instance of the extension has seen and done, as the outside can tell. */
interface Life {
  epoch: number
  /** When the epoch began. */
  since: number
  busy: number
  /** Jobs whose `close_prepare` has come to it, and when their time is over by what its clocks said then. */
  readonly prepared: Map<string, number>
  /** Its updates that have not ended. */
  readonly updates: Set<object>
  /** What is wrong unless an update that was under way then has tried to end the job. */
  readonly unlessEnded: Map<Job, { readonly wrong: string; readonly waiting: ReadonlySet<object> }>
  open: boolean
  /** The report that was saved last, and whether something has made it insufficient. */
  saved: { readonly job: string; readonly summary: string; readonly epoch: number; invalid: boolean } | undefined
  readonly reports: Map<string, { readonly epoch: number; readonly callId: string }>
}

/**
 * Watches a world from outside and knows the protocol from the spec only (6.4): never from what the product remembers.
 * What it is told is a fact of the world at this very moment.
 */
export interface Observer {
  /** Where the facts on disk are. */
  attach: (disk: {
    readonly config: () => TeamConfig
    readonly ledger: () => Ledger
    readonly holds: (body: Body) => boolean
    readonly quiet: (body: Body) => boolean
    readonly succeeded: (body: Body, callId: string) => boolean
  }) => void
  readonly jobs: ReadonlyMap<string, Job>
  readonly opened: (body: Body) => void
  readonly shut: (body: Body) => void
  /** A config is about to be written; the answer is called when that has ended. */
  readonly trying: (body: Body, before: TeamConfig, next: TeamConfig) => () => void
  readonly wrote: (body: Body, before: TeamConfig, next: TeamConfig, text: string) => void
  /** Wraps an update of the config, from its call to its end: while one waits, what it will write is decided already. */
  readonly updating: (body: Body) => <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  readonly recorded: (body: Body, ledger: Ledger) => void
  readonly called: (of: MuxOperation) => void
  /** A verification begins; what the header of that session's file says then, as the answer is handed back with. */
  readonly verifying: (header: Header) => { readonly began: number; readonly header: Header }
  readonly verified: (
    body: Body,
    pane: VerifiedPane,
    process: OsProcess,
    sessionId: string,
    at: { readonly began: number; readonly header: Header }
  ) => void
  readonly spawned: (body: Body, pane: VerifiedPane) => void
  readonly mismatched: (pane: VerifiedPane) => void
  readonly closed: (pane: WorldPane) => void
  readonly sending: (body: Body, envelope: Envelope) => void
  readonly sent: (body: Body, envelope: Envelope, error: SendError | undefined) => void
  readonly arrived: (body: Body, envelope: Envelope) => void
  readonly answered: (body: Body, envelope: Envelope, decision: Decision) => void
  readonly input: (body: Body, source: string, text: string) => void
  readonly started: (body: Body, text: string) => void
  readonly settled: (body: Body) => void
  readonly epoch: (body: Body, why: string) => void
  readonly delivered: (body: Body, text: string, taken: boolean) => void
  readonly notified: (body: Body, text: string) => void
  /** A call of `intercom_report_handoff` begins, and how it ended. */
  readonly reporting: (body: Body, summary: string, callId: string) => void
  readonly reported: (body: Body, jobId: string, summary: string, ok: boolean) => void
  /** What the person has said of a worker's process. */
  readonly person: (sessionId: string, gone: boolean) => void
  /** The wall clock was set. */
  readonly jumped: () => void
  readonly fenced: (sessionId: string) => string | undefined
}

const isJobText = (text: string) => text.startsWith("[Intercom close request")
/** How long a decision may take, with what a step of the model takes. */
const graceMs = 3_000 + 60

/** The number in a summary of this model: reports are told apart by it, later ones have greater ones. */
export const numberOf = (summary: string | undefined): number => Number(/#(\d+)/.exec(summary ?? "")?.[1] ?? 0)

/** An observer of an empty world. */
export const makeObserver = (world: World): Observer => {
  const { fail, machine } = world
  const jobs = new Map<string, Job>()
  const lives = new Map<number, Life>()
  const said = new Map<string, boolean>()
  const settledSends = new Set<string>()
  const accepted = new Set<string>()
  const sentAt = new Map<string, number>()
  const verifications: Array<{
    readonly body: Body
    readonly pane: VerifiedPane
    readonly process: OsProcess
    readonly sessionId: string
    readonly began: number
    readonly header: Header
  }> = []
  let requesting: { readonly body: Body; readonly sessionId: string } | undefined
  let seq = 0
  let disk: Parameters<Observer["attach"]>[0] | undefined

  const life = (body: Body): Life => {
    const known = lives.get(body.instance)
    if (known !== undefined) return known
    const made: Life = {
      epoch: 0,
      since: 0,
      busy: 0,
      prepared: new Map(),
      updates: new Set(),
      unlessEnded: new Map(),
      open: true,
      saved: undefined,
      reports: new Map()
    }
    lives.set(body.instance, made)
    return made
  }
  const agent = (sessionId: string): Agent | undefined =>
    disk === undefined ? undefined : agentBySession(disk.config(), sessionId)
  const stateOf = (job: Job): CloseState | undefined => {
    const now = agent(job.sessionId)?.closeJob
    return now?.jobId === job.id ? now.state : undefined
  }
  const budgetEnd = (job: Job) => job.createdAt + job.budgetMs
  /** When its time is over by the monotonic clock for who hears of it now. */
  const timeEnd = (job: Job) => machine.now() + job.deadlineWall - machine.wall()
  const passed = (job: Job) => machine.wall() > job.deadlineWall || machine.now() > budgetEnd(job)
  /** Past for one who has until `end`; both clocks are looked at each second at least, so that a jump is seen within one. */
  const longPassed = (job: Job, end: number) => {
    if (machine.wall() > job.deadlineWall) job.passedAt ??= machine.now()
    // Set back before anybody had to look.
    else if (job.passedAt !== undefined && machine.now() <= job.passedAt + 1_050) job.passedAt = undefined
    return machine.now() > Math.min(end, job.passedAt ?? end) + 1_050
  }
  const fenced = (sessionId: string) => {
    const now = agent(sessionId)?.closeJob
    return now !== undefined && fencedAt(now, machine.wall()) ? now.jobId : undefined
  }

  const epoch: Observer["epoch"] = (body, why) => {
    const mine = life(body)
    mine.epoch += 1
    mine.since = machine.now()
    world.note(`w${body.instance} epoch ${mine.epoch}: ${why}`)
    if (mine.saved !== undefined && !mine.saved.invalid) {
      mine.saved.invalid = true
      const job = jobs.get(mine.saved.job)
      if (job !== undefined) job.invalidated += 1
    }
  }

  /** While its coordinator runs, a job has decided by its deadline + 3 s and tries the write at once (invariant 3). */
  const decideBy = (job: Job) => {
    const left = Math.min(job.deadlineWall - machine.wall(), budgetEnd(job) - machine.now())
    machine.after(Math.max(0, left) + graceMs, () => {
      const state = stateOf(job)
      const mine = life(job.creator)
      if (state === undefined || !pendings.has(state) || !job.creator.step.alive() || !mine.open) return
      if (passed(job) && job.tried !== job.creator && mine.updates.size === 0) {
        fail(`job is ${state} and undecided 3 s after its deadline`)
      }
    })
  }

  const checkSpawn = (body: Body, pane: VerifiedPane) => {
    const last = verifications.findLast((one) => one.body === body && one.pane.paneId === pane.paneId)
    if (last === undefined) return fail("a pane is closed that was never verified")
    const worker = agent(last.sessionId)
    const job = jobs.get(worker?.closeJob?.jobId ?? "")
    if (worker === undefined || job === undefined) return fail("a close command without a job on disk")
    job.commands += 1
    job.command = { pane, process: last.process, mismatch: false }
    const need = (ok: boolean, what: string) => {
      if (!ok) fail(`close command: ${what}`)
    }
    need(job.commands === 1, "a second one for one job")
    need(job.creator === body, "for a job of another instance")
    need(life(body).open, "behind the fence of its session")
    need(worker.closeJob?.state === "closing", `the job on disk is ${worker.closeJob?.state}`)
    need(worker.handoff?.jobId === job.id, "no handoff of this job is on disk")
    need(job.commit !== undefined, "no commit was accepted")
    need(last.began > job.closingSeq && job.closingSeq > 0, "nothing was verified after closing was saved")
    need(
      last.pane.terminalId === pane.terminalId && last.pane.workspaceId === pane.workspaceId &&
        last.pane.firstPid === pane.firstPid,
      "not the pane that was verified last"
    )
    need(last.header === "right", `the header of the session's file is ${last.header}`)
    need(!passed(job), "the deadline has passed")
    need(last.process.alive, "its process has ended, as the last look shows")
    need(last.process.unknownUntil <= machine.now(), "nothing is known of its process")
    need(disk?.ledger().jobs[job.id] !== undefined, "the ledger does not name the job")
  }

  const key = (body: Body, envelope: Envelope) =>
    `${body.instance} ${envelope.kind} ${JSON.stringify(envelope.payload)}`

  const checkSend = (body: Body, envelope: Envelope) => {
    const { kind, payload } = envelope
    if (disk !== undefined && !disk.holds(body)) fail(`${kind} by a process that does not hold its session`)
    if (!("jobId" in payload) || typeof payload["jobId"] !== "string") {
      if (
        (kind === "message" || kind === "reload" || kind === "stop") && requesting?.body === body &&
        requesting.sessionId === envelope.to
      ) {
        fail(`a ${kind} is sent while the close of its recipient is being saved`)
      }
      return
    }
    const job = jobs.get(payload["jobId"])
    if (job === undefined) return fail(`${kind} for a job that was never on disk`)
    const state = stateOf(job)
    if (settledSends.has(key(body, envelope))) fail(`${kind} is sent again although it was accepted or refused`)
    // A worker's time is counted from when it heard of the deadline: the clock may have been set back before that.
    if (longPassed(job, life(body).prepared.get(job.id) ?? budgetEnd(job))) fail(`${kind} is sent after the deadline`)
    if (kind === "close_prepare" || kind === "close_request" || kind === "close_commit") {
      job.sends += 1
      if (job.creator !== body) fail(`${kind} is replayed by another instance of the coordinator`)
      if (state === undefined || finals.has(state)) fail(`${kind} for a job that is ${state ?? "over"}`)
      if (kind === "close_prepare" && job.undelivered >= 2) {
        fail("a third close_prepare after two that were undelivered")
      }
      if (kind === "close_request" && state === "requested") fail("close_request before awaiting_handoff is saved")
      if (kind === "close_commit") checkCommitSend(body, job, envelope)
      return
    }
    if (!life(body).prepared.has(job.id)) fail(`${kind} by an instance that never got the close_prepare`)
    if (kind === "close_ready") checkReadySend(body, job, envelope)
    if (kind === "handoff_report") {
      job.reports.set(`${body.instance} ${envelope.payload.report}`, envelope.payload.summary)
    }
  }

  const checkCommitSend = (body: Body, job: Job, { payload }: EnvelopeOf<"close_commit">) => {
    if (stateOf(job) !== "closing") fail("close_commit before closing is saved")
    if (!job.ready.has(payload.readyNonce)) fail("close_commit with a nonce that was not accepted")
    if (
      !verifications.some((one) => one.body === body && one.sessionId === job.sessionId && one.began > job.closingSeq)
    ) {
      fail("close_commit before the pane was verified a second time")
    }
  }

  const checkReadySend = (body: Body, job: Job, { payload }: EnvelopeOf<"close_ready">) => {
    const mine = life(body)
    const summary = job.reports.get(`${body.instance} ${payload.report}`)
    const report = summary === undefined ? undefined : mine.reports.get(summary)
    if (summary === undefined || report === undefined) return fail("close_ready of a report that was never sent")
    const first = !job.nonces.has(payload.readyNonce)
    job.nonces.set(payload.readyNonce, { instance: body.instance, epoch: report.epoch })
    job.lastNonce = payload.readyNonce
    if (report.epoch !== mine.epoch && mine.since < machine.now()) fail("close_ready although a new epoch has begun")
    if (first && disk !== undefined && !disk.quiet(body)) fail("close_ready while the worker is busy")
    if (first && disk !== undefined && !disk.succeeded(body, report.callId)) {
      fail("close_ready without a successful result of the report")
    }
  }

  const checkAccepted = (body: Body, envelope: Envelope) => {
    const { kind, payload } = envelope
    if (kind === "message" || kind === "report" || kind === "reload" || kind === "stop") {
      const who = [envelope.from, envelope.to].find((one) => fenced(one) !== undefined)
      if (who !== undefined) fail(`a ${kind} was accepted while ${who} is fenced`)
      return
    }
    if (!("jobId" in payload) || typeof payload["jobId"] !== "string") return
    const job = jobs.get(payload["jobId"])
    if (job === undefined) return fail(`${kind} for a job that was never on disk is accepted`)
    const worker = agent(job.sessionId)
    const state = stateOf(job)
    switch (kind) {
      case "close_prepare":
        if (!life(body).prepared.has(job.id)) {
          fail("close_prepare is accepted for a job that was over, or of no time left")
        }
        return
      case "close_identity":
        if (job.creator !== body) fail("close_identity is accepted by another instance")
        return
      case "handoff_report":
        if (numberOf(worker?.handoff?.summary) > numberOf(payload.summary)) fail("an older report was accepted")
        if (worker?.handoff?.jobId !== job.id || worker.handoff.summary !== payload.summary) {
          fail("a report was answered that is not saved")
        }
        return
      case "close_ready":
        job.ready.add(payload.readyNonce)
        if (job.ready.size > 1) fail("a second readyNonce was accepted")
        if (
          worker?.handoff?.summary !==
            job.reports.get(`${job.nonces.get(payload.readyNonce)?.instance} ${payload.report}`)
        ) {
          fail("a close_ready was accepted that does not name the report that was saved last")
        }
        return
      case "close_commit": {
        const nonce = job.nonces.get(payload.readyNonce)
        const mine = life(body)
        if (nonce?.instance !== body.instance || job.lastNonce !== payload.readyNonce) {
          fail("a commit of another nonce was accepted")
        }
        if (nonce !== undefined && nonce.epoch !== mine.epoch) fail("a commit was accepted in another epoch")
        if (disk !== undefined && !disk.quiet(body)) fail("a commit was accepted while the worker is busy")
        if (state !== "closing") fail(`a commit was accepted while the worker's own entry says ${state}`)
        if (machine.wall() > job.deadlineWall) fail("a commit was accepted after the deadline")
        job.commit = payload.readyNonce
        return
      }
    }
  }

  /** A repeat of an accepted message is accepted again, also while its job is busy (spec 6.2, idempotence). */
  const checkRefused = (body: Body, envelope: Envelope) => {
    const { kind, payload } = envelope
    if (kind !== "close_prepare" && kind !== "close_identity" && kind !== "close_request" && kind !== "close_ready") {
      return
    }
    const job = jobs.get(payload.jobId)
    const state = job && stateOf(job)
    if (job === undefined || state === undefined || !pendings.has(state) || job.tried === body || passed(job)) return
    const mine = life(body)
    if (!mine.open || !accepted.has(key(body, envelope))) return
    const wrong = `a repeat of an accepted ${kind} was refused`
    // It may have decided, and its write waits for its turn.
    if (mine.updates.size > 0) mine.unlessEnded.set(job, { wrong, waiting: new Set(mine.updates) })
    else fail(wrong)
  }

  const jobOf = (text: string) => {
    for (const job of jobs.values()) if (text.includes(job.id)) return job
    return undefined
  }

  return {
    attach: (facts) => {
      disk = facts
    },
    jobs,
    opened: (body) => void life(body),
    shut: (body) => {
      life(body).open = false
    },
    trying: (body, before, next) => {
      for (const one of next.agents) {
        const was = agentBySession(before, one.sessionId)?.closeJob
        const is = one.closeJob
        if (is === undefined || is === was) continue
        if (is.jobId !== was?.jobId) requesting = { body, sessionId: one.sessionId }
        const job = jobs.get(is.jobId)
        if (job !== undefined && !pendings.has(is.state)) job.tried = body
      }
      return () => {
        requesting = undefined
      }
    },
    wrote: (body, before, next, text) => {
      seq += 1
      world.count("writes")
      diffAgents({
        world,
        jobs,
        body,
        before,
        next,
        text,
        seq,
        said,
        ledger: disk?.ledger(),
        verified: (sessionId) => verifications.some((one) => one.body === body && one.sessionId === sessionId),
        numberOf,
        created: decideBy
      })
    },
    updating: (body) => (effect) =>
      Effect.suspend(() => {
        const mine = life(body)
        const one = {}
        mine.updates.add(one)
        return Effect.ensuring(
          effect,
          Effect.sync(() => {
            mine.updates.delete(one)
            for (const [job, { waiting, wrong }] of mine.unlessEnded) {
              if ([...waiting].some((update) => mine.updates.has(update))) continue
              mine.unlessEnded.delete(job)
              if (mine.open && job.tried !== body) fail(wrong)
            }
          })
        )
      }),
    recorded: (_, ledger) => {
      for (const [id, process] of Object.entries(ledger.jobs)) {
        const job = jobs.get(id)
        if (job !== undefined) job.process = process
      }
    },
    called: (of) => world.count(`mux ${of}`),
    verifying: (header) => ({ began: ++seq, header }),
    verified: (body, pane, process, sessionId, at) =>
      void verifications.push({ body, pane, process, sessionId, ...at }),
    spawned: (body, pane) => {
      world.count("commands")
      world.note(`close command for ${pane.paneId}`)
      checkSpawn(body, pane)
    },
    mismatched: (pane) => {
      for (const { command } of jobs.values()) if (command?.pane === pane) command.mismatch = true
      world.count("mismatches")
    },
    closed: (pane) => {
      world.count("panes closed")
      world.note(`pane ${pane.id} closed`)
    },
    sending: (body, envelope) => {
      world.count(`send ${envelope.kind}`)
      world.note(`${body.who}/${body.instance} sends ${envelope.kind}`)
      checkSend(body, envelope)
      sentAt.set(key(body, envelope), machine.now())
    },
    sent: (body, envelope, error) => {
      world.note(
        `${body.who}/${body.instance} ${envelope.kind}: ${
          error === undefined ? "accepted" : `${error._tag} ${error.message}`
        }`
      )
      // The word of a worker that nothing has begun there may be asked for again when it took long to come.
      const aged = envelope.kind === "close_commit" &&
        machine.now() - (sentAt.get(key(body, envelope)) ?? 0) > 1_000
      if ((error === undefined && !aged) || (error?._tag === "Rejected" && error.status !== 503)) {
        settledSends.add(key(body, envelope))
      }
      if (error instanceof Undelivered && envelope.kind === "close_prepare") {
        const job = jobs.get(envelope.payload.jobId)
        if (job !== undefined) job.undelivered += 1
      }
    },
    arrived: (body, envelope) => {
      if (envelope.kind !== "close_prepare") return
      const job = jobs.get(envelope.payload.jobId)
      const state = job && stateOf(job)
      if (job === undefined || state === undefined || !pendings.has(state) || machine.wall() > job.deadlineWall) return
      const { prepared } = life(body)
      // One that comes while another is being answered, or was accepted, does not begin its time anew.
      if (!prepared.has(job.id)) prepared.set(job.id, timeEnd(job))
    },
    answered: (body, envelope, decision) => {
      const { prepared } = life(body)
      const job = envelope.kind === "close_prepare" ? jobs.get(envelope.payload.jobId) : undefined
      const first = prepared.get(job?.id ?? "")
      if (job !== undefined && first !== undefined && !accepted.has(key(body, envelope))) {
        // The clock may have been set since it came; and of one that was refused the next may begin its time.
        prepared.set(job.id, decision._tag === "Accepted" ? Math.max(first, timeEnd(job)) : timeEnd(job))
      }
      if (decision._tag === "Accepted") {
        checkAccepted(body, envelope)
        accepted.add(key(body, envelope))
      } else {
        if (decision._tag === "Refused" && decision.refusal.status === 400) checkRefused(body, envelope)
        world.note(`${body.who}/${body.instance} answers ${envelope.kind}: ${JSON.stringify(decision)}`)
      }
      world.count(`${decision._tag} ${envelope.kind}`)
    },
    input: (body, source, text) => {
      if (source === "interactive" || !isJobText(text)) epoch(body, `${source} input`)
    },
    started: (body, text) => {
      if (!isJobText(text)) epoch(body, "a run")
    },
    settled: () => undefined,
    epoch,
    delivered: (body, text, taken) => {
      world.note(
        `${body.who}/${body.instance} ${taken ? "told" : "not told"}: ${text.replaceAll("\n", " | ").slice(0, 300)}`
      )
      const job = jobOf(text)
      if (!taken || job === undefined) return
      if (isJobText(text)) {
        const count = (job.told.get(body.instance) ?? 0) + 1
        job.told.set(body.instance, count)
        if (count > 1 + job.invalidated) {
          fail("the worker's model is told more often than once a request or invalidated report")
        }
        world.happen("told")
      } else if (text.startsWith("[Intercom close notice")) {
        const state = /^state: (\w+)/m.exec(text)?.[1] ?? "none"
        world.count(`notice ${state}`)
        if (job.notices.has(state)) fail(`a second close notice of ${state}`)
        job.notices.add(state)
      }
    },
    notified: (body, text) => world.note(`${body.who}/${body.instance} notifies: ${text}`),
    reporting: (body, summary, callId) => {
      life(body).reports.set(summary, { epoch: life(body).epoch, callId })
    },
    reported: (body, jobId, summary, ok) => {
      world.count(ok ? "reports saved" : "reports failed")
      const mine = life(body)
      const job = jobs.get(jobId)
      if (!ok || job === undefined) return
      const handoff = agent(job.sessionId)?.handoff
      if (handoff === undefined || (handoff.jobId === jobId && numberOf(handoff.summary) < numberOf(summary))) {
        fail("report_handoff answered that it is saved, and it is not")
      }
      const begun = mine.reports.get(summary)?.epoch ?? -1
      const invalid = begun !== mine.epoch
      mine.saved = { job: jobId, summary, epoch: begun, invalid }
      if (invalid) job.invalidated += 1
    },
    person: (sessionId, gone) => void said.set(sessionId, gone),
    jumped: () => {
      for (const job of jobs.values()) {
        longPassed(job, budgetEnd(job))
        decideBy(job)
      }
    },
    fenced
  }
}
