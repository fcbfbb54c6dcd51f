import type { ExtensionAPI, ExtensionContext } from "@earendil-works/pi-coding-agent"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Scope from "effect/Scope"
import { stripControls } from "../domain/Delivery.ts"
import { SessionId } from "../domain/Primitives.ts"
import { sectionName } from "../domain/Prompt.ts"
import { Inactive } from "../domain/SessionErrors.ts"
import { isToolName, type ToolName, toolNames, tools } from "../domain/ToolCatalogue.ts"
import { parametersOf } from "../domain/ToolJsonSchema.ts"
import * as Bridge from "../layers/Bridge.ts"
import * as CommandRunner from "../layers/CommandRunner/Node.ts"
import * as FileMutationQueue from "../layers/FileMutationQueue/Pi.ts"
import type { Host } from "../layers/Host.ts"
import * as HostEvents from "../layers/HostEvents.ts"
import * as HostLogger from "../layers/HostLogger.ts"
import * as Copies from "../layers/HostProgram/Copies.ts"
import * as HostProgram from "../layers/HostProgram/Pi.ts"
import * as InputWitness from "../layers/HostSession/InputWitness.ts"
import * as HostSession from "../layers/HostSession/Pi.ts"
import * as WorkWitness from "../layers/HostSession/WorkWitness.ts"
import * as HostTools from "../layers/HostTools/Pi.ts"
import * as HostWork from "../layers/HostWork/Pi.ts"
import * as Ids from "../layers/Ids/Node.ts"
import * as IntercomClient from "../layers/IntercomClient/Http.ts"
import * as IntercomServer from "../layers/IntercomServer/Http.ts"
import * as Multiplexers from "../layers/Multiplexers/Live.ts"
import * as ObservationLog from "../layers/ObservationLog/File.ts"
import * as ObservationReader from "../layers/ObservationReader/File.ts"
import * as Platform from "../layers/Platform/Node.ts"
import * as SavedSessions from "../layers/SavedSessions/Pi.ts"
import * as SessionFence from "../layers/SessionScope/Fence.ts"
import * as Lifetime from "../layers/SessionScope/Lifetime.ts"
import * as TeamFiles from "../layers/TeamFiles.ts"
import { ActivityTracker } from "./ActivityTracker.ts"
import { CloseJobs } from "./close/CloseJobs.ts"
import { command } from "./Command.ts"
import { Delivery } from "./Delivery.ts"
import { Footer } from "./Footer.ts"
import { withoutHome } from "./Present.ts"
import { promptSection } from "./PromptSection.ts"
import * as SessionParts from "./SessionParts.ts"
import { start } from "./Start.ts"
import { runTool } from "./tools/RunTool.ts"

/** What a model or a person may see: no private path, no control sequence of somebody else's. */
const present = (text: string): string => withoutHome(stripControls(text), Platform.home)

/** Tells the person; a context that Pi has replaced throws, and then nobody is there to be told. */
const tell = (context: ExtensionContext, text: string, level: "info" | "warning"): void => {
  try {
    context.ui.notify(present(text), level)
  } catch {
    return
  }
}

/** What a session's programs need, over this machine and this Pi. */
const services = (
  pi: ExtensionAPI,
  context: ExtensionContext,
  host: Host,
  witness: InputWitness.InputWitness,
  work: WorkWitness.WorkWitness,
  fence: SessionFence.Fence,
  lifetime: Lifetime.Lifetime
) => {
  const log = ObservationLog.layer(fence.sessionId)
  const here = Layer.mergeAll(Platform.layer, CommandRunner.layer, log).pipe(Layer.provideMerge(Ids.layer))
  const piSession = Layer.mergeAll(
    HostSession.layer(pi, context, witness, work, present),
    HostWork.layer(context, work),
    HostTools.layer(pi),
    HostLogger.layer((text) => tell(context, text, "warning")),
    FileMutationQueue.layer(host.withFileMutationQueue)
  )
  const network = Layer.mergeAll(IntercomServer.layer, IntercomClient.layer)
  const program = { ...host, agentDir: host.agentDir() }
  const terminals = Layer.mergeAll(Multiplexers.layer, HostProgram.layer(program), SavedSessions.layer(program))
  const adapters = Layer.mergeAll(
    SessionFence.layer(fence, lifetime.last),
    ObservationReader.layer,
    network,
    terminals
  ).pipe(
    Layer.provideMerge(TeamFiles.layer),
    Layer.provideMerge(piSession),
    Layer.provideMerge(here)
  )
  return Footer.layer.pipe(Layer.provideMerge(SessionParts.layer), Layer.provideMerge(adapters))
}

