import { spawnSync } from "node:child_process"
import * as fs from "node:fs"
import * as path from "node:path"
import { type Call, callsFile, type Fault, type FaultsFile, faultsFile, type When } from "../Faults.ts"
import { Refused } from "./Endings.ts"
import { hang } from "./Processes.ts"

const read = (file: string): string => fs.existsSync(file) ? fs.readFileSync(file, "utf8") : ""

/** Notes this call in the log and answers the faults that it has, by the file beside the server's socket. */
export const faultsOf = (args: ReadonlyArray<string>): ReadonlyArray<Fault> => {
  const folder = path.dirname(process.env["HERDR_SOCKET_PATH"] ?? "")
  const log = path.join(folder, callsFile)
  const command = args.slice(0, 2).join(" ")
  const call: Call = { pid: process.pid, command, args }
  const line = JSON.stringify(call)
  if (folder !== ".") fs.appendFileSync(log, `${line}\n`)
  const text = read(path.join(folder, faultsFile))
  if (text === "") return []
  const { after, faults }: FaultsFile = JSON.parse(text)
  const since = read(log).split("\n").slice(after)
  const until = since.slice(0, since.indexOf(line) + 1).map((one): Call => JSON.parse(one))
  return faults.filter((fault) => {
    if (fault.command !== undefined && fault.command !== command) return false
    if (fault.nth === undefined) return true
    return until.filter((one) => fault.command === undefined || one.command === command).length === fault.nth
  })
}

/** Ends or stops this call if a fault says so. */
export const suffer = (faults: ReadonlyArray<Fault>, when: When): void => {
  for (const fault of faults) {
    if (!("when" in fault) || fault.when !== when) continue
    switch (fault.does) {
      case "hang":
        return hang()
      case "run":
        spawnSync(fault.argv[0], fault.argv.slice(1))
        break
      case "exit":
        fs.writeSync(2, `${fault.text}\n`)
        return process.exit(fault.code)
      case "refuse":
        throw new Refused(fault.code, "a fault of the test")
    }
  }
}

/** The optional fields, by a required field that tells what has them. */
const optional: Readonly<Record<string, ReadonlyArray<string>>> = {
  terminal_id: ["cwd", "foreground_cwd", "label", "agent", "terminal_title", "agent_session"],
  shell_pid: ["shell_pid", "foreground_process_group_id", "foreground_processes", "tty"],
  source_pane_id: ["reason", "target_pane_id"]
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** Changes every object of a value, the inner ones first. */
const each = (
  value: unknown,
  change: (object: Readonly<Record<string, unknown>>) => Readonly<Record<string, unknown>>
): unknown => {
  if (Array.isArray(value)) return value.map((one) => each(one, change))
  if (!isObject(value)) return value
  return change(Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, each(inner, change)])))
}

const shaped = (result: unknown, fault: Fault): unknown => {
  switch (fault.does) {
    case "shape":
      return each(result, (object) => {
        if (fault.as === "extended") return { ...object, field_of_the_future: { more: ["things"] } }
        const gone = Object.entries(optional).flatMap(([mark, fields]) => mark in object ? fields : [])
        return Object.fromEntries(Object.entries(object).filter(([name]) => !gone.includes(name)))
      })
    case "agent":
      return each(result, (object) => {
        if (!("terminal_id" in object)) return object
        const { agent: _, agent_session: __, ...pane } = object
        const { agent, session } = fault
        if (session === undefined) return { ...pane, agent }
        return { ...pane, agent, agent_session: { source: `herdr:${agent}`, agent, kind: "path", value: session } }
      })
    default:
      return result
  }
}

/** The answer as the faults shape it. */
export const shape = (result: unknown, faults: ReadonlyArray<Fault>): unknown => faults.reduce(shaped, result)

/** What is printed instead of an answer. */
export const spoil = (text: string, faults: ReadonlyArray<Fault>): string =>
  faults.reduce((printed, fault) => {
    if (fault.does !== "print") return printed
    switch (fault.what) {
      case "garbage":
        return "\u001b[31mthread 'main' panicked\u0000 at \ufffd{]\n"
      case "oversized":
        return `${printed.trimEnd()}${" ".repeat(2 << 20)}\n`
      case "truncated":
        return printed.slice(0, printed.length / 2)
      case "nothing":
        return ""
    }
  }, text)
