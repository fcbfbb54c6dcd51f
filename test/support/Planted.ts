import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { execFileSync } from "node:child_process"
import * as fs from "node:fs"
import { createServer } from "node:net"
import { join } from "node:path"

/** What a cloned repository, or another user, can put in the place of a file or folder of ours. */

const asRoot = process.getuid?.() === 0

/** Every entry below a folder with what it is, its times and its content: nothing may touch any of it. */
export const picture = (folder: string): ReadonlyArray<string> =>
  fs.readdirSync(folder, { recursive: true, encoding: "utf8" }).sort().map((name) => one(join(folder, name), name))

/** One entry, not followed. */
export const one = (entry: string, name = entry): string => {
  const stat = fs.lstatSync(entry)
  const content = stat.isFile()
    ? fs.readFileSync(entry).toString("base64")
    : stat.isSymbolicLink()
    ? fs.readlinkSync(entry)
    : ""
  return [name, stat.ino, stat.mode, stat.uid, stat.isDirectory() ? "" : stat.mtimeMs, content].join(" ")
}

export interface Thing {
  readonly what: string
  readonly needsRoot?: boolean
  /** Puts it at `path`; `outside` is a folder, with a file `file` in it, that a link can lead to. */
  readonly plant: (path: string, outside: string) => Effect.Effect<void, never, Scope.Scope>
}

const now = (what: string, plant: (path: string, outside: string) => void, needsRoot = false): Thing => ({
  what,
  needsRoot,
  plant: (path, outside) => Effect.sync(() => plant(path, outside))
})

const socket: Thing = {
  what: "a socket",
  plant: (path, outside) =>
    Effect.asVoid(Effect.acquireRelease(
      Effect.async<ReturnType<typeof createServer>>((resume) => {
        // Whoever connects to it would wait for ever. The name of a socket is short; renamed it may be long.
        const short = join(outside, "..", "s")
        const server = createServer().listen(short, () => {
          fs.renameSync(short, path)
          resume(Effect.succeed(server))
        })
      }),
      (server) => Effect.async<void>((resume) => void server.close(() => resume(Effect.void)))
    ))
}

/** Things that are neither a regular file nor a folder: opening some of them blocks, or never ends. */
export const things: ReadonlyArray<Thing> = [
  now("a link to a file outside", (path, outside) => fs.symlinkSync(join(outside, "file"), path)),
  now("a link to a folder outside", (path, outside) => fs.symlinkSync(outside, path)),
  now("a link to nothing outside", (path, outside) => fs.symlinkSync(join(outside, "made"), path)),
  now("a link to itself", (path) => fs.symlinkSync(path, path)),
  now("a pipe", (path) => execFileSync("mkfifo", [path])),
  now("a device that never ends", (path) => execFileSync("mknod", [path, "c", "1", "5"]), true),
  now("a terminal", (path) => execFileSync("mknod", [path, "c", "5", "0"]), true),
  socket
]

/** Why a thing cannot be planted here; undefined when it can. */
export const cannot = ({ needsRoot = false }: Thing): string | undefined =>
  needsRoot && !asRoot ? "only root can make devices" : undefined
