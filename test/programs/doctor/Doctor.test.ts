import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as TestClock from "effect/TestClock"
import { ConfigRefused } from "../../../src/domain/ConfigErrors.ts"
import type { Inspected } from "../../../src/domain/Inspected.ts"
import type { Snapshot } from "../../../src/domain/Snapshot.ts"
import { decodeConfig } from "../../../src/domain/TeamConfig.ts"
import { examineHere, examineRoot } from "../../../src/programs/doctor/Doctor.ts"
import { CommandFailed, CommandRunner, type Exited } from "../../../src/services/CommandRunner.ts"
import { ConfigReader } from "../../../src/services/ConfigReader.ts"
import { IntercomClient } from "../../../src/services/IntercomClient.ts"
import { ProjectDirectories } from "../../../src/services/ProjectDirectories.ts"
import { Surroundings } from "../../../src/services/Surroundings.ts"
import * as InspectionScripted from "../../support/InspectionScripted.ts"
import { unknownProcesses } from "../../support/ProcessUnknown.ts"
import * as SnapshotScripted from "../../support/SnapshotScripted.ts"

const agent = (sessionId: string, name: string) => ({
  sessionId,
  name,
  coordinator: name === "Coordinator",
  description: "Does things.",
  port: 4000,
  projectDirectory: "."
})
const text = (multiplexer: string) =>
  JSON.stringify({ version: 1, multiplexer, agents: [agent("c-1", "Coordinator"), agent("w-1", "Ada")] })

const exited = (stdout: string): Effect.Effect<Exited> => Effect.succeed({ code: 0, stdout, stderr: "" })
const missing = (program: string) => new CommandFailed({ reason: "missing", program })

/** A machine on which all is well, but for what is given. */
const machine = (given: {
  readonly multiplexer?: string
  readonly says?: Effect.Effect<Exited, CommandFailed>
  readonly node?: string
  readonly pi?: string
  readonly inspected?: Partial<Inspected>
  readonly snapshot?: "hangs" | Partial<Snapshot>
  readonly probed?: number
  readonly team?: boolean
} = {}) => {
  const config = Either.getOrThrow(decodeConfig(text(given.multiplexer ?? "tmux")))
  const found = given.team === false ? Option.none() : Option.some(config)
  return Layer.mergeAll(
    Layer.succeed(ConfigReader, {
      discover: () => Effect.succeed(given.team === false ? Option.none() : Option.some("/work")),
      read: () => Effect.succeed(found)
    }),
    Layer.succeed(ProjectDirectories, {
      resolve: (root, path) =>
        root === "/work" ? Effect.succeed({ real: root, relative: path }) : new ConfigRefused({ detail: "none" })
    }),
    Layer.succeed(IntercomClient, {
      send: () => Effect.dieMessage("a doctor sends nothing"),
      probe: () => Effect.dieMessage("a doctor asks all at once"),
      probeAll: (_, all) =>
        Effect.succeed(all.map((_, index) =>
          index < (given.probed ?? 2)
            ? { state: "connected", reason: "verified" } as const
            : { state: "unknown", reason: "not_checked" } as const
        ))
    }),
    Layer.succeed(CommandRunner, { run: () => given.says ?? exited("tmux 3.3a\n") }),
    Layer.succeed(Surroundings, {
      node: given.node ?? "22.19.0",
      pi: Effect.succeed(given.pi === "" ? Option.none() : Option.some(given.pi ?? "1.6.0"))
    }),
    InspectionScripted.layer(given.inspected),
    SnapshotScripted.layer(
      given.snapshot === "hangs" ? Effect.never : Effect.succeed(SnapshotScripted.snapshot([], 0, given.snapshot))
    ),
    unknownProcesses
  )
}

const found = (given: Parameters<typeof machine>[0]) =>
  Effect.map(
    Effect.provide(examineRoot("/work"), machine(given)),
    ({ findings, notChecked }) => ({ codes: findings.map(({ code }) => code), notChecked })
  )
const copies = "whether Pi would load another copy of Intercom: only /intercom doctor in Pi can tell"

