import { assert } from "@effect/vitest"
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
import * as Looking from "../../../src/layers/Looking.ts"
import { examineRoot } from "../../../src/programs/doctor/Doctor.ts"
import { Surroundings } from "../../../src/services/Surroundings.ts"
import * as Member from "../member/Member.ts"
import { picture } from "../Planted.ts"
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

/** Below those that a system gives out, and each test process has its own. */
const adasPort = 10_001 + (process.pid % 8000) * 2

const surroundings = Layer.succeed(Surroundings, { node: "22.19.0", pi: Effect.succeed(Option.some("1.6.0")) })

/** What lies in a folder, to be laid down again in another one: sessions take a while to make it. */
interface Lying {
  readonly name: string
  readonly mode: number
  readonly bytes: Uint8Array | undefined
}
const taken = (folder: string): ReadonlyArray<Lying> =>
  fs.readdirSync(folder, { recursive: true, encoding: "utf8" }).sort().map((name) => {
    const stat = fs.lstatSync(join(folder, name))
    return { name, mode: stat.mode, bytes: stat.isFile() ? fs.readFileSync(join(folder, name)) : undefined }
  })
const lay = (folder: string, all: ReadonlyArray<Lying>): void => {
  fs.mkdirSync(folder, { recursive: true, mode: 0o700 })
  for (const { bytes, mode, name } of all) {
    if (bytes === undefined) fs.mkdirSync(join(folder, name), { mode })
    else fs.writeFileSync(join(folder, name), bytes, { mode })
  }
}
let known: { readonly own: ReadonlyArray<Lying>; readonly team: ReadonlyArray<Lying> } | undefined

/**
 * A healthy team on real disk: coordinator `c-1` and worker Ada, `w-1`, in `api`, who have been open and were quit.
 * Sessions over all real layers are opened in this process, and the doctor looks as its program does.
 */
export const examined = Effect.gen(function*() {
  const base = yield* temporaryFolder
  const [root, state, agentDir] = [join(base, "team"), join(base, "state"), join(base, "agent")]
  fs.mkdirSync(join(root, "api"), { recursive: true })
  fs.mkdirSync(agentDir)
  const [folder, own] = [join(root, ".pi-intercom"), join(state, hash(root))]
  fs.mkdirSync(folder)
  const config = join(folder, "config.json")
  const agents = [agent("c-1", "Coordinator", adasPort - 1), agent("w-1", "Ada", adasPort)]
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
  if (known === undefined) {
    yield* reload("c-1")
    yield* reload("w-1")
    known = { own: taken(own), team: taken(folder) }
  } else {
    lay(folder, known.team)
    lay(own, known.own)
  }

  const looking = Layer.provideMerge(surroundings, Looking.layer)
  const diagnosis = examineRoot(root).pipe(Effect.provide(looking), environment)
  return {
    base,
    root,
    state,
    /** The root's folder in the state directory. */
    own,
    config,
    adasPort,
    lock: (id: string) => join(own, `session-${hash(id)}.lock`),
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
