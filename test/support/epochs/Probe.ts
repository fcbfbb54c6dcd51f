import type { ExtensionAPI, ExtensionContext } from "@earendil-works/pi-coding-agent"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as fs from "node:fs"
import * as InputWitness from "../../../src/layers/HostSession/InputWitness.ts"
import * as PiSession from "../../../src/layers/HostSession/Pi.ts"
import * as WorkWitness from "../../../src/layers/HostSession/WorkWitness.ts"
import * as PiWork from "../../../src/layers/HostWork/Pi.ts"
import { HostSession } from "../../../src/services/HostSession.ts"
import { HostWork } from "../../../src/services/HostWork.ts"

/** What the adapters of one session say at a moment. */
const lookOf = (at: string, calls: ReadonlyArray<string>) =>
  Effect.gen(function*() {
    const work = yield* HostWork
    const file = yield* work.file
    return {
      at,
      epoch: yield* work.epoch,
      busy: yield* work.busy,
      succeeded: yield* Effect.filter(calls, work.succeeded),
      kept: Option.exists(file, fs.existsSync)
    }
  })

/**
 * An extension that a test loads in place of ours: the adapters of closing as the product has them, one tool that
 * succeeds and one that fails, and a command that hands texts to the host, asks the person, or only looks. After each event that the adapters saw it
 * writes one line to the file `PROBE_LOG`: what they say then.
 */
export const activate = (pi: ExtensionAPI): void => {
  const input = InputWitness.watch(pi)
  const work = WorkWitness.watch(pi)
  const calls: Array<string> = []
  let services: Layer.Layer<HostSession | HostWork> | undefined

  const look = (at: string): void => {
    if (services === undefined) return
    const seen = Effect.runSync(Effect.provide(lookOf(at, calls), services))
    fs.appendFileSync(process.env["PROBE_LOG"] ?? "", `${JSON.stringify(seen)}\n`)
  }

  pi.on("session_start", ({ reason }, context: ExtensionContext) => {
    services = Layer.merge(
      PiSession.layer(pi, context, input, work, (text) => text),
      PiWork.layer(context, work)
    )
    look(`session_start ${reason}`)
  })
  pi.on("input", ({ source, streamingBehavior }) => {
    look(`input ${source} ${streamingBehavior ?? "idle"}`)
    return { action: "continue" }
  })
  pi.on("before_agent_start", () => look("before_agent_start"))
  pi.on("agent_start", () => look("agent_start"))
  pi.on("turn_start", () => look("turn_start"))
  pi.on("message_start", ({ message }) => look(`message_start ${message.role}`))
  pi.on("tool_execution_start", ({ toolCallId }) => {
    calls.push(toolCallId)
    look("tool_execution_start")
  })
  pi.on("tool_execution_end", () => look("tool_execution_end"))
  pi.on("turn_end", () => look("turn_end"))
  pi.on("agent_settled", () => look("agent_settled"))
  pi.on("user_bash", () => look("user_bash"))
  pi.on("session_before_tree", () => look("session_before_tree"))
  pi.on("session_tree", () => look("session_tree"))
  pi.on("session_before_compact", ({ reason }) => look(`session_before_compact ${reason}`))
  pi.on("session_compact", () => look("session_compact"))
  pi.on("session_compact_failed", () => look("session_compact_failed"))
  pi.on("ui_prompt_start", () => look("ui_prompt_start"))
  pi.on("ui_prompt_end", () => look("ui_prompt_end"))
  pi.on("session_shutdown", ({ reason }) => look(`session_shutdown ${reason}`))

  const parameters = { type: "object", properties: {}, additionalProperties: false } as const
  const tool = (name: string, outcome: () => string) =>
    pi.registerTool({
      name,
      label: name,
      description: name,
      parameters,
      execute: () => {
        look(`execute ${name}`)
        return Promise.resolve().then(() => ({ content: [{ type: "text", text: outcome() }], details: undefined }))
      }
    })
  tool("succeed", () => "well")
  tool("fail", () => {
    throw new Error("not well")
  })

  const handlers: Readonly<Record<string, (context: ExtensionContext, text: string) => Promise<unknown>>> = {
    job: (_, text) => deliver(text, true),
    other: (_, text) => deliver(text, false),
    custom: () => {
      pi.sendMessage({ customType: "probe", content: "custom", display: true }, { triggerTurn: true })
      return Promise.resolve()
    },
    ask: (context) => context.ui.confirm("Sure?", "Really?"),
    look: () => Promise.resolve()
  }
  const deliver = (text: string, ofJob: boolean) =>
    services === undefined ? Promise.resolve() : Effect.runPromise(
      Effect.flatMap(HostSession, (host) => host.whenReady(host.deliver(text, { ofJob }))).pipe(
        Effect.provide(services),
        Effect.tap((taken) => Effect.sync(() => look(`taken ${taken}`)))
      )
    )
  pi.registerCommand("probe", {
    description: "probe",
    handler: async (args, context) => {
      const [what = "", ...words] = args.split(" ")
      look(`probe ${what}`)
      await handlers[what]?.(context, words.join(" "))
      look(`probed ${what}`)
    }
  })
}
