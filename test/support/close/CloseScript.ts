import type * as Effect from "effect/Effect"
import { type Answer, call, type Calls, held, later, type ModelRequest, say, type Script } from "../ScriptedModel.ts"
import * as TeamScript from "../TeamScript.ts"

/** Where the next worker that is asked for its handoff waits. */
export type Moment =
  /** Before it reports. */
  | "report"
  /** After its report is saved, before its turn ends. */
  | "end"

/**
 * A model for a team whose workers are closed. The coordinator does `close <name>,<name> [<seconds>]` at once when the
 * person says so; a worker that is asked for its handoff reports `HANDOFF <n> of <job>` and ends its turn, as it does when
 * the person at it says `report now`. `run <command>` has either run it in Pi's shell.
 */
export interface CloseScript extends TeamScript.TeamScript {
  /** From now on the next worker to come there waits for the gate. */
  readonly pause: (moment: Moment, gate: Effect.Effect<void>) => void
  /** From now on every summary of a compaction waits for the gate. */
  readonly holdSummary: (gate: Effect.Effect<void>) => void
}

const asked = /^\[Intercom close request[^\]]*\]\n[\s\S]*\njobId: (\S+)$/

const lastCall = (request: ModelRequest): string | undefined =>
  request.messages.findLast((message) => message.role === "assistant")?.calls[0]

const orders = (text: string): Calls => {
  const run = /^run (.+)$/.exec(text)?.[1]
  if (run !== undefined) return [{ name: "bash", args: { command: run } }]
  const [, to, seconds] = /^close (\S+)(?: (\d+))?$/.exec(text) ?? []
  const more = seconds === undefined ? {} : { timeoutSeconds: Number(seconds) }
  return (to?.split(",") ?? []).map((name) => ({ name: "intercom_close_worker", args: { to: name, ...more } }))
}

/** `nameOf` gives each session that registers its name in the team. */
export const make = (nameOf: (sessionId: string) => string): CloseScript => {
  const team = TeamScript.make(nameOf, orders)
  const paused = new Map<Moment, Effect.Effect<void>>()
  /** The job that a session was asked about last, and how often a job was reported. */
  const jobs = new Map<string, string>()
  const reports = new Map<string, number>()

  const taken = (moment: Moment): Effect.Effect<void> | undefined => {
    const gate = paused.get(moment)
    paused.delete(moment)
    return gate
  }

  const handOff = (request: ModelRequest): Answer | undefined => {
    const told = asked.exec(request.lastUser)?.[1]
    if (told !== undefined) jobs.set(request.session, told)
    const jobId = told ?? (request.lastUser === "report now" ? jobs.get(request.session) : undefined)
    if (jobId === undefined) return undefined
    if (request.lastRole === "user") {
      const number = (reports.get(jobId) ?? 0) + 1
      reports.set(jobId, number)
      const args = { jobId, summary: `HANDOFF ${number} of ${jobId}` }
      const gate = taken("report")
      return gate === undefined
        ? call("intercom_report_handoff", args)
        : later(gate, "intercom_report_handoff", args)
    }
    if (lastCall(request) !== "intercom_report_handoff") return undefined
    const gate = taken("end")
    return gate === undefined ? say("handed off") : held(gate, "handed off")
  }

  let summary: Effect.Effect<void> | undefined
  const script: Script = (request) => {
    if (request.summary) return summary === undefined ? say("SUMMARY") : held(summary, "SUMMARY")
    return handOff(request) ?? team.script(request)
  }
  return {
    ...team,
    script,
    pause: (moment, gate) => void paused.set(moment, gate),
    holdSummary: (gate) => void (summary = gate)
  }
}
