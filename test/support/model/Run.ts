import type { SessionEntry } from "@earendil-works/pi-coding-agent"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as FiberId from "effect/FiberId"
import { globalValue } from "effect/GlobalValue"
import { AgentName, Port, SessionId } from "../../../src/domain/Primitives.ts"
import { agentByName, agentBySession, firstConfig, type TeamConfig } from "../../../src/domain/TeamConfig.ts"
import type { ToolName } from "../../../src/domain/ToolCatalogue.ts"
import { command } from "../../../src/programs/Command.ts"
import { Delivery } from "../../../src/programs/Delivery.ts"
import { runTool } from "../../../src/programs/tools/RunTool.ts"
import { makeFiles } from "./Files.ts"
import { makeObserver } from "./Observer.ts"
import { makePi, type Model, type ModelStep, type Pi, resultOf } from "./Pi.ts"
import type { Action, Schedule, Who } from "./Schedule.ts"
import { type Machine, openSession, type Session } from "./Session.ts"
import { makeTerminals, type Saved } from "./Terminals.ts"
import { pendings } from "./Transitions.ts"
import { makeWire } from "./Wire.ts"
import { type Body, makeWorld, type Tally } from "./World.ts"

/** A member of the team, through all its processes. */
interface Actor {
  readonly who: Who
  readonly name: string
  readonly sessionId: string
  readonly branch: Array<SessionEntry>
  session: Session | undefined
  reports: number
}

/** How many there are of each. */
const makeCounts = <A>() => {
  const counts = new Map<A, number>()
  const of = (one: A): number => counts.get(one) ?? 0
  return { of, add: (one: A, more: number) => void counts.set(one, of(one) + more) }
}

/** What a run of a schedule showed. */
export interface Outcome {
  readonly violation: string | undefined
  readonly tally: Tally
  readonly log: ReadonlyArray<string>
}

const nameOf = (who: Who) => who === "c" ? "Coordinator" : `Worker${who}`
const teamOf = (workers: number, multiplexer: Schedule["multiplexer"]): TeamConfig => {
  const first = firstConfig(SessionId.make("session-c"), Port.make(39_000), multiplexer)
  const entry = (index: number) => ({
    sessionId: SessionId.make(`session-${index}`),
    name: AgentName.make(nameOf(index === 0 ? 0 : 1)),
    coordinator: false,
    description: `Does part ${index}.`,
    port: Port.make(39_001 + index),
    projectDirectory: "."
  })
  return { ...first, agents: [...first.agents, ...Array.from({ length: workers }, (_, index) => entry(index))] }
}

/** Fibers of killed processes never end; without this they would stay in memory (Effect keeps all roots). */
const roots = globalValue(Symbol.for("effect/FiberScope/Global"), () => ({ roots: new Set<unknown>() })).roots

/** While `use` runs a global has that property instead. */
const having = <A>(of: object, name: string, instead: PropertyDescriptor, use: () => A): A => {
  const kept = Object.getOwnPropertyDescriptor(of, name)
  Object.defineProperty(of, name, { ...instead, configurable: true })
  try {
    return use()
  } finally {
    if (kept !== undefined) Object.defineProperty(of, name, kept)
  }
}
/** `Effect.never` holds a timer of the host, which the fiber of a killed process would never give back. */
const withoutTimers = <A>(use: () => A) => having(globalThis, "setInterval", { writable: true, value: () => 0 }, use)
/** Effect takes a stack at every call of a program; nobody looks at one here. */
const withoutStacks = <A>(use: () => A) => having(Error, "stackTraceLimit", { get: () => 0, set: () => undefined }, use)

/** Runs one schedule to its end, and then lets everything that can be settled be settled. */
export const run = (schedule: Schedule, verbose = false): Outcome =>
  withoutTimers(() => withoutStacks(() => runAll(schedule, verbose)))

