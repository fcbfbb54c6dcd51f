import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { createHash } from "node:crypto"
import * as fs from "node:fs"
import * as http from "node:http"
import * as path from "node:path"
import { Ledger } from "../../src/domain/Ledger.ts"
import { HealthBody } from "../../src/domain/Probe.ts"
import { SavedReport } from "../../src/domain/Report.ts"
import { agentByName, decodeConfig } from "../../src/domain/TeamConfig.ts"
import { eventually, eventuallyTrue } from "../../test/support/Eventually.ts"
import type { PiHarness } from "../../test/support/PiHarness.ts"
import type { ModelRequest } from "../../test/support/ScriptedModel.ts"
import type { PaneRow } from "../../test/support/TmuxServer.ts"
import { fresh } from "./Agents.ts"
import { isRunning } from "./Leftovers.ts"

const text = (file: string): Option.Option<string> =>
  fs.existsSync(file) ? Option.some(fs.readFileSync(file, "utf8")) : Option.none()

const decodeHealth = Schema.decodeOption(Schema.parseJson(HealthBody))
const decodeReport = Schema.decodeOption(Schema.parseJson(SavedReport))
const decodeLedger = Schema.decodeOption(Schema.parseJson(Ledger))
const decodeEntry = Schema.decodeOption(Schema.parseJson(Schema.Struct({ type: Schema.String })))

/** The files below a folder whose names end like this. */
const filesBelow = (folder: string, ending: string): ReadonlyArray<string> =>
  fs.readdirSync(folder, { encoding: "utf8", recursive: true }).filter((name) => name.endsWith(ending))
    .map((name) => path.join(folder, name))

const healthOf = (port: number): Effect.Effect<Option.Option<string>> =>
  Effect.async((resume) => {
    const request = http.get({ host: "127.0.0.1", port, path: "/intercom/health", timeout: 2000 }, (response) => {
      let body = ""
      response.setEncoding("utf8").on("data", (part: string) => (body += part)).on("end", () => {
        const health = response.statusCode === 200 ? decodeHealth(body) : Option.none()
        resume(Effect.succeed(Option.map(health, ({ sessionId }) => sessionId)))
      })
    })
    request.on("timeout", () => request.destroy()).on("error", () => resume(Effect.succeedNone))
  })

/** Looks at the world, never at the script: files, tmux, endpoints, and what each model was given. */
export const make = ({ agentDir, home, model, project, tmux }: PiHarness) => {
  const team = Effect.sync(() =>
    Option.flatMap(text(path.join(project, ".pi-intercom/config.json")), (json) => Either.getRight(decodeConfig(json)))
  )
  return {
    /** What lies in the project folder. */
    folder: Effect.sync(() => fs.readdirSync(project).toSorted()),
    /** An entry of the team file, once it is there. */
    agent: (name: string) =>
      eventually(
        `${name} in the team file`,
        Effect.map(team, Option.flatMap((config) => Option.fromNullable(agentByName(config, name))))
      ),
    /** The panes of tmux, once they are as looked for. */
    panes: (what: string, fits: (rows: ReadonlyArray<PaneRow>) => boolean) =>
      eventually(what, Effect.map(tmux.panes, Option.liftPredicate(fits))),
    /** Waits until a process has ended: tmux closes a tab a little before that. */
    ended: (pid: number) => eventuallyTrue(`the end of process ${pid}`, Effect.sync(() => !isRunning(pid))),
    /** Waits until the endpoint at the port says that it is this session. */
    endpoint: (sessionId: string, port: number) =>
      eventuallyTrue(
        `the endpoint of session ${sessionId} on port ${port}`,
        Effect.map(healthOf(port), Option.contains(sessionId))
      ),
    /** The request in which a session's model was given all of these texts anew. */
    given: (sessionId: string, texts: ReadonlyArray<string>, fits: (request: ModelRequest) => boolean = () => true) =>
      model.request(
        texts.join(" … "),
        (request) =>
          request.session === sessionId &&
          texts.every((one) => fresh(request, "user").includes(one)) &&
          fits(request)
      ),
    /** The request in which a session's model was given the result of a call of its own. */
    result: (sessionId: string, part: string, fits: (request: ModelRequest) => boolean = () => true) =>
      model.request(
        `a tool result with ${part}`,
        (request) => request.session === sessionId && fresh(request, "tool").includes(part) && fits(request)
      ),
    /** Whether a request to the model was made after this was called. */
    later: () => {
      const before = new Set(model.requests())
      return (request: ModelRequest) => !before.has(request)
    },
    /** How often a session's model was asked. */
    asked: (sessionId: string) => model.requests().filter((request) => request.session === sessionId).length,
    /** How many of its messages to a session's model hold this text. */
    times: (sessionId: string, part: string) =>
      model.requests().filter((request) => request.session === sessionId && fresh(request, "user").includes(part))
        .length,
    /** Waits for a file in the project. */
    file: (name: string) =>
      eventuallyTrue(`the file ${name}`, Effect.sync(() => fs.existsSync(path.join(project, name)))),
    /** The conversation in a session's one saved file, a line for each message; undefined unless there is one file. */
    conversation: (sessionId: string) =>
      Effect.sync(() => {
        const [file, ...more] = filesBelow(path.join(agentDir, "sessions"), `_${sessionId}.jsonl`)
        return file === undefined || more.length > 0
          ? undefined
          : fs.readFileSync(file, "utf8").split("\n").filter((line) =>
            Option.exists(decodeEntry(line), ({ type }) => type === "message" || type === "custom_message")
          ).join("\n")
      }),
    /** How many resumes are recorded as open; undefined when the record is not there. */
    openResumes: Effect.sync(() => {
      const [file = ""] = filesBelow(path.join(home, ".local/state/pi-intercom"), "processes.json")
      const ledger = Option.flatMap(text(file), decodeLedger)
      return Option.getOrUndefined(Option.map(ledger, ({ attempts }) => Object.keys(attempts).length))
    }),
    /** A worker's saved report. */
    report: (sessionId: string) => {
      const name = `${createHash("sha256").update(sessionId).digest("hex")}.json`
      return eventually(
        `a saved report of session ${sessionId}`,
        Effect.sync(() => Option.flatMap(text(path.join(project, ".pi-intercom/reports", name)), decodeReport))
      )
    }
  }
}

export type Evidence = ReturnType<typeof make>
