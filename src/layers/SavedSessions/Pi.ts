import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as fs from "node:fs"
import * as path from "node:path"
import { fileURLToPath } from "node:url"
import type { SessionId } from "../../domain/Primitives.ts"
import { Platform } from "../../services/Platform.ts"
import { type Header, SavedSessions, SessionNotSaved } from "../../services/SavedSessions.ts"
import { attempt, orAbsent, readHead } from "../Files.ts"

/** What the thin entry hands over: the classes by which Pi itself finds out where it keeps sessions. */
export interface PiSessions {
  /** Pi's agent directory (`getAgentDir()`). */
  readonly agentDir: string
  readonly SettingsManager: {
    readonly create: (cwd: string, agentDir: string) => { readonly getSessionDir: () => string | undefined }
  }
  readonly SessionManager: { readonly create: (cwd: string) => { readonly getSessionDir: () => string } }
}

/** A header is a few hundred bytes; nothing else of a session's file is read (spec 6.3). */
const headBytes = 4096
const decodeHeader = Schema.decodeUnknownOption(Schema.parseJson(Schema.Struct({
  type: Schema.Literal("session"),
  id: Schema.String,
  cwd: Schema.optional(Schema.String)
})))

const headerIn = (bytes: Uint8Array) => {
  const end = bytes.indexOf(10)
  return end === -1 ? Option.none() : decodeHeader(Buffer.from(bytes.subarray(0, end)).toString("utf8"))
}

/** The first line, if it is a session's header; none for what cannot be read. */
const readHeader = (file: string) =>
  readHead(file, headBytes).pipe(Effect.map(headerIn), Effect.orElseSucceed(() => Option.none()))

const header = (file: string, sessionId: SessionId): Effect.Effect<Header> =>
  orAbsent(readHead(file, headBytes)).pipe(
    Effect.map(Option.match({
      onNone: () => "absent" as const,
      onSome: (bytes) => Option.exists(headerIn(bytes), ({ id }) => id === sessionId) ? "right" : "wrong"
    })),
    Effect.orElseSucceed(() => "wrong" as const)
  )

const make = (host: PiSessions) =>
  Effect.gen(function*() {
    const { home } = yield* Platform

    /** As Pi reads the variable: `~` is the home folder, a `file:` URL its path. */
    const expanded = (text: string): string =>
      text === "~" || text.startsWith("~/")
        ? path.join(home, text.slice(2))
        : text.startsWith("file://")
        ? fileURLToPath(text)
        : text

    /**
     * The folder that Pi started in `directory` would use, and whether it is one of its own choice. The project's
     * setting counts even while the project is not trusted: Pi looks for sessions before it asks (1.6.0 and 0.84.4).
     */
    const folderFor = Effect.fn("SavedSessions.folderFor")(function*(directory: string) {
      const variable = yield* Effect.orDie(Config.option(Config.nonEmptyString("PI_CODING_AGENT_SESSION_DIR")))
      return yield* Effect.try({
        try: () => {
          const chosen = Option.match(variable, {
            onSome: expanded,
            onNone: () => host.SettingsManager.create(directory, host.agentDir).getSessionDir() ?? ""
          })
          return chosen === ""
            ? { folder: host.SessionManager.create(directory).getSessionDir(), own: true }
            : { folder: path.resolve(directory, chosen), own: false }
        },
        catch: () =>
          new SessionNotSaved({
            reason: "absent",
            detail: "Pi's settings do not say where sessions of that folder are kept; mend them, then try again"
          })
      })
    })

    const find = Effect.fn("SavedSessions.find")(function*(directory: string, sessionId: SessionId) {
      const { folder, own } = yield* folderFor(directory)
      const names = yield* Effect.orElseSucceed(attempt(folder, () => fs.readdirSync(folder)), () => [])
      const files = names.filter((name) => name.endsWith(".jsonl")).sort().reverse()
      const isNamed = (name: string) => name.endsWith(`_${sessionId}.jsonl`)
      // Pi goes by the header and not by the name, so a file may have any; nearly always it has this one.
      const named = files.filter(isNamed)
      for (const name of [...named, ...files.filter((one) => !isNamed(one))]) {
        const file = path.join(folder, name)
        const found = yield* readHeader(file)
        if (Option.isNone(found) || found.value.id !== sessionId) continue
        // A folder for all projects: Pi takes those of the directory only.
        if (own || (found.value.cwd !== undefined && path.resolve(found.value.cwd) === directory)) return file
      }
      return yield* named[0] === undefined
        ? new SessionNotSaved({
          reason: "absent",
          detail:
            `that worker's session is not saved in ${folder}, where Pi started in its folder would look. Pi saves ` +
            "a session after its first turn, so one that never had a turn cannot be resumed: create a new worker instead"
        })
        : new SessionNotSaved({
          reason: "header",
          detail: `${path.join(folder, named[0])} does not begin with the header of that worker's session in that ` +
            "folder, so it is not what it seems; look at that file"
        })
    })

    return SavedSessions.of({ find, header })
  })

/**
 * The saved sessions of this Pi, with what its thin entry hands over. Of a file the first 4096 bytes are read, no more.
 * Pi's own lookup makes its default folder of a directory where that is missing: nothing else is written.
 */
export const layer = (host: PiSessions): Layer.Layer<SavedSessions, never, Platform> =>
  Layer.effect(SavedSessions, make(host))
