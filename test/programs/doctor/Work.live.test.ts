import { assert, describe, it } from "@effect/vitest"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { spawn } from "node:child_process"
import { createHash } from "node:crypto"
import { once } from "node:events"
import * as fs from "node:fs"
import { join } from "node:path"
import { vi } from "vitest"
import { assertOnly, type Examined, examined } from "../../support/doctor/Examined.ts"
import { eventuallyTrue } from "../../support/Eventually.ts"
import * as SecretsMemory from "../../support/SecretsMemory.ts"
import { squatter, tactics } from "../../support/Squatter.ts"

// Pi's own resolution looks at it, in this process.
vi.stubEnv("PI_OFFLINE", "1")

const key = SecretsMemory.keyOf("/another")
const iso = (ms: number): string => new Date(ms).toISOString()

/** Somebody else on a session's saved port, who answers like this. */
const squat = (team: Examined, what: string, id = "w-1") =>
  Effect.gen(function*() {
    const tactic = tactics.find((one) => one.what === what)
    assert.isDefined(tactic)
    const { port } = yield* squatter(tactic, id, key)
    team.edit((agents) => Object.assign(agents.find(({ sessionId }) => sessionId === id) ?? {}, { port }))
    return port
  })

const clean = (team: Examined) => Effect.map(team.findings, (findings) => findings.length === 0)

const opened =
  /(?:^O|Otherwise o)pen Ada's session, or run \/reload in it if it is open: it takes a free port, and the coordinator/
