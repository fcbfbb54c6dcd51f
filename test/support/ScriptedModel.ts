import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as FiberSet from "effect/FiberSet"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import * as http from "node:http"
import { eventually, type NeverCame } from "./Eventually.ts"

/** One message of a conversation, its parts joined to one text. */
export interface ModelMessage {
  readonly role: string
  readonly text: string
  /** The names of the tools that an assistant message calls. */
  readonly calls: ReadonlyArray<string>
  /** The arguments of these calls, each as JSON. */
  readonly args: ReadonlyArray<string>
}

/** One tool as the model is offered it. */
export interface ModelTool {
  readonly name: string
  readonly description: string
  readonly parameters: unknown
}

/** One question to the model. */
export interface ModelRequest {
  /** The Pi session that asks; empty for a request without one. */
  readonly session: string
  readonly system: string
  /** Without the system prompt. */
  readonly messages: ReadonlyArray<ModelMessage>
  readonly tools: ReadonlyArray<ModelTool>
  readonly lastRole: string
  /** The text of the last message whose role is `user`. */
  readonly lastUser: string
  /** The texts after the last assistant message: what is new since the model last spoke. */
  readonly fresh: ReadonlyArray<ModelMessage>
  /** A request to summarize, made by a compaction. */
  readonly summary: boolean
}

/** Calls of tools, made at once. */
export type Calls = ReadonlyArray<{ readonly name: string; readonly args: unknown }>

/** What the model does with a request. */
export type Answer =
  | { readonly _tag: "Text"; readonly text: string }
  | { readonly _tag: "Tools"; readonly calls: Calls }
  /** Begins to speak at once, and ends with `text` when the gate opens: the session is busy until then. */
  | { readonly _tag: "Held"; readonly gate: Effect.Effect<void>; readonly text: string }
  /** Begins to speak at once, and calls tools when the gate opens. */
  | { readonly _tag: "Later"; readonly gate: Effect.Effect<void>; readonly calls: Calls }
  /** Thinks, speaks and waits in this order, then calls tools, if any; what is not waited for comes piece by piece. */
  | { readonly _tag: "Stream"; readonly parts: ReadonlyArray<Part>; readonly calls: Calls }
  | { readonly _tag: "Fail"; readonly status: number }

/** A part of a streamed answer. */
export type Part = { readonly thinks: string } | { readonly says: string } | { readonly waits: Effect.Effect<void> }

export const say = (text: string): Answer => ({ _tag: "Text", text })
export const call = (name: string, args: unknown = {}): Answer => ({ _tag: "Tools", calls: [{ name, args }] })
export const held = (gate: Effect.Effect<void>, text = "done"): Answer => ({ _tag: "Held", gate, text })
export const later = (gate: Effect.Effect<void>, name: string, args: unknown = {}): Answer => ({
  _tag: "Later",
  gate,
  calls: [{ name, args }]
})
export const streamed = (parts: ReadonlyArray<Part>, calls: Calls = []): Answer => ({ _tag: "Stream", parts, calls })
export const hang: Answer = held(Effect.never)

/** Answers each request; its memory, if it needs one, is the test's. */
export type Script = (request: ModelRequest) => Answer

/** A model server of this process that answers by a script and remembers every request. */
export interface ScriptedModel {
  readonly baseUrl: string
  readonly requests: () => ReadonlyArray<ModelRequest>
  /** The first request, past or coming, that fits. */
  readonly request: (what: string, fits: (request: ModelRequest) => boolean) => Effect.Effect<ModelRequest, NeverCame>
}

const Content = Schema.NullishOr(
  Schema.Union(Schema.String, Schema.Array(Schema.Struct({ text: Schema.optional(Schema.String) })))
)
const Body = Schema.parseJson(Schema.Struct({
  model: Schema.String,
  messages: Schema.Array(Schema.Struct({
    role: Schema.String,
    content: Schema.optional(Content),
    tool_calls: Schema.optional(Schema.Array(Schema.Struct({
      function: Schema.Struct({ name: Schema.String, arguments: Schema.optional(Schema.String) })
    })))
  })),
  tools: Schema.optional(Schema.Array(Schema.Struct({
    function: Schema.Struct({
      name: Schema.String,
      description: Schema.optional(Schema.String),
      parameters: Schema.optional(Schema.Unknown)
    })
  })))
}))
const decodeBody = Schema.decodeUnknownOption(Body)

const textOf = (content: typeof Content.Type | undefined): string =>
  typeof content === "string" ? content : (content ?? []).map((part) => part.text ?? "").join("")

const requestOf = (body: typeof Body.Type, session: string): ModelRequest => {
  const all = body.messages.map((message): ModelMessage => ({
    role: message.role,
    text: textOf(message.content),
    calls: (message.tool_calls ?? []).map((one) => one.function.name),
    args: (message.tool_calls ?? []).map((one) => one.function.arguments ?? "")
  }))
  const isSystem = (message: ModelMessage) => message.role === "system" || message.role === "developer"
  const messages = all.filter((message) => !isSystem(message))
  const system = all.filter(isSystem).map((message) => message.text).join("\n")
  const tools = (body.tools ?? []).map((tool): ModelTool => ({
    name: tool.function.name,
    description: tool.function.description ?? "",
    parameters: tool.function.parameters
  }))
  return {
    session,
    system,
    messages,
    tools,
    lastRole: messages.at(-1)?.role ?? "",
    lastUser: messages.findLast((message) => message.role === "user")?.text ?? "",
    fresh: messages.slice(messages.findLastIndex((message) => message.role === "assistant") + 1),
    summary: tools.length === 0 && /summar/i.test(system)
  }
}

