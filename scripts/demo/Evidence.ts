import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { createHash } from "node:crypto"
import * as fs from "node:fs"
import * as http from "node:http"
import * as path from "node:path"
import { HealthBody } from "../../src/domain/Probe.ts"
import { SavedReport } from "../../src/domain/Report.ts"
import { agentByName, decodeConfig } from "../../src/domain/TeamConfig.ts"
import { eventually, eventuallyTrue } from "../../test/support/Eventually.ts"
import type { PiHarness } from "../../test/support/PiHarness.ts"
import type { ModelRequest } from "../../test/support/ScriptedModel.ts"
import type { PaneRow } from "../../test/support/TmuxServer.ts"
import { fresh } from "./Agents.ts"

const text = (file: string): Option.Option<string> =>
  fs.existsSync(file) ? Option.some(fs.readFileSync(file, "utf8")) : Option.none()

const decodeHealth = Schema.decodeOption(Schema.parseJson(HealthBody))
const decodeReport = Schema.decodeOption(Schema.parseJson(SavedReport))

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
export const make = ({ model, project, tmux }: PiHarness) => {
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
    result: (sessionId: string, part: string) =>
      model.request(
        `a tool result with ${part}`,
        (request) => request.session === sessionId && fresh(request, "tool").includes(part)
      ),
    /** How often a session's model was asked. */
    asked: (sessionId: string) => model.requests().filter((request) => request.session === sessionId).length,
    /** How many of its messages to a session's model hold this text. */
    times: (sessionId: string, part: string) =>
      model.requests().filter((request) => request.session === sessionId && fresh(request, "user").includes(part))
        .length,
    /** Waits for a file in the project. */
    file: (name: string) =>
      eventuallyTrue(`the file ${name}`, Effect.sync(() => fs.existsSync(path.join(project, name)))),
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
