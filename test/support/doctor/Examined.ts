import { assert } from "@effect/vitest"
import * as Clock from "effect/Clock"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Scope from "effect/Scope"
import { createHash } from "node:crypto"
import * as fs from "node:fs"
import { join } from "node:path"
import type { Finding, FindingCode } from "../../../src/domain/Finding.ts"
import type { Snapshot } from "../../../src/domain/Snapshot.ts"
import * as Looking from "../../../src/layers/Looking.ts"
import { examineRoot } from "../../../src/programs/doctor/Doctor.ts"
import { Surroundings } from "../../../src/services/Surroundings.ts"
import * as Member from "../member/Member.ts"
import { picture } from "../Planted.ts"
import * as SnapshotScripted from "../SnapshotScripted.ts"
import { temporaryFolder } from "../TempFolder.ts"

const agent = (sessionId: string, name: string, port: number) => ({
  sessionId,
  name,
  coordinator: name === "Coordinator",
  description: `${name} does things.`,
  port,
  projectDirectory: name === "Coordinator" ? "." : "api"
})

const hash = (text: string): string => createHash("sha256").update(text).digest("hex").slice(0, 24)

const surroundings = Layer.succeed(Surroundings, { node: "22.19.0", pi: Effect.succeed(Option.some("1.6.0")) })

/**
 * A healthy team on real disk: coordinator `c-1` and worker Ada, `w-1`, in `api`, who have been open and were quit.
 * Sessions over all real layers are opened in this process, and the doctor looks as its program does.
 */
export const examined = Effect.gen(function*() {
  const base = yield* temporaryFolder
  const [root, state, agentDir] = [join(base, "team"), join(base, "state"), join(base, "agent")]
  fs.mkdirSync(join(root, "api"), { recursive: true })
  fs.mkdirSync(join(root, ".pi-intercom"))
  fs.mkdirSync(agentDir)
  const config = join(root, ".pi-intercom/config.json")
  const agents = [agent("c-1", "Coordinator", 21_531), agent("w-1", "Ada", 21_532)]
  fs.writeFileSync(config, JSON.stringify({ version: 1, multiplexer: "tmux", agents }, null, 2), { mode: 0o644 })

  const environment = Effect.withConfigProvider(ConfigProvider.fromMap(new Map([["PI_INTERCOM_STATE_DIR", state]])))
  const where = { entry: join(base, "entry.js"), agentDir }
  const member = (id: string) =>
    Effect.gen(function*() {
      const scope = yield* Effect.acquireRelease(Scope.make(), (one) => Scope.close(one, Exit.void))
      const opened = yield* Member.open(id, id === "c-1" ? root : join(root, "api"), "1.6.0", where).pipe(
        Scope.extend(scope),
        environment
      )
      return { ...opened, close: Scope.close(scope, Exit.void) }
    })
  const reload = (id: string) => Effect.flatMap(member(id), ({ close }) => close)
  yield* reload("c-1")
  yield* reload("w-1")

  /** What the workers are seen to do; read by nobody but the doctor. */
  const records: { read: Effect.Effect<Snapshot> } = {
    read: Effect.map(Clock.currentTimeMillis, (now) => SnapshotScripted.snapshot([], now))
  }
  const layers = Layer.mergeAll(
    SnapshotScripted.layer(Effect.suspend(() => records.read)),
    surroundings
  ).pipe(Layer.provideMerge(Looking.layer))
  const diagnosis = examineRoot(root).pipe(Effect.provide(layers), environment)
  const own = join(state, hash(root))
  return {
    base,
    root,
    state,
    /** The root's folder in the state directory. */
    own,
    config,
    lock: (id: string) => join(own, `session-${hash(id)}.lock`),
    records,
    environment,
    member,
    reload,
    diagnosis,
    /** What is found; looking changes nothing on disk. */
    findings: Effect.gen(function*() {
      const before = [picture(root), fs.existsSync(state) ? picture(state) : []]
      const { findings } = yield* diagnosis
      assert.deepStrictEqual([picture(root), fs.existsSync(state) ? picture(state) : []], before)
      return findings
    }),
    edit: (change: (agents: Array<Record<string, unknown>>, config: Record<string, unknown>) => void) => {
      const text = JSON.parse(fs.readFileSync(config, "utf8"))
      change(text.agents, text)
      fs.writeFileSync(`${config}~`, JSON.stringify(text, null, 2), { mode: 0o644 })
      fs.renameSync(`${config}~`, config)
    }
  }
})
export type Examined = Effect.Effect.Success<typeof examined>

/** The only finding: of this code, and both its sentences like that. */
export const assertOnly = (
  findings: ReadonlyArray<Finding>,
  code: FindingCode,
  what: RegExp,
  advice: RegExp
): void => {
  assert.deepStrictEqual(findings.map((one) => one.code), [code], JSON.stringify(findings, null, 2))
  const [finding] = findings
  assert.match(finding?.what ?? "", what)
  assert.match(finding?.advice ?? "", advice)
  for (const text of [finding?.what ?? "", finding?.advice ?? ""]) assert.match(text, /^[^\n]*[.]$/)
}
