import { assert } from "@effect/vitest"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { execFileSync } from "node:child_process"
import * as fs from "node:fs"
import { join } from "node:path"
import * as Platform from "../../../src/layers/Platform/Node.ts"
import * as SecretsFile from "../../../src/layers/Secrets/File.ts"
import * as StateDir from "../../../src/layers/StateDir/File.ts"
import { Secrets } from "../../../src/services/Secrets.ts"
import type { HostVersion } from "../HostVersions.ts"
import { squatter, type Tactic, tactics } from "../Squatter.ts"
import { type RealTmux, realTmux } from "../Tmux.ts"
import type { Answer } from "./Orders.ts"
import * as Pane from "./Pane.ts"
import * as Place from "./Place.ts"

/**
 * A coordinator that is a process in a pane of a real tmux, with the real layers over real files, sockets and processes.
 * Only Pi is not real: a script takes its place in what is launched.
 */
export class Coordinator extends Context.Tag("test/Coordinator")<Coordinator, {
  readonly tmux: RealTmux
  readonly pane: Pane.Pane
}>() {
  static readonly layer = Layer.scoped(
    Coordinator,
    Effect.gen(function*() {
      // What a launch must remove is there.
      const tmux = yield* realTmux({ HERDR_ENV: "0", HERDR_PANE_ID: "p", PI_SESSION_ID: "other" })
      yield* Pane.prepare(tmux)
      return { tmux, pane: yield* Pane.start(tmux, "coordinator") }
    })
  )
}

export const resume = (pane: Pane.Pane, to = "Ada", confirmClosed = true): Effect.Effect<Answer> =>
  pane.ask({ _tag: "Resume", to, confirmClosed })
export const command = (pane: Pane.Pane, args: string, yes = false) =>
  Effect.map(pane.ask({ _tag: "Command", args, yes }), ({ text }) => text)

/** The panes of what was launched. */
export const launched = (tmux: RealTmux) =>
  Effect.map(tmux.panes, (rows) => rows.filter(({ window }) => window === "intercom").map(({ pane }) => pane))

/** Closes what was launched, so that the next test finds none. */
const closing = (tmux: RealTmux) =>
  Effect.addFinalizer(() =>
    Effect.orDie(
      Effect.flatMap(launched(tmux), (panes) => Effect.forEach(panes, (pane) => tmux.run(["kill-pane", "-t", pane])))
    )
  )

export const otherAttempt = { version: 1, attempts: { "another-id": { at: "2025-11-02T10:15:30.000Z" } }, jobs: {} }

/** A team whose workers were quit after some work, its coordinator open, and a resume of somebody else recorded. */
export const closedTeam = (version: HostVersion = "1.6.0", environment: Readonly<Record<string, string>> = {}) =>
  Effect.gen(function*() {
    const { pane, tmux } = yield* Coordinator
    yield* closing(tmux)
    const place = yield* Place.make(tmux, version)
    assert.deepInclude(yield* pane.ask(place.open("c-1", environment)), { ok: true, text: "coordinator" })
    const write = (ledger: unknown) =>
      fs.writeFileSync(place.ledger, `${JSON.stringify(ledger, null, 2)}\n`, { mode: 0o600 })
    write(otherAttempt)
    const { text: session } = yield* pane.ask({ _tag: "Save", id: "w-1", directory: place.directory })
    return { ...place, tmux, pane, session, write }
  })
export type Team = Effect.Effect.Success<ReturnType<typeof closedTeam>>

/** Refused with exactly this sentence: nothing launched, nothing changed. */
export const assertRefused = (team: Team, says: string, to?: string, confirmClosed?: boolean) =>
  Effect.gen(function*() {
    const before = [team.untouched(), team.records(), yield* launched(team.tmux)]
    const { ok, text } = yield* resume(team.pane, to, confirmClosed)
    assert.strictEqual(text, says)
    assert.isFalse(ok)
    assert.deepStrictEqual([team.untouched(), team.records(), yield* launched(team.tmux)], before)
  })

/** A resume that must be submitted: its pane. */
export const assertLaunched = (team: Team, to = "Ada", pane = team.pane) =>
  Effect.gen(function*() {
    const { ok, text } = yield* resume(pane, to)
    assert.isTrue(ok, text)
    return String(JSON.parse(text).pane)
  })

export const attemptsIn = (
  { ledger }: Team
): Readonly<Record<string, { readonly at: string; readonly pane?: string }>> =>
  JSON.parse(fs.readFileSync(ledger, "utf8")).attempts
