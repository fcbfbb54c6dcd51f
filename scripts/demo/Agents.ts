import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { type Answer, call, type ModelRequest, say, type Script } from "../../test/support/ScriptedModel.ts"

/** What the agents of the demo say to each other. They only act on what their model is given, like a real model. */
export const words = {
  makeTeam: "Make a team: Ada for the server, Ben for the docs. Ada adds a health route, Ben documents it.",
  workForAda: "Please add GET /health to the server, run the tests and report.",
  workForBen: "Please document GET /health. Ada builds it: ask her what it answers, then report.",
  howIsAda: "How is Ada doing?",
  question: "What does GET /health answer?",
  answer: "It answers 200 with {\"ok\": true}.",
  testsPassed: "12 tests passed",
  reportOfAda: "GET /health is there; 12 tests passed.",
  reportOfBen: "docs/health.md describes GET /health.",
  parkBen: "The docs are done for today. Please park Ben.",
  handoff: "docs/health.md describes GET /health as Ada answered. Nothing is open.",
  resumeBen: "Ben's pane is closed, as you can see. Please open his session again.",
  askBen: "Ask Ben where GET /health is described.",
  lateQuestion: "Where is GET /health described?"
} as const

/** The workers: their names, what they are for, and the project's folder that each works in. */
export const cast = {
  server: { name: "Ada", description: "Builds the server and keeps its tests green." },
  docs: { name: "Ben", description: "Writes the documentation." }
} as const

/** The folder's files that the agents' commands use to wait; the demo makes `finish` when Ada's tests may end. */
export const files = { running: "server/tests.running", finish: "server/tests.finish" } as const

const waitFor = (file: string): string => `for i in $(seq 600); do test -e ${file} && break; sleep 0.1; done`
const runTests = `touch tests.running; ${waitFor("tests.finish")}; echo ${words.testsPassed}`

const jsonText = Schema.decodeUnknownOption(Schema.parseJson(Schema.String))
const isFolder = Schema.is(Schema.Literal("server", "docs"))
const registrations = /^\[Intercom registration from .*\]\nsessionId: (.+)\nport: (\d+)\nprojectDirectory: (.+)$/gm

/** The registrations in a text, as `intercom_configure_worker` wants them; of folders that the demo does not know, none. */
export const registered = (text: string) =>
  [...text.matchAll(registrations)].flatMap(([, id, port, folder]) => {
    const sessionId = Option.getOrUndefined(jsonText(id))
    const projectDirectory = Option.getOrUndefined(jsonText(folder))
    return sessionId === undefined || !isFolder(projectDirectory)
      ? []
      : [{ sessionId, port: Number(port), projectDirectory, ...cast[projectDirectory] }]
  })

/** What is new since the model last spoke: texts of users (the person's, other agents') and results of its own calls. */
export const fresh = (request: ModelRequest, role: "user" | "tool"): string =>
  request.fresh.filter((message) => message.role === role).map((message) => message.text).join("\n")

/** The close job that a text asks a worker's handoff for. */
export const askedForHandoff = (text: string): string | undefined =>
  /^\[Intercom close request from [^\]]*\]\n[\s\S]*^jobId: (\S+)$/m.exec(text)?.[1]

const tools = (calls: ReadonlyArray<{ readonly name: string; readonly args: unknown }>): Answer => ({
  _tag: "Tools",
  calls
})

const coordinator = (): Script => {
  let toReload: ReadonlyArray<string> = []
  let toBrief: ReadonlyArray<string> = []
  return (request) => {
    const told = fresh(request, "user")
    if (told.includes(words.makeTeam)) {
      return tools(
        Object.keys(cast).map((projectDirectory) => ({
          name: "intercom_create_worker",
          args: { projectDirectory }
        }))
      )
    }
    const arrived = registered(told)
    if (arrived.length > 0) {
      toReload = [...toReload, ...arrived.map(({ name }) => name)]
      return tools(arrived.map((args) => ({ name: "intercom_configure_worker", args })))
    }
    if (toReload.length > 0) {
      const names = toReload
      toReload = []
      toBrief = [...toBrief, ...names]
      return tools(names.map((to) => ({ name: "intercom_reload_worker", args: { to } })))
    }
    if (toBrief.length === 2) {
      toBrief = []
      return tools([
        { name: "intercom_send", args: { to: "Ada", message: words.workForAda } },
        { name: "intercom_send", args: { to: "Ben", message: words.workForBen } }
      ])
    }
    if (told.includes(words.howIsAda)) return call("intercom_request_status", { to: "Ada" })
    if (told.includes(words.parkBen)) return call("intercom_close_worker", { to: "Ben" })
    if (told.includes(words.resumeBen)) return call("intercom_resume_worker", { to: "Ben", confirmClosed: true })
    if (told.includes(words.askBen)) return call("intercom_send", { to: "Ben", message: words.lateQuestion })
    if (told.includes("busy: yes")) return say("Ada is busy with her tests; I did not interrupt her.")
    if (told.includes("[Intercom report from")) return say("I have read the report.")
    if (told.includes("[Intercom close notice from")) return say("Ben is parked.")
    return say("I go on when a message arrives.")
  }
}

const ada: Script = (request) => {
  const told = fresh(request, "user")
  const results = fresh(request, "tool")
  if (told.includes(words.workForAda)) return call("bash", { command: runTests })
  if (told.includes(words.question)) return call("intercom_send", { to: "Ben", message: words.answer })
  if (results.includes("completion")) {
    return call("intercom_report_work", { status: "ready_for_review", summary: words.reportOfAda })
  }
  return say("I wait.")
}

const ben: Script = (request) => {
  const told = fresh(request, "user")
  const results = fresh(request, "tool")
  const jobId = askedForHandoff(told)
  if (jobId !== undefined) return call("intercom_report_handoff", { jobId, summary: words.handoff })
  if (told.includes(words.workForBen)) return call("bash", { command: waitFor("../server/tests.running") })
  if (told.includes(words.answer)) {
    return call("intercom_report_work", { status: "ready_for_review", summary: words.reportOfBen })
  }
  if (told.includes(words.lateQuestion)) return say(words.reportOfBen)
  if (results !== "" && !/"(accepted|saved)"/.test(results)) {
    return call("intercom_send", { to: "Ada", message: words.question })
  }
  return say("I wait.")
}

/** Plays everyone: who asks is known from the session and from the system prompt, as a real model would know it. */
export const script = (coordinatorSession: string): Script => {
  const leader = coordinator()
  return (request) => {
    if (request.session === coordinatorSession) return leader(request)
    if (request.system.includes("You are Ada ")) return ada(request)
    if (request.system.includes("You are Ben ")) return ben(request)
    return say("I am not configured.")
  }
}
