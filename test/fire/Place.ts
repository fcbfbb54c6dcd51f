import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import type * as Scope from "effect/Scope"
import { createHash } from "node:crypto"
import * as fs from "node:fs"
import { basename, join } from "node:path"
import { Port, SessionId } from "../../src/domain/Primitives.ts"
import { decodeConfig, encodeConfig, firstConfig, type TeamConfig } from "../../src/domain/TeamConfig.ts"
import { nameHash } from "../../src/layers/Hash.ts"
import { Open } from "../support/fire/Orders.ts"
import { temporaryFolder } from "../support/TempFolder.ts"

/** A project and a state folder for one round, both new. */
export interface Place {
  readonly root: string
  readonly state: string
  /** The project's own folder in the state folder. */
  readonly private: string
  readonly file: string
  readonly journal: string
  readonly open: Open
}

/** The coordinator of a place that has a team from the beginning. */
export const coordinator = SessionId.make("the-coordinator")

/** The file of such a team. */
export const original = encodeConfig(firstConfig(coordinator, Port.make(41_000), "herdr"))

/** Answers a new place at each call; all are gone when the scope ends. */
export const places: Effect.Effect<() => Place, never, Scope.Scope> = Effect.map(temporaryFolder, (parent) => {
  let made = 0
  return () => {
    made += 1
    const [root, state] = [join(parent, `${made}`, "team"), join(parent, `${made}`, "state")]
    fs.mkdirSync(root, { recursive: true })
    return {
      root,
      state,
      private: join(state, nameHash(root)),
      file: join(root, ".pi-intercom", "config.json"),
      journal: join(parent, `${made}`, "journal"),
      open: new Open({ root, state })
    }
  }
})

/** Puts a team there. */
export const publish = (place: Place): void => {
  fs.mkdirSync(join(place.root, ".pi-intercom"))
  fs.writeFileSync(place.file, original)
}

/** Puts a private file there, for example a lock of somebody else. */
export const plant = (place: Place, name: string, bytes: string | Uint8Array): void => {
  fs.mkdirSync(place.private, { recursive: true, mode: 0o700 })
  fs.writeFileSync(join(place.private, name), bytes, { mode: 0o600 })
}

/** The file's text, if it is there. */
export const textOf = ({ file }: Place): string | undefined =>
  fs.existsSync(file) ? fs.readFileSync(file, "utf8") : undefined

/** The team file, which must be there and valid. */
export const configOf = (place: Place): TeamConfig => Either.getOrThrow(decodeConfig(textOf(place) ?? ""))

/** Every file of a place, by its name; of the project and of the state folder. */
export const filesOf = ({ root, state }: Place): ReadonlyArray<string> =>
  [root, state].filter((folder) => fs.existsSync(folder)).flatMap((folder) =>
    fs.readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => !entry.isDirectory()).map((entry) => join(entry.parentPath, entry.name))
  )

/** The session lock's name (spec 3.2). */
export const sessionLock = (id: string): string =>
  `session-${createHash("sha256").update(id).digest("hex").slice(0, 24)}.lock`

/** No temporary is left, and these locks (and take-overs) are there and no others. */
export const assertTidy = (place: Place, locks: ReadonlyArray<string>): void => {
  const names = filesOf(place).map((file) => basename(file))
  assert.deepStrictEqual(names.filter((name) => name.endsWith(".tmp") || name.endsWith("~")), [])
  assert.deepStrictEqual(names.filter((name) => /\.lock/.test(name)).sort(), [...locks].sort())
}

/** The owner of this lock is a process that was killed while it held it: the bytes of such a file. */
export const lockOf = (place: Place, name: string): Uint8Array => fs.readFileSync(join(place.private, name))