type Services = Layer.Layer.Success<ReturnType<typeof services>>

/** What the doctor finds; its file is loaded only now. */
const examine = async (pi: ExtensionAPI, context: ExtensionContext, host: Host): Promise<string> => {
  const doctor = await import("./doctor/examine.ts").catch(() => undefined)
  return doctor === undefined
    ? "Intercom could not look: a part of it was removed or replaced since this Pi was started. Start Pi again."
    : doctor.inSession(pi, context, host)
}

/** One Pi session that intercom takes part in. */
interface Open extends Bridge.Bridge<Services> {
  readonly active: true
  /** Turns the fence off, at once. */
  readonly fence: () => void
  /** Releases everything, waiting at most 1 s (spec 3.1). */
  readonly close: () => Promise<void>
}
interface Shut {
  readonly active: false
  readonly sentence: string
}

const shut = (why: string): Shut => ({ active: false, sentence: new Inactive({ why }).message })

const openSession = async (
  pi: ExtensionAPI,
  context: ExtensionContext,
  host: Host,
  witness: InputWitness.InputWitness,
  work: WorkWitness.WorkWitness
): Promise<Open | Shut> => {
  const sessionId = Schema.decodeUnknownOption(SessionId)(context.sessionManager.getSessionId())
  if (Option.isNone(sessionId)) return shut("Pi gave this session an id that Intercom cannot use.")
  const fence: SessionFence.Fence = { sessionId: sessionId.value, open: true }
  const lifetime = Effect.runSync(Lifetime.open)
  const close = () => {
    fence.open = false
    return Effect.runPromise(Lifetime.close(lifetime))
  }
  const opened = Layer.buildWithScope(services(pi, context, host, witness, work, fence, lifetime), lifetime.work).pipe(
    Effect.flatMap((built) =>
      Effect.provide(Effect.all([Bridge.make<Services>(present), start]), built).pipe(Scope.extend(lifetime.work))
    ),
    Effect.map(([bridge]) => bridge),
    Effect.exit
  )
  const exit = await Effect.runPromise(opened)
  if (Exit.isSuccess(exit)) {
    return { ...exit.value, active: true, fence: () => (fence.open = false), close }
  }
  await close()
  return shut(present(Bridge.sentenceOf(exit.cause)))
}

const unsuitable = (context: ExtensionContext): string | undefined => {
  if (context.mode !== "tui") return "it works only in Pi's interactive terminal mode."
  if (!["linux", "darwin", "win32"].includes(process.platform)) return "it works only on Linux, macOS and Windows."
  if (!context.isProjectTrusted()) return "this project is not trusted. Trust it, then run /reload."
  return undefined
}

/**
 * What Pi's extension instance does: one intercom session at a time, opened at `session_start` and fenced at
 * `session_shutdown` or the next start (spec 3.1). Opens nothing by itself: Pi also loads extensions in runs that never
 * start a session.
 */
