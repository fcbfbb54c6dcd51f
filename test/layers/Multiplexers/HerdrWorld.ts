import * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Herdr from "../../../src/layers/Multiplexers/Herdr.ts"
import type { Command } from "../../../src/services/CommandRunner.ts"
import type { LaunchScripts } from "../../../src/services/LaunchScripts.ts"
import type { MonitorRecord } from "../../../src/services/MonitorRecord.ts"
import type { Platform } from "../../../src/services/Platform.ts"
import { ProcessIdentity } from "../../../src/services/ProcessIdentity.ts"
import { type Behaviour, scripted } from "../../support/CommandScripted.ts"
import { makeLaunchScripts } from "../../support/LaunchScriptsMemory.ts"
import { makeMonitorRecords } from "../../support/MonitorRecordsMemory.ts"
import { platformAs } from "../../support/PlatformAs.ts"

/** What a session in a pane of Herdr has. */
export const inside = {
  HERDR_ENV: "1",
  HERDR_WORKSPACE_ID: "w1",
  HERDR_PANE_ID: "w1:p1",
  HERDR_TAB_ID: "w1:t1",
  HERDR_SOCKET_PATH: "/run/herdr.sock"
}
/** What a trace begins with for the server at that socket. */
export const server = "aSdvo1cRyf9q:"
/** The trace of pane 7. */
export const trace = `herdr ${server}w1 w1:p7 term-7`

export const pane = (number: number, changed: object = {}) => ({
  pane_id: `w1:p${number}`,
  terminal_id: `term-${number}`,
  workspace_id: "w1",
  tab_id: `w1:t${number}`,
  focused: false,
  agent_status: "unknown",
  revision: 0,
  ...changed
})
export const answer = (type: string, fields: object): Behaviour => ({
  stdout: `${JSON.stringify({ id: "cli:x", result: { type, ...fields } })}\n`
})
export const error = (code: string): Behaviour => ({
  code: 1,
  stderr: `${JSON.stringify({ id: "cli:x", error: { code, message: "words that mean nothing" } })}\n`
})
export const current = (changed: object = {}) => answer("pane_current", { pane: pane(1, changed) })
export const created = (tab: object = {}, root: object = {}) =>
  answer("tab_created", {
    tab: { tab_id: "w1:t7", workspace_id: "w1", number: 2, label: "x", focused: false, pane_count: 1, ...tab },
    root_pane: pane(7, root)
  })

/** Herdr as told for the commands it is called with, also by their third word; by default everything succeeds. */
export const herdr = (told: Readonly<Record<string, Behaviour>> = {}) =>
  scripted((command) => {
    const name = command.args.slice(0, 2).join(" ")
    const usual: Readonly<Record<string, Behaviour>> = {
      "pane current": current(),
      "tab create": created(),
      "tab rename": answer("tab_info", { tab: { tab_id: "w1:t1", workspace_id: "w1" } }),
      "pane run": {}
    }
    return told[`${name} ${command.args[2]}`] ?? told[name] ?? usual[name] ??
      { code: 2, stderr: `error: unrecognized subcommand '${name}'\n` }
  })

export const processes = (changed: Partial<ProcessIdentity["Type"]> = {}) =>
  Layer.succeed(ProcessIdentity, {
    own: { pid: 10 },
    look: () => Effect.succeed("unknown"),
    facts: () =>
      Effect.succeed({ startTicks: "500", state: "S", session: 1, tty: { major: 136, minor: 1 }, uid: 1000 }),
    environment: () => Effect.succeed(Option.none()),
    deviceOf: () => Effect.dieMessage("Herdr's terminals are not looked at"),
    ...changed
  })

export interface Setting {
  readonly variables?: Readonly<Record<string, string>>
  readonly scripts?: Layer.Layer<LaunchScripts>
  readonly records?: Layer.Layer<MonitorRecord>
  readonly os?: Platform["Type"]["os"]
  readonly processes?: Layer.Layer<ProcessIdentity>
}

/** Uses the adapter over such a Herdr. */
export const use = <A, E>(
  script: ReturnType<typeof scripted>,
  effect: (multiplexer: Effect.Effect.Success<typeof Herdr.make>) => Effect.Effect<A, E>,
  setting: Setting = {}
) =>
  Effect.provide(
    Effect.flatMap(Herdr.make, effect),
    Layer.mergeAll(
      script.layer,
      setting.records ?? makeMonitorRecords().layer,
      setting.scripts ?? makeLaunchScripts().layer,
      platformAs(setting.os ?? "linux"),
      setting.processes ?? processes(),
      Layer.setConfigProvider(ConfigProvider.fromMap(new Map(Object.entries(setting.variables ?? inside))))
    )
  )

export const request = {
  root: "/team",
  argv: ["/bin/pi", "-e", "it's\n$x"],
  directory: process.cwd(),
  environment: { PI_INTERCOM_ROOT: "/team" }
} as const
/** A launch in it. */
export const launch = (script: ReturnType<typeof scripted>, setting: Setting = {}, asked = request) =>
  use(script, (multiplexer) => multiplexer.launch(asked), setting)

/** The commands that it got. */
export const called = (script: ReturnType<typeof scripted>) =>
  script.calls.map((call: Command) => call.args.slice(0, 2).join(" "))

export const outOfHerdr =
  "this session does not run inside Herdr; start Herdr and open this session in it, or choose the multiplexer that it runs in with intercom_set_multiplexer"
export const garbled = "Herdr's answer could not be read"
/** The message of a launch that surely opened nothing. */
export const notLaunched = (says: string) => `The worker was not launched: ${says}. No tab was opened.`