describe("what the doctor says of the machine", () => {
  it.effect("nothing when all is well, but what it could not look at", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* found({}), { codes: [], notChecked: [copies] })
      assert.deepStrictEqual(yield* found({ multiplexer: "none", says: missing("none") }), {
        codes: [],
        notChecked: [copies]
      })
      assert.deepStrictEqual(yield* found({ multiplexer: "herdr", says: exited("herdr 0.8.0\n") }), {
        codes: [],
        notChecked: [copies]
      })
    }))

  const versions = [
    [{ node: "22.18.9" }, "node_old"],
    [{ node: "20.20.2" }, "node_old"],
    [{ pi: "0.84.3" }, "pi_old"],
    [{ pi: "0.9.10" }, "pi_old"],
    [{ pi: "2.0.0" }, "pi_new"],
    [{ says: exited("tmux 3.1c\n") }, "multiplexer_old"],
    [{ says: missing("tmux") }, "multiplexer_missing"],
    [{ multiplexer: "herdr", says: exited("herdr 0.7.9\n") }, "multiplexer_old"],
    [{ multiplexer: "herdr", says: missing("herdr") }, "multiplexer_missing"]
  ] as const
  for (const [given, code] of versions) {
    it.effect(`${JSON.stringify(given)}: ${code}`, () =>
      Effect.gen(function*() {
        assert.deepStrictEqual((yield* found(given)).codes, [code])
      }))
  }

  it.effect("versions that nobody says are not checked, and no findings", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* found({ pi: "" }), {
        codes: [],
        notChecked: [copies, "the version of Pi, since no pi on PATH says one"]
      })
      assert.deepStrictEqual(yield* found({ multiplexer: "herdr", says: exited("usage: …") }), {
        codes: [],
        notChecked: ["the version of herdr, since it says none", copies]
      })
      const stuck = new CommandFailed({ reason: "deadline", program: "tmux" })
      assert.deepStrictEqual((yield* found({ says: stuck })).notChecked, [
        "tmux, since tmux did not answer in time and was ended",
        copies
      ])
    }))
})

describe("what the doctor could not look at", () => {
  it.effect("is said, and keeps nothing else from being said", () =>
    Effect.gen(function*() {
      const looking = yield* Effect.fork(
        found({ snapshot: "hangs", probed: 1, inspected: { truncated: true, scripts: ["/state/launch/x.sh"] } })
      )
      yield* TestClock.adjust("5 seconds")
      assert.deepStrictEqual(yield* Fiber.join(looking), {
        codes: ["script_left"],
        notChecked: [
          "every file of a folder that has more than 4096",
          "1 saved ports, for which there was no time",
          "the times of records, which could not be read",
          copies
        ]
      })
    }))

  it.effect("a folder that is none, or has no team, fails", () =>
    Effect.gen(function*() {
      const sentence = (root: string, team: boolean) =>
        Effect.map(Effect.flip(Effect.provide(examineRoot(root), machine({ team }))), ({ message }) => message)
      assert.strictEqual(
        yield* sentence("/nowhere", true),
        "Intercom could not look: /nowhere is not a folder that can be read."
      )
      assert.strictEqual(
        yield* sentence("/work", false),
        "Intercom could not look: there is no team file, .pi-intercom/config.json, in /work."
      )
    }))

  it.effect("in a Pi without a team only the machine is looked at", () =>
    Effect.gen(function*() {
      const diagnosis = yield* Effect.provide(examineHere("/work", "c-1"), machine({ team: false, node: "20.0.0" }))
      assert.deepStrictEqual(diagnosis.findings.map(({ code }) => code), ["node_old"])
      assert.include(diagnosis.notChecked, "the multiplexer, since there is no team file here")
    }))

  it.effect("is what the monitor marks as partial, unless it is named", () =>
    Effect.gen(function*() {
      const snapshot = { errors: ["log_read_failed"], truncated: true } as const
      const truncated = "all that sessions did, since not all of their logs fits into one look"
      assert.deepStrictEqual((yield* found({ snapshot })).notChecked, [
        "all logs and reports, since some could not be read",
        truncated,
        copies
      ])
      const trouble = { place: "logs", path: "/work/logs/x", detail: "it is a folder", mend: "Remove it." } as const
      assert.deepStrictEqual(yield* found({ snapshot, inspected: { troubles: [trouble] } }), {
        codes: ["logs_unusable"],
        notChecked: [truncated, copies]
      })
    }))

  it.effect("a coordinator outside its team's multiplexer cannot open workers", () =>
    Effect.gen(function*() {
      const codes = (session: string) =>
        Effect.map(Effect.provide(examineHere("/work", session), machine()), ({ findings }) =>
          findings.map(({ code }) => code))
      assert.deepStrictEqual(yield* codes("c-1"), ["multiplexer_outside"])
      assert.deepStrictEqual(yield* codes("w-1"), [])
    }))

  it.effect("a monitor pane that is just being made is no finding", () =>
    Effect.gen(function*() {
      const unfinishedMonitors = ["/state/monitor-1.json"]
      const lock = { file: "/state/monitor.lock", takeover: false, owner: "alive", pid: 1 } as const
      assert.deepStrictEqual((yield* found({ inspected: { unfinishedMonitors, locks: [lock] } })).codes, [])
      assert.deepStrictEqual((yield* found({ inspected: { unfinishedMonitors } })).codes, ["monitor_unfinished"])
    }))
})