/** Writes the chunks of one OpenAI chat completion (facts/pi). */
const stream = (response: http.ServerResponse, id: number, answer: Exclude<Answer, { _tag: "Fail" }>) => {
  const write = (delta: unknown, finish: string | null = null) =>
    Effect.sync(() => {
      const usage = { prompt_tokens: 100, completion_tokens: 5, total_tokens: 105 }
      response.write(`data: ${
        JSON.stringify({
          id: `c${id}`,
          object: "chat.completion.chunk",
          created: 1,
          model: "mock-1",
          choices: [{ index: 0, delta, finish_reason: finish }],
          ...(finish === null ? {} : { usage })
        })
      }\n\n`)
    })
  const end = (finish: string) =>
    Effect.zipRight(write({}, finish), Effect.sync(() => response.end("data: [DONE]\n\n")))
  const tools = (calls: Calls) =>
    Effect.zipRight(
      Effect.forEach(calls, (one, index) =>
        write({
          tool_calls: [{
            index,
            id: `call_${id}_${index}`,
            type: "function",
            function: { name: one.name, arguments: JSON.stringify(one.args) }
          }]
        })),
      end("tool_calls")
    )
  const part = (one: Part) =>
    "waits" in one ? one.waits : write("thinks" in one ? { reasoning_content: one.thinks } : { content: one.says })
  /** Its arguments come in pieces, as from a real model. */
  const inPieces = ({ args, name }: Calls[number], index: number) => {
    const pieces = JSON.stringify(args).match(/[^]{1,9}/gu) ?? []
    const id_ = `call_${id}_${index}`
    return Effect.zipRight(
      write({ tool_calls: [{ index, id: id_, type: "function", function: { name, arguments: "" } }] }),
      Effect.forEach(pieces, (piece) => write({ tool_calls: [{ index, function: { arguments: piece } }] }))
    )
  }
  return Effect.gen(function*() {
    yield* Effect.sync(() => response.writeHead(200, { "content-type": "text/event-stream" }))
    yield* write({ role: "assistant", content: "" })
    switch (answer._tag) {
      case "Text":
        yield* write({ content: answer.text })
        return yield* end("stop")
      case "Held":
        yield* write({ content: "… " })
        yield* answer.gate
        yield* write({ content: answer.text })
        return yield* end("stop")
      case "Later":
        yield* write({ content: "… " })
        yield* answer.gate
        return yield* tools(answer.calls)
      case "Tools":
        return yield* tools(answer.calls)
      case "Stream":
        yield* Effect.forEach(answer.parts, part)
        yield* Effect.forEach(answer.calls, inPieces)
        return yield* end(answer.calls.length === 0 ? "stop" : "tool_calls")
    }
  })
}

/** Starts the server on a port of the system's choice; it ends, open answers included, with the scope. */
export const make = (script: Script): Effect.Effect<ScriptedModel, never, Scope.Scope> =>
  Effect.gen(function*() {
    const run = yield* FiberSet.makeRuntime()
    const requests: Array<ModelRequest> = []

    const answerTo = (incoming: http.IncomingMessage, text: string, response: http.ServerResponse): void => {
      const body = incoming.url?.endsWith("/chat/completions") === true ? decodeBody(text) : Option.none()
      if (Option.isNone(body)) {
        response.writeHead(404).end("{}")
        return
      }
      const session = incoming.headers["x-session-affinity"]
      const request = requestOf(body.value, typeof session === "string" ? session : "")
      const id = requests.push(request)
      const answer = script(request)
      if (answer._tag === "Fail") {
        response.writeHead(answer.status, { "content-type": "application/json" })
        response.end(JSON.stringify({ error: { message: "scripted failure", type: "overloaded_error" } }))
        return
      }
      const fiber = run(stream(response, id, answer))
      response.on("close", () => {
        run(Fiber.interrupt(fiber))
      })
    }

    const server = yield* Effect.acquireRelease(
      Effect.async<http.Server>((resume) => {
        const made = http.createServer((incoming, response) => {
          const parts: Array<Buffer> = []
          incoming.on("data", (part: Buffer) => parts.push(part))
          incoming.on("end", () => answerTo(incoming, Buffer.concat(parts).toString("utf8"), response))
        })
        made.listen(0, "127.0.0.1", () => resume(Effect.succeed(made)))
      }),
      (made) =>
        Effect.async<void>((resume) => {
          made.close(() => resume(Effect.void))
          made.closeAllConnections()
        })
    )
    const address = server.address()
    if (address === null || typeof address === "string") return yield* Effect.dieMessage("the model has no port")

    const seen = Effect.sync(() =>
      requests.map((one) => `${one.session} ${one.lastRole}: ${one.lastUser.slice(0, 200)}`).join("\n")
    )
    return {
      baseUrl: `http://127.0.0.1:${address.port}/v1`,
      requests: () => [...requests],
      request: (what, fits) =>
        eventually(`a request to the model: ${what}`, Effect.sync(() => Option.fromNullable(requests.find(fits))), seen)
    }
  })