const runAll = (schedule: Schedule, verbose: boolean): Outcome => {
  const kept = new Set(roots)
  const world = makeWorld(schedule, verbose)
  const observer = makeObserver(world)
  const { machine } = world
  const saved: Saved = { saved: new Set(["session-c"]), spoilt: new Map() }
  const files = makeFiles(world, observer, teamOf(schedule.workers.length, schedule.multiplexer))
  const terminals = makeTerminals(world, observer, saved, () => machine.after(200, () => revive(0)))
  const made: Machine = { world, observer, files, wire: makeWire(world, observer), terminals }
  const bodies = new Set<Body>()
  /** Calls of tools of a session that have not ended. */
  const asking = makeCounts<Session>()
  const pis = new Map<number, Pi>()
  /** Open dialogs of extensions. */
  const dialogs = makeCounts<Pi>()
  let instances = 0
  let calls = 0
  let numbers = 0

  const actorOf = (who: Who): Actor => ({
    who,
    name: nameOf(who),
    sessionId: `session-${who}`,
    branch: [],
    session: undefined,
    reports: 0
  })
  const coordinator = actorOf("c")
  const workers = schedule.workers.map((_, index) => actorOf(index === 0 ? 0 : 1))
  const actors = new Map<Who, Actor>([coordinator, ...workers].map((actor) => [actor.who, actor]))
  const pick = (who: Who): Actor => actors.get(who) ?? workers[0] ?? coordinator
  const job = (actor: Actor) => agentBySession(files.config(), actor.sessionId)?.closeJob

  observer.attach({
    config: files.config,
    ledger: files.ledger,
    holds: files.holds,
    quiet: (body) => {
      const pi = pis.get(body.instance)
      return pi?.quiet() === true && dialogs.of(pi) === 0
    },
    succeeded: (body, callId) => {
      const last = pick(body.who).branch.findLast((entry) =>
        entry.type === "message" && entry.message.role === "toolResult" && entry.message.toolCallId === callId
      )
      return last?.type === "message" && last.message.role === "toolResult" && !last.message.isError
    }
  })

  /** The worker's model calls `report_handoff`. */
  const report = (actor: Actor, session: Session, jobId: string, done: () => void) => {
    numbers += 1
    const summary = `handoff #${numbers}`
    const id = `call-${++calls}`
    const { body, pi } = session
    observer.reporting(body, summary, id)
    world.note(`${body.who}/${body.instance} calls report_handoff ${summary} for ${jobId}`)
    const spoilt = schedule.workers[actor.who === 1 ? 1 : 0]?.spoilt === true
    const epoch = pi.witness.state().epoch
    let ended = false
    const end = (isError: boolean) => {
      if (ended) return
      ended = true
      actor.branch.push(resultOf(id, isError))
      world.happen("result")
      done()
    }
    world.happen("call")
    const fiber = session.run(
      Effect.suspend(() => runTool("intercom_report_handoff", { jobId, summary }, { id, epoch })),
      (exit) => {
        const ok = Exit.isSuccess(exit)
        world.note(`${summary}: ${ok ? "saved" : String(exit.cause)}`)
        observer.reported(body, jobId, summary, ok)
        const error = !ok || (spoilt && actor.reports === 0)
        if (ok) actor.reports += 1
        machine.after(1, () => {
          if (body.step.alive()) end(error)
        })
      }
    )
    return () => {
      fiber.unsafeInterruptAsFork(FiberId.none)
      end(true)
    }
  }

  const modelOf = (actor: Actor): Model => (text) => {
    const character = schedule.workers[actor.who === 1 ? 1 : 0]
    const asked = text.startsWith("[Intercom close request")
      ? [...observer.jobs.keys()].find((id) => text.includes(id))
      : undefined
    if (asked === undefined || character === undefined) {
      const ms = /^work (\d+)$/.exec(text)?.[1]
      return [{ afterMs: ms === undefined ? world.jitter(40) : Number(ms) }]
    }
    const call = (jobId: string): ModelStep => ({
      afterMs: character.afterMs,
      act: (done) => {
        const session = actor.session
        return session === undefined ? () => undefined : report(actor, session, jobId, done)
      }
    })
    const both: ModelStep = {
      afterMs: character.afterMs,
      act: (done) => {
        const session = actor.session
        if (session === undefined) return () => undefined
        let left = 2
        const one = () => {
          left -= 1
          if (left === 0) done()
        }
        const stops = [report(actor, session, asked, one), report(actor, session, asked, one)]
        return () => stops.forEach((stop) => stop())
      }
    }
    switch (character.reports) {
      case "once":
        return [call(asked)]
      case "twice":
        return [both]
      case "never":
        return [{ afterMs: character.afterMs }]
      case "wrong":
        return [call("00000000-0000-4000-8000-000000000000"), call(asked)]
      case "unwilling":
        return actor.reports === 0 ? [call(asked)] : []
    }
  }

  /** Honest: whether that Pi is closed. */
  const confirm = (actor: Actor) => (title: string, question: string) => {
    const about = workers.find(({ name }) => question.includes(name))
    const process = [...observer.jobs.values()].findLast((one) => one.sessionId === about?.sessionId)?.process
    const there = process === undefined ? undefined : world.processes.get(process.pid)
    const gone = process === undefined || there === undefined || !there.alive ||
      !("startTicks" in process) || there.startTicks !== process.startTicks
    if (about !== undefined) observer.person(about.sessionId, gone)
    const yes = title.includes("still run") ? !gone : gone
    world.note(`${actor.name} is asked: ${title} ${question} — ${yes ? "yes" : "no"}`)
    return yes
  }

  const open = (actor: Actor, os: Body["os"], step: Body["step"]) => {
    const body: Body = { who: actor.who, sessionId: actor.sessionId, instance: ++instances, os, step }
    const pi = makePi(world, observer, body, actor.branch, modelOf(actor), confirm(actor), () => {
      saved.saved.add(actor.sessionId)
    })
    pis.set(body.instance, pi)
    for (const other of bodies) if (other.os === os) bodies.delete(other)
    bodies.add(body)
    world.note(`${actor.name} starts as ${body.instance}, process ${os.pid}`)
    openSession(made, body, pi, (session) => {
      if (session === undefined) return world.end(os)
      actor.session = session
      if (actor === coordinator) expectSettled(session)
    })
  }
  /** What another instance left pending is settled at the start, or its write is tried at least (invariants 3, 6). */
  const expectSettled = ({ body }: Session) => {
    machine.after(3000, () => {
      if (coordinator.session?.body !== body) return
      for (const actor of workers) {
        const left = job(actor)
        const known = observer.jobs.get(left?.jobId ?? "")
        if (
          left !== undefined && known !== undefined && pendings.has(left.state) && known.creator !== body &&
          known.tried !== body
        ) {
          world.fail(`a job that another instance left is still ${left.state} 3 s after the start`)
        }
      }
    })
  }
  const boot = (actor: Actor) => {
    const ignoresHangup = actor !== coordinator && schedule.workers[actor.who === 1 ? 1 : 0]?.ignoresHangup === true
    open(actor, world.openPane(ignoresHangup).os, machine.process())
  }
  const revive = (who: Who) => {
    const actor = pick(who)
    if (![...bodies].some(({ sessionId }) => sessionId === actor.sessionId)) boot(actor)
  }

  world.onEnd = (os) => {
    for (const body of bodies) {
      if (body.os !== os) continue
      body.step.kill()
      observer.shut(body)
      made.wire.cut(body)
      bodies.delete(body)
      for (const actor of actors.values()) if (actor.session?.body === body) actor.session = undefined
    }
  }

  const ask = (name: ToolName, args: object, target: Actor) => {
    const { session } = coordinator
    if (session === undefined) return
    const before = observer.fenced(target.sessionId)
    asking.add(session, 1)
    session.run(
      Effect.suspend(() => runTool(name, args, { id: `call-${++calls}`, epoch: session.pi.witness.state().epoch })),
      (exit) => {
        world.note(
          `${name} ${target.name}: ${
            Exit.isSuccess(exit) ? exit.value.slice(0, 200).replaceAll("\n", " ") : String(exit.cause)
          }`
        )
        world.count(`${name} ${Exit.isSuccess(exit) ? "done" : "refused"}${before === undefined ? "" : " fenced"}`)
        const after = observer.fenced(target.sessionId)
        if (
          Exit.isSuccess(exit) && name !== "intercom_close_worker" && name !== "intercom_list" &&
          before !== undefined && before === after
        ) {
          world.fail(`${name} succeeded while its target is fenced`)
        }
        asking.add(session, -1)
      }
    )
  }
  const close = (actor: Actor) =>
    ask("intercom_close_worker", { to: actor.name, timeoutSeconds: schedule.timeoutSeconds }, actor)
  const say = (actor: Actor) => ask("intercom_send", { to: actor.name, message: "go on" }, actor)
  const resolve = (actor: Actor) => {
    coordinator.session?.run(Effect.suspend(() => command(`resolve ${actor.name}`)), (exit) => {
      world.note(`resolve ${actor.name}: ${Exit.isSuccess(exit) ? exit.value : String(exit.cause)}`)
    })
  }
  const configure = (actor: Actor) => {
    const entry = agentByName(files.config(), actor.name)
    if (entry === undefined) return
    const { name, port, projectDirectory, sessionId } = entry
    ask(
      "intercom_configure_worker",
      { sessionId, name, port, projectDirectory, description: `Part ${++calls}.` },
      actor
    )
  }

  const paneOf = (actor: Actor) => actor.session && terminals.holding(actor.session.body)
  /** The worker's process ends, and something else is in its place. */
  const substitute = (actor: Actor, change: "replace" | "respawn" | "exec" | "reuse" | "swap") => {
    const pane = paneOf(actor)
    const os = actor.session?.body.os
    if (pane === undefined || os === undefined) return
    const { os: stranger, pane: other } = world.openPane(true)
    world.panes.delete(other.id)
    if (change === "swap") {
      // Under Herdr a process can be in another pane than before; a tmux pane keeps its id wherever it goes.
      if (schedule.multiplexer === "tmux") return
      pane.processes = [stranger]
      world.panes.set(other.id, { ...other, processes: [os] })
      return
    }
    world.end(os)
    if (change === "replace") {
      world.panes.delete(pane.id)
      if (schedule.multiplexer === "herdr") world.panes.set(pane.id, { ...other, id: pane.id, processes: [stranger] })
      return
    }
    if (change === "respawn") pane.firstPid = stranger.pid
    pane.processes = [stranger]
    if (change === "reuse") {
      const reused = { ...stranger, pid: os.pid }
      pane.processes = [reused]
      world.processes.set(os.pid, reused)
    }
  }

  const perform = (act: Action) => {
    world.count(`act ${act._tag}`)
    world.note(`* ${JSON.stringify(act)}`)
    if (act._tag === "jump") {
      machine.jump(act.ms)
      return observer.jumped()
    }
    const actor = pick(act.who)
    const { session } = actor
    switch (act._tag) {
      case "close":
        return close(actor)
      case "send":
        return say(actor)
      case "configure":
        return configure(actor)
      case "remove":
        return ask("intercom_remove_worker", { to: actor.name }, actor)
      case "resume":
        return ask("intercom_resume_worker", { to: actor.name, confirmClosed: true }, actor)
      case "list":
        return ask("intercom_list", {}, actor)
      case "crash":
        for (const { os, who } of bodies) if (who === act.who) world.end(os)
        return void machine.after(act.backMs, () => revive(act.who))
      case "resolve":
        return resolve(actor)
      case "header":
        return void saved.spoilt.set(actor.sessionId, act.header)
    }
    if (session === undefined) return
    const { body, pi } = session
    switch (act._tag) {
      case "reload":
        session.close()
        actor.session = undefined
        return void machine.after(2, () => {
          if (body.os.alive && actor.session === undefined) open(actor, body.os, body.step)
        })
      case "twin":
        return boot(actor)
      case "input":
        return pi.input("interactive", `work ${world.jitter(2) === 1 ? 20 : 700}`)
      case "bash":
        observer.epoch(body, "bash")
        return pi.witness.see({ type: "user_bash" })
      case "tree":
        observer.epoch(body, "the tree")
        return pi.witness.see({ type: "tree_navigation" })
      case "abort":
        return pi.abort()
      case "compact": {
        const end = pi.compact()
        session.run(Effect.flatMap(Delivery, (delivery) => delivery.hold), () => undefined)
        return void machine.after(act.ms, () => {
          if (actor.session !== session) return
          end()
          session.run(Effect.flatMap(Delivery, (delivery) => delivery.release), () => undefined)
        })
      }
      case "dialog":
        // Dialogs that overlap are one span of events, in both versions of Pi.
        if (dialogs.of(pi) === 0) {
          observer.epoch(body, "a dialog")
          pi.witness.see({ type: "dialog_start" })
        }
        dialogs.add(pi, 1)
        return void machine.after(act.ms, () => {
          dialogs.add(pi, -1)
          if (dialogs.of(pi) === 0) pi.witness.see({ type: "dialog_end" })
        })
      case "replace":
      case "respawn":
      case "exec":
      case "reuse":
      case "swap":
        return substitute(actor, act._tag)
      case "move": {
        const pane = paneOf(actor)
        if (pane !== undefined) pane.workspace = "workspace-x-other"
        return
      }
      case "unknown":
        body.os.unknownUntil = machine.now() + act.ms
        return
      case "deaf":
        pi.deafUntil = machine.now() + act.ms
        return
      case "report": {
        const id = job(actor)?.jobId
        if (pi.idle() || id === undefined) return
        return void report(actor, session, act.right ? id : "00000000-0000-4000-8000-000000000000", () => undefined)
      }
    }
  }
  world.perform = perform
  /** Its host may have lost a notice, which the person was shown then. */
  const deafened = schedule.events.some((event) =>
    "act" in event && (event.act._tag === "deaf" || event.act._tag === "compact") && event.act.who === "c"
  )

  /** Pending, and not so long past its deadline that nothing is to be expected any more. */
  const pending = () =>
    workers.some((actor) => {
      const left = job(actor)
      const known = observer.jobs.get(left?.jobId ?? "")
      return left !== undefined && known !== undefined && pendings.has(left.state) &&
        machine.now() < known.createdAt + known.budgetMs + 15_000
    })
  const stop = () => world.failed() !== undefined
  const until = (millis: number, done: () => boolean, step = 500) => {
    for (let left = millis; left > 0 && !stop() && !done(); left -= step) machine.advance(step)
  }

  for (const actor of actors.values()) boot(actor)
  machine.advance(60)
  for (const [index, actor] of workers.entries()) {
    const { saved: has = true, turnMs = 0 } = schedule.workers[index] ?? {}
    if (has) saved.saved.add(actor.sessionId)
    if (turnMs > 0) actor.session?.pi.input("interactive", `work ${turnMs}`)
  }
  machine.advance(5)
  for (const actor of actors.values()) if (actor.session === undefined) world.fail(`${actor.name} did not start`)

  world.counting = true
  for (const event of schedule.events) if (event._tag === "at") machine.after(event.ms, () => perform(event.act))
  for (const actor of workers) close(actor)
  machine.advance(400)
  const last = schedule.events.reduce((most, event) => event._tag === "at" ? Math.max(most, event.ms) : most, 0)
  const busy = () => pending() || coordinator.session === undefined || asking.of(coordinator.session) > 0
  // What a close's end sets off may be another close.
  for (let more = true; more && !stop(); more = pending()) {
    until(600_000, () => !busy() && machine.now() > last + 500)
    until(3000, () => false)
  }

  // From here on nothing befalls anybody, and all must come to an end.
  world.counting = false
  until(45_000, () => coordinator.session !== undefined && machine.now() >= coordinator.session.pi.deafUntil)
  if (!stop()) {
    revive("c")
    until(5_000, () => coordinator.session !== undefined, 100)
    for (const os of world.processes.values()) os.unknownUntil = -1
    machine.advance(100)
    for (const actor of workers) say(actor)
    until(8000, () => false)
    for (const actor of workers) expectOver(actor)
    for (const actor of workers) if (job(actor)?.state === "uncertain") resolve(actor)
    machine.advance(100)
    for (const actor of workers) {
      const left = job(actor)
      if (left?.state === "uncertain") world.fail("the person could not settle an uncertain close")
    }
    for (const one of observer.jobs.values()) {
      if (one.creator === coordinator.session?.body && !deafened && one.endings > one.notices.size) {
        world.fail("the coordinator's model was not told how a close ended")
      }
    }
  }

  function expectOver(actor: Actor) {
    const left = job(actor)
    const known = observer.jobs.get(left?.jobId ?? "")
    if (left === undefined || known === undefined || stop()) return
    if (pendings.has(left.state)) {
      world.fail(`a job stays ${left.state} although its coordinator runs and a call met its fence`)
    }
    const process = known.process === undefined ? undefined : world.processes.get(known.process.pid)
    const dead = known.process !== undefined && "startTicks" in known.process &&
      (process === undefined || !process.alive || process.startTicks !== known.process.startTicks)
    if (left.state === "uncertain" && dead) world.fail("an uncertain close stays although its process is proven gone")
  }

  for (const one of roots) if (!kept.has(one)) roots.delete(one)
  return { violation: world.failed(), tally: world.tally, log: world.log }
}
