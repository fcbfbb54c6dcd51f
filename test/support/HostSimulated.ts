import type { SessionEntry } from "@earendil-works/pi-coding-agent"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type { ToolName } from "../../src/domain/ToolCatalogue.ts"
import * as WorkWitness from "../../src/layers/HostSession/WorkWitness.ts"
import * as HostWorkPi from "../../src/layers/HostWork/Pi.ts"
import { HostSession } from "../../src/services/HostSession.ts"
import { HostTools } from "../../src/services/HostTools.ts"
import type { HostWork } from "../../src/services/HostWork.ts"

/** A Pi session without Pi: what was handed to it is kept, what it would answer can be set. */
export interface SimulatedHost {
  /** The session it is on; tests replace it as `/new` would. */
  sessionId: string
  idle: boolean
  /** False: it drops texts, as Pi does during a compaction. */
  takes: boolean
  /** What a text waits for before Pi can take it. */
  ready: Effect.Effect<void>
  name: string | undefined
  /** What the person answers when asked, after reading the question. */
  answer: (question: string) => Effect.Effect<boolean>
  tools: ReadonlyArray<ToolName>
  readonly texts: Array<string>
  readonly notices: Array<string>
  /** The line that is kept in sight. */
  status: string | undefined
  /** What the person has typed and not sent. */
  draft: string
  /** Where the session is kept. */
  file: string | undefined
  /** The results of tool calls on its branch, the latest last. */
  results: ReadonlyArray<{ readonly toolCallId: string; readonly isError: boolean }>
  /** What its work is made of: tests show it the events that Pi would. */
  readonly work: WorkWitness.WorkWitness
  readonly layer: Layer.Layer<HostSession | HostTools | HostWork>
}

/** An entry of a session's branch, as Pi keeps it. */
export const toolResult = (toolCallId: string, isError: boolean): SessionEntry => ({
  type: "message",
  id: toolCallId,
  parentId: null,
  timestamp: "2026-01-01T00:00:00.000Z",
  message: { role: "toolResult", toolCallId, toolName: "tool", content: [], isError, timestamp: 0 }
})

/** A new host on one session in one directory. */
export const makeHost = (sessionId: string, directory: string): SimulatedHost => {
  const host: SimulatedHost = {
    sessionId,
    idle: true,
    takes: true,
    ready: Effect.void,
    name: undefined,
    answer: () => Effect.succeed(false),
    tools: [],
    texts: [],
    notices: [],
    draft: "",
    status: undefined,
    file: `/saved${directory}/${sessionId}.jsonl`,
    results: [],
    work: WorkWitness.make(),
    layer: Layer.suspend(() =>
      Layer.mergeAll(
        Layer.succeed(HostSession, {
          currentId: Effect.sync(() => Option.some(host.sessionId)),
          directory,
          idle: Effect.sync(() => host.idle),
          whenReady: <A, E, R>(step: Effect.Effect<A, E, R>) => Effect.suspend(() => Effect.zipRight(host.ready, step)),
          deliver: (text, options) =>
            Effect.sync(() => {
              if (!host.takes) return false
              host.texts.push(text)
              if (options?.ofJob === true) host.work.markOfJob(text)
              return true
            }),
          setName: (name) => Effect.sync(() => void (host.name = name)),
          notify: (text) => Effect.sync(() => void host.notices.push(text)),
          status: (text) => Effect.sync(() => void (host.status = text)),
          confirm: (_title, text) => Effect.suspend(() => host.answer(text))
        }),
        Layer.succeed(HostTools, { activate: (names) => Effect.sync(() => void (host.tools = names)) }),
        HostWorkPi.layer({
          isIdle: () => host.idle,
          ui: { getEditorText: () => host.draft },
          sessionManager: {
            getSessionFile: () => host.file,
            getBranch: () => host.results.map(({ isError, toolCallId }) => toolResult(toolCallId, isError))
          }
        }, host.work)
      )
    )
  }
  return host
}