export const atOf = (team: Team, id = "w-1"): string => attemptsIn(team)[id]?.at ?? "none"

export const kill = ({ tmux }: Team, pane: string) => tmux.run(["kill-pane", "-t", pane])

export const editAgents = ({ edit }: Team, change: (agents: Array<Record<string, unknown>>) => void): void =>
  edit((text) => {
    const config = JSON.parse(text)
    change(config.agents)
    return JSON.stringify(config, null, 2)
  })
export const setPort = (team: Team, port: number): void =>
  editAgents(team, ([, ada]) => Object.assign(ada ?? {}, { port }))

/** It was asked for its health, and was sent not one byte more. */
export const assertOnlyAsked = (heard: ReadonlyArray<string>, times: number): void => {
  assert.lengthOf(heard, times)
  for (const text of heard) assert.match(text, /^GET \/intercom\/health HTTP\/1\.1\r\n[^{]*\r\n\r\n$/)
}

/** The secret by which the sessions of a team prove themselves: who has not this one can only be nearly right. */
export const keyOf = ({ root, state }: Team) =>
  Effect.flatMap(Secrets, (secrets) => secrets.key(root)).pipe(
    Effect.provide(
      SecretsFile.layer.pipe(
        Layer.provide(StateDir.layer),
        Layer.provide(Platform.layer),
        Layer.provide(
          Layer.setConfigProvider(ConfigProvider.fromMap(new Map([["PI_INTERCOM_STATE_DIR", state]])))
        )
      )
    )
  )

export const tacticOf = (what: string): Tactic => {
  const found = tactics.find((one) => one.what === what)
  assert.isDefined(found)
  return found
}

/** Holds Ada's port and does something to the disk before it answers: between what was read and the launch. */
export const meddler = (team: Team, meddle: () => void) =>
  Effect.gen(function*() {
    const honest = tacticOf("the right health, no proof")
    const tactic: Tactic = {
      what: "meddles",
      answer: (...request) => {
        meddle()
        honest.answer(...request)
      }
    }
    const stranger = yield* squatter(tactic, "w-1", yield* keyOf(team))
    setPort(team, stranger.port)
    return stranger
  })

export const notLaunched = (detail: string) => `The worker was not launched: ${detail}. No tab was opened.`
export const unsaved = (folder: string) =>
  `Nothing was started: that worker's session is not saved in ${folder}, where Pi started in its folder would look. ` +
  "Pi saves a session after its first turn, so one that never had a turn cannot be resumed: create a new worker instead."
export const noHeader = (file: string) =>
  `Nothing was started: ${file} does not begin with the header of that worker's session in that folder, so it is not ` +
  "what it seems; look at that file."
export const held = (pid: number, { lock }: Team) =>
  `Ada's saved session is in use by process ${pid} (lock file ${lock("w-1")}), so nothing was done. ` +
  "Close that session or wait until it is done, then try again; a session that says it is inactive needs /reload."
export const stillOpen = (name: string, at: string, where: string) =>
  `Nothing was started: an earlier resume of ${name} is still open; it was submitted at ${at}${where}. Its Pi may be ` +
  "starting, or asking the person something in its tab: look there. If that Pi is closed, the person can run " +
  `/intercom resolve ${name}.`
export const unknownPane = ", and which pane it opened is not known"

export const changed = () =>
  "Nothing was started: Ada's entry in the team file changed while it was being checked. Look at intercom_list and, if " +
  "it is right, call again."

const at = "2999-01-01T00:00:00Z"
export const closeJob = { jobId: "j", state: "uncertain", createdAt: at, updatedAt: at, deadlineAt: at }

/** A folder with a tmux that, while there is a file `halt`, opens a window and then keeps its answer to itself. */
export const haltingTmux = ({ base }: Team): string => {
  const real = execFileSync("sh", ["-c", "command -v tmux"], { encoding: "utf8" }).trim()
  const script = `#!/bin/sh
case " $* " in
*" new-window "*)
  if [ -e "${base}/halt" ]; then
    "${real}" "$@" >/dev/null
    : >"${base}/halted"
    while kill -0 "$PPID"; do sleep 0.05; done
    exit 1
  fi
esac
exec "${real}" "$@"
`
  fs.mkdirSync(join(base, "bin"))
  fs.writeFileSync(join(base, "bin/tmux"), script, { mode: 0o755 })
  return join(base, "bin")
}
