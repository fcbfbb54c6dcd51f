import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { execFile } from "node:child_process"
import * as fs from "node:fs"
import * as path from "node:path"
import { writeBuild } from "../support/Built.ts"
import { newestHost, sourceEntry } from "../support/HostVersions.ts"
import * as PiHarness from "../support/PiHarness.ts"
import { say } from "../support/ScriptedModel.ts"

const noTeam = "no team here yet"
const ours = (names: ReadonlyArray<string>) => names.filter((name) => name.startsWith("intercom_")).sort()

/** What a Pi without the extension would not have written below these folders: Pi's own state is its agent directory's. */
const traces = (harness: PiHarness.PiHarness): ReadonlyArray<string> =>
  [harness.project, harness.home].flatMap((folder) => fs.readdirSync(folder, { recursive: true, encoding: "utf8" }))

/** Bounds a hang on a machine that does much else; a quiet one needs seconds. */
const bound = 240_000

describe.each(newestHost)("the extension in Pi %s", (version) => {
  it.scopedLive(
    "loads from its build, offers two tools without a team, and writes nothing",
    () =>
      Effect.gen(function*() {
        const harness = yield* PiHarness.make(version, (request) => say(`ECHO ${request.lastUser}`))
        const pi = yield* harness.start()
        yield* pi.type("/intercom")
        yield* pi.shows(noTeam)
        yield* pi.type("hello")
        yield* pi.shows("ECHO hello")
        const request = yield* harness.model.request("hello", (one) => one.lastUser === "hello")
        assert.strictEqual(request.session, pi.sessionId)
        assert.deepStrictEqual(ours(request.tools.map((tool) => tool.name)), [
          "intercom_create_worker",
          "intercom_set_multiplexer"
        ])
        assert.include(request.system, "Intercom can open worker Pi sessions")
        yield* pi.type("/quit")
        yield* pi.gone
        assert.deepStrictEqual(traces(harness), [])
      }),
    bound
  )

  it.scopedLive("loads from source, and once when both paths name the same file", () =>
    Effect.gen(function*() {
      const harness = yield* PiHarness.make(version, () => say("hello"))
      const pi = yield* harness.start({ extensions: [sourceEntry, sourceEntry] })
      yield* pi.type("/intercom")
      yield* pi.shows(noTeam)
    }), bound)

  it.scopedLive("of two copies one works and the other says so", () =>
    Effect.gen(function*() {
      const harness = yield* PiHarness.make(version, (request) => say(`ECHO ${request.lastUser}`))
      const copies = yield* Effect.forEach(["one", "two"], (name) => Effect.flatMap(harness.folder(name), writeBuild))
      const pi = yield* harness.start({ extensions: copies })
      yield* pi.shows("another copy is loaded in this Pi")
      yield* pi.type("hello")
      const request = yield* harness.model.request("hello", (one) => one.lastUser === "hello")
      assert.strictEqual(ours(request.tools.map((tool) => tool.name)).length, 2)
    }), bound)

  it.scopedLive(
    "is inactive beside a broken team file: says why, offers no tools, leaves the file",
    () =>
      Effect.gen(function*() {
        const harness = yield* PiHarness.make(version, (request) => say(`ECHO ${request.lastUser}`))
        const file = path.join(harness.project, ".pi-intercom/config.json")
        fs.mkdirSync(path.dirname(file))
        fs.writeFileSync(file, "{")
        const pi = yield* harness.start()
        yield* pi.shows("needs /reload.")
        assert.match(
          (yield* pi.screen).replace(/\s+/g, " "),
          /Intercom is inactive in this session: \S+\/config\.json cannot be used for a team: it is not valid JSON \(it breaks off at line 1, column 2\)\./
        )
        yield* pi.type("hello")
        const request = yield* harness.model.request("hello", (one) => one.lastUser === "hello")
        assert.deepStrictEqual(ours(request.tools.map((tool) => tool.name)), [])
        assert.notInclude(request.system, "Intercom")
        assert.strictEqual(fs.readFileSync(file, "utf8"), "{")
      }),
    bound
  )

  it.scopedLive("does nothing in print mode, and lets Pi end", () =>
    Effect.gen(function*() {
      const harness = yield* PiHarness.make(version, () => say("PRINTED"))
      const { argv: [program, ...args], environment } = harness.command({ args: ["-p", "hello"] })
      const printed = yield* Effect.async<string>((resume) => {
        const options = { cwd: harness.project, env: environment, timeout: 100_000 }
        execFile(program, args, options, (error, stdout) =>
          resume(error === null ? Effect.succeed(stdout) : Effect.die(error)))
          .stdin?.end()
      })
      assert.include(printed, "PRINTED")
      assert.deepStrictEqual(
        ours(
          harness.model.requests().flatMap((one) =>
            one.tools.map((tool) =>
              tool.name
            )
          )
        ),
        []
      )
      assert.deepStrictEqual(traces(harness), [])
    }), bound)

  it.scopedLive("says why it does nothing in a project that is not trusted", () =>
    Effect.gen(function*() {
      const harness = yield* PiHarness.make(version, () => say("hello"))
      const pi = yield* harness.start({ args: ["--no-approve"] })
      yield* pi.shows("this project is not trusted")
    }), bound)
})