export const activate = (pi: ExtensionAPI, host: Host): void => {
  const witness = InputWitness.watch(pi)
  const work = WorkWitness.watch(pi)
  let current: Open | Shut = shut("no Pi session has started yet.")
  let changing: Promise<void> = Promise.resolve()
  let registered = false

  const session = (): Open | undefined => current.active ? current : undefined

  /** What the team's line says may be old now. */
  const happened = () => session()?.now(Effect.flatMap(Footer, ({ refresh }) => refresh))

  const execute = async (name: ToolName, callId: string, args: unknown, signal: AbortSignal | undefined) => {
    const call = { id: callId, epoch: work.state().epoch }
    if (!current.active) throw new Error(current.sentence)
    const outcome = await current.run(runTool(name, args, call), signal)
    happened()
    if (outcome._tag === "Failed") throw new Error(outcome.sentence)
    return { content: [{ type: "text" as const, text: outcome.value }], details: undefined }
  }

  /** Two copies would both be the session's listener: the one that comes second keeps out (facts/pi: same tools). */
  const otherCopy = async (): Promise<string | undefined> => {
    if (registered || !pi.getAllTools().some((tool) => isToolName(tool.name))) return undefined
    const own = await Effect.runPromise(Copies.ownCommand(host.entry, pi.getCommands()))
    return "another copy is loaded in this Pi and does the work, so this one keeps out. " +
      `Type /${own} doctor: it says how to take one of the two out. Then start Pi again.`
  }

  const register = () => {
    if (registered) return
    registered = true
    for (const name of toolNames.filter((one) => tools[one].active.length > 0)) {
      pi.registerTool({
        name,
        label: tools[name].label,
        description: tools[name].description,
        parameters: parametersOf(name),
        execute: (id, args, signal) => execute(name, id, args, signal)
      })
    }
  }

  const close = async () => {
    const closing = session()
    current = shut("this Pi session is closing.")
    await closing?.close()
  }

  const open = async (context: ExtensionContext) => {
    await close()
    const why = unsuitable(context) ?? await otherCopy()
    if (why === undefined) {
      register()
      current = await openSession(pi, context, host, witness, work)
      // Registering activates, and tools that could only refuse cost the model tokens on every turn.
      if (!current.active) await Effect.runPromise(HostTools.activate(pi, []))
    } else current = shut(why)
    if (!current.active) tell(context, current.sentence, "warning")
  }

  // One after another, also after one that failed: Pi shows that failure, and the next session starts all the same.
  const change = (step: () => Promise<void>) => (changing = changing.then(step, step))
  pi.on("session_start", (_event, context) => change(() => open(context)))
  pi.on("session_shutdown", () => {
    session()?.fence()
    return change(close)
  })

  pi.on("session_before_compact", (event) => {
    if (event.reason === "manual") session()?.now(Effect.flatMap(Delivery, (delivery) => delivery.hold))
  })
  const release = () => session()?.now(Effect.flatMap(Delivery, (delivery) => delivery.release))
  pi.on("session_compact", release)
  pi.on("session_compact_failed", release)
  pi.on("agent_settled", () => happened())
  HostEvents.subscribe(pi, (event) => session()?.now(Effect.flatMap(ActivityTracker, (tracker) => tracker.see(event))))

  pi.on("before_agent_start", async (event) => {
    session()?.now(Effect.flatMap(CloseJobs, (jobs) => jobs.tellOwed))
    happened()
    const outcome = await session()?.run(promptSection)
    if (outcome?._tag !== "Done" || Option.isNone(outcome.value)) return undefined
    const text = outcome.value.value
    // Pi 0.84.4 has no sections: there the whole prompt is replaced (facts/pi).
    if (event.systemPromptOptions.sections === undefined) return { systemPrompt: `${event.systemPrompt}\n\n${text}` }
    event.systemPromptOptions.sections[sectionName] = text
    return undefined
  })

  pi.registerCommand("intercom", {
    description: "Shows the team; `start` publishes a team file here, `resolve <worker>` settles what needs " +
      "attention, `takeover` replaces a coordinator that is gone, `doctor` says what is wrong and what to do",
    handler: async (args, context) => {
      if (args.trim() === "doctor") return tell(context, await examine(pi, context, host), "info")
      if (!current.active) return tell(context, current.sentence, "warning")
      const outcome = await current.run(command(args))
      happened()
      if (outcome._tag === "Done") tell(context, outcome.value, "info")
      else tell(context, outcome.sentence, "warning")
    }
  })
}