/** What the client makes of all others is in test/layers/Intercom. */
const free = [
  ["the health of another session", "port_taken", /^The saved port \d+ of Ada is held by another Intercom session/],
  ["no HTTP", "port_taken", /of Ada is held by something that does not answer as Ada's session would/],
  ["a reset", "port_taken", /that does not answer as Ada's session would/],
  ["503 with instructions", "port_taken", /that does not answer as Ada's session would/],
  ["404 with instructions", "port_taken", /of Ada is held by something that answers as another version of Intercom/],
  ["the right health, no proof", "port_unproven", /of Ada is held by something that has its name and cannot prove it/],
  ["silence", "port_silent", /of Ada is held by something that does not answer/]
] as const

describe("who holds the saved ports", () => {
  for (const [what, code, says] of free) {
    it.scopedLive(`${what}: found, until the worker's session was opened`, () =>
      Effect.gen(function*() {
        const team = yield* examined
        yield* team.member("c-1")
        yield* squat(team, what)
        assertOnly((yield* team.diagnosis).findings, code, says, opened)
        yield* team.member("w-1")
        yield* eventuallyTrue(
          "the coordinator saved Ada's port",
          Effect.map(team.diagnosis, ({ findings }) => findings.length === 0)
        )
      }))
  }

  it.scopedLive("nobody is said to prove nothing while the secret cannot be used", () =>
    Effect.gen(function*() {
      const team = yield* examined
      yield* team.member("c-1")
      fs.chmodSync(join(team.own, "secret"), 0o644)
      const { findings } = yield* team.diagnosis
      assert.deepStrictEqual(findings.map(({ code }) => code), ["secret_unusable"])
    }))

  it.scopedLive("the coordinator's port: found, until its session was opened", () =>
    Effect.gen(function*() {
      const team = yield* examined
      yield* squat(team, "no HTTP", "c-1")
      assertOnly(yield* team.findings, "port_taken", /of Coordinator is held/, /takes a free port, and saves that/)
      yield* team.reload("c-1")
      assert.isTrue(yield* clean(team))
    }))
})

const job = (state: string, at: number, deadline: number) => ({
  jobId: "job-1",
  state,
  createdAt: iso(at),
  updatedAt: iso(at),
  deadlineAt: iso(deadline)
})
const setJob = (team: Examined, closeJob: unknown) => team.edit(([, ada]) => Object.assign(ada ?? {}, { closeJob }))
const record = (team: Examined, ledger: Record<string, unknown>): void =>
  fs.writeFileSync(
    join(team.own, "processes.json"),
    JSON.stringify({ version: 1, attempts: {}, jobs: {}, ...ledger }),
    { mode: 0o600 }
  )

describe("closes and resumes that nobody ends", () => {
  it.scopedLive("an uncertain close, until the person has settled it", () =>
    Effect.gen(function*() {
      const team = yield* examined
      const now = yield* Clock.currentTimeMillis
      setJob(team, job("uncertain", now - 1000, now))
      assertOnly(
        yield* team.findings,
        "close_uncertain",
        /^Whether Ada was closed is uncertain since .* \(job job-1\), so it gets no work/,
        /^Run \/intercom resolve Ada in the coordinator's session/
      )
      const coordinator = yield* team.member("c-1")
      coordinator.host.answer = () => Effect.succeed(true)
      yield* coordinator.command("resolve Ada")
      yield* coordinator.close
      assert.isTrue(yield* clean(team))
    }))

  it.scopedLive("an uncertain close whose process is gone by now, until the coordinator has started", () =>
    Effect.gen(function*() {
      const team = yield* examined
      const now = yield* Clock.currentTimeMillis
      const child = spawn("sleep", ["1000"], { stdio: "ignore" })
      const startTicks = fs.readFileSync(`/proc/${child.pid}/stat`, "utf8").replace(/^.*\) /s, "").split(" ")[19]
      const process = {
        pid: child.pid,
        startTicks,
        bootId: fs.readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim(),
        machineId: fs.existsSync("/etc/machine-id") ? fs.readFileSync("/etc/machine-id", "utf8").trim() : "",
        pidNamespace: fs.readlinkSync("/proc/self/ns/pid")
      }
      yield* Effect.addFinalizer(() => Effect.sync(() => child.kill("SIGKILL")))
      setJob(team, job("uncertain", now - 1000, now))
      record(team, { jobs: { "job-1": process } })
      assertOnly(yield* team.findings, "close_uncertain", /^Whether Ada/, /^Run \/intercom resolve/)
      child.kill("SIGKILL")
      yield* Effect.promise(() => once(child, "exit"))
      assertOnly(yield* team.findings, "close_uncertain", /^Whether Ada/, /^Its process is proven gone. Open the coord/)
      yield* team.reload("c-1")
      assert.isTrue(yield* clean(team))
    }))

  for (const [what, left] of [["not over", 60_000], ["over", -60_000]] as const) {
    it.scopedLive(`a close that nobody goes on with, its time ${what}, until the coordinator has started`, () =>
      Effect.gen(function*() {
        const team = yield* examined
        const now = yield* Clock.currentTimeMillis
        setJob(team, job("awaiting_handoff", now - 120_000, now + left))
        assertOnly(
          yield* team.findings,
          "close_orphaned",
          /^The close of Ada \(job job-1\) is awaiting_handoff since .* and nobody goes on with it/,
          /^Open the coordinator's session, or run \/reload in it/
        )
        yield* team.reload("c-1")
        assert.isTrue(yield* clean(team))
      }))
  }

  it.scopedLive("a close that its coordinator may be running is no finding", () =>
    Effect.gen(function*() {
      const team = yield* examined
      yield* team.member("c-1")
      const now = yield* Clock.currentTimeMillis
      setJob(team, job("awaiting_handoff", now - 1000, now + 60_000))
      assert.deepStrictEqual([...(yield* team.diagnosis).findings], [])
    }))

  it.scopedLive("an open resume, without its pane, until the person has settled it; of a removed worker too", () =>
    Effect.gen(function*() {
      const team = yield* examined
      const at = "2026-01-01T00:00:00.000Z"
      const pane = JSON.stringify({ multiplexer: "tmux", workspaceId: "tmux:1:1", paneId: "%77" })
      record(team, { attempts: { "w-1": { at, pane } } })
      const findings = yield* team.findings
      assertOnly(
        findings,
        "resume_open",
        /^A resume of Ada was submitted at 2026-01-01T00:00:00.000Z and it has not reported since/,
        /If that Pi is closed, run \/intercom resolve Ada in the coordinator's session/
      )
      assert.notInclude(JSON.stringify(findings), "%77")
      team.edit((agents) => void agents.pop())
      assertOnly(yield* team.findings, "resume_open", /^A resume of w-1 /, /resolve w-1 in/)
      const coordinator = yield* team.member("c-1")
      coordinator.host.answer = () => Effect.succeed(true)
      yield* coordinator.command("resolve w-1")
      yield* coordinator.close
      assert.isTrue(yield* clean(team))
    }))
})

describe("what was written down in the future", () => {
  it.scopedLive("a handoff, until its time was corrected", () =>
    Effect.gen(function*() {
      const team = yield* examined
      const now = yield* Clock.currentTimeMillis
      const handoff = (updatedAt: string) => ({ version: 1, jobId: "j", summary: "Done.", updatedAt })
      team.edit(([, ada]) => Object.assign(ada ?? {}, { handoff: handoff(iso(now + 3_600_000)) }))
      assertOnly(
        yield* team.findings,
        "clock_future",
        /^The time of the handoff or close of Ada has not come yet by this machine's clock/,
        /set it right. Otherwise correct updatedAt in \.pi-intercom\/config\.json/
      )
      team.edit(([, ada]) => Object.assign(ada ?? {}, { handoff: handoff(iso(now)) }))
      assert.isTrue(yield* clean(team))
    }))

  it.scopedLive("records and reports, each kind said once for all workers", () =>
    Effect.gen(function*() {
      const team = yield* examined
      const now = yield* Clock.currentTimeMillis
      const later = iso(now + 60_000)
      const names = ["Ada", "Ben", "Cleo", "Dan", "Eve", "Fay", "Gus"]
      team.edit((agents) =>
        agents.splice(
          1,
          1,
          ...names.map((name, index) => ({ ...agents[1], name, sessionId: `w-${index}`, port: team.adasPort }))
        )
      )
      const [logs, reports] = [join(team.root, ".pi-intercom/logs"), join(team.root, ".pi-intercom/reports")]
      fs.mkdirSync(reports, { recursive: true })
      for (const [index] of names.entries()) {
        const sessionId = `w-${index}`
        const writerId = `00000000-0000-4000-8000-00000000000${index}`
        const ready = { version: 1, timestamp: later, writerId, sessionId, event: "runtime.ready", role: "worker" }
        const report = { version: 1, sessionId, status: "blocked", summary: "Why?", updatedAt: later }
        const name = createHash("sha256").update(sessionId).digest("hex")
        fs.writeFileSync(join(logs, `writer-${writerId}.jsonl`), `${JSON.stringify(ready)}\n`, { mode: 0o600 })
        fs.writeFileSync(join(reports, `${name}.json`), JSON.stringify(report), { mode: 0o600 })
      }
      const findings = yield* team.findings
      assert.deepStrictEqual(findings.map(({ code }) => code), ["clock_future", "clock_future"])
      assert.match(
        findings[0]?.what ?? "",
        /^The time of the newest record of Ada, Ben, Cleo, Dan, Eve and 2 more has not come/
      )
      assert.match(findings[1]?.advice ?? "", /let it report its work again/)
      for (const name of fs.readdirSync(logs)) fs.rmSync(join(logs, name))
      team.edit((agents) => void agents.splice(2))
      const [coordinator, ada] = [yield* team.member("c-1"), yield* team.member("w-0")]
      yield* ada.tool("intercom_report_work", { status: "blocked", summary: "Still." })
      yield* ada.close
      yield* coordinator.close
      assert.isTrue(yield* clean(team))
    }))
})
