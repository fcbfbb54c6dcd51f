import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type { ToolName } from "../../src/domain/ToolCatalogue.ts"
import { HostSession } from "../../src/services/HostSession.ts"
import { HostTools } from "../../src/services/HostTools.ts"

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
  readonly layer: Layer.Layer<HostSession | HostTools>
}

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
    layer: Layer.suspend(() =>
      Layer.merge(
        Layer.succeed(HostSession, {
          currentId: Effect.sync(() => Option.some(host.sessionId)),
          directory,
          idle: Effect.sync(() => host.idle),
          whenReady: <A, E, R>(step: Effect.Effect<A, E, R>) => Effect.suspend(() => Effect.zipRight(host.ready, step)),
          deliver: (text) =>
            Effect.sync(() => {
              if (host.takes) host.texts.push(text)
              return host.takes
            }),
          setName: (name) => Effect.sync(() => void (host.name = name)),
          notify: (text) => Effect.sync(() => void host.notices.push(text)),
          confirm: (_title, text) => Effect.suspend(() => host.answer(text))
        }),
        Layer.succeed(HostTools, { activate: (names) => Effect.sync(() => void (host.tools = names)) })
      )
    )
  }
  return host
}
