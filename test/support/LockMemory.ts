import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { IdentifiedProcess } from "../../src/domain/IdentifiedProcess.ts"
import { holding, lookFree, type Steps, take } from "../../src/layers/OwnedLock/Routine.ts"
import { OwnedLock } from "../../src/services/OwnedLock.ts"

/** One machine's locks in memory, and what is known there of its processes, each by a pid of its own. */
export interface LockWorld {
  /** The locks as the process `pid` takes them: the product's routine, over files in memory. */
  readonly layerFor: (pid: number) => Layer.Layer<OwnedLock>
  /** Ends a process as kill -9 does: its locks stay, and are proven gone. */
  readonly die: (pid: number) => void
  /** From now on nothing can be told of that process: another container. */
  readonly hide: (pid: number) => void
  /** Names of what is held, `<root>/config.lock`, `<root>/monitor.lock` or `<root>/session-<session id>.lock`, in order. */
  readonly held: () => ReadonlyArray<string>
  /** Puts a file there: an identity, or anything else. */
  readonly plant: (name: string, content: IdentifiedProcess | "rubbish") => void
}

/** An empty {@link LockWorld}. */
export const makeLockWorld = (): LockWorld => {
  const files = new Map<string, { readonly mark: string; readonly content: IdentifiedProcess | "rubbish" }>()
  const dead = new Set<number>()
  const hidden = new Set<number>()
  let marks = 0

  const plant = (name: string, content: IdentifiedProcess | "rubbish"): string => {
    const mark = String(++marks)
    files.set(name, { mark, content })
    return mark
  }

  const stepsOf = (pid: number): Steps => ({
    create: (name) => Effect.sync(() => files.has(name) ? undefined : plant(name, { pid })),
    read: (name) =>
      Effect.sync(() => {
        const content = files.get(name)?.content
        if (content === undefined) return { _tag: "Absent" }
        return content === "rubbish" ? { _tag: "Foreign" } : { _tag: "Owned", owner: content }
      }),
    // A process that was killed releases nothing, even if its scope closes in the simulation.
    isOurs: (name, mark) => Effect.sync(() => !dead.has(pid) && files.get(name)?.mark === mark),
    remove: (name) => Effect.sync(() => void files.delete(name)),
    look: (owner) => Effect.sync(() => hidden.has(owner.pid) ? "unknown" : dead.has(owner.pid) ? "gone" : "alive")
  })

  const during = (pid: number, file: string, what: string): OwnedLock["Type"]["config"] => (root, use) =>
    holding(stepsOf(pid), `${root}/${file}`, what, use)

  return {
    layerFor: (pid) =>
      Layer.succeed(OwnedLock, {
        config: during(pid, "config.lock", "The team file"),
        monitor: during(pid, "monitor.lock", "The monitor pane"),
        session: (root, sessionId) => take(stepsOf(pid), `${root}/session-${sessionId}.lock`, "This saved session"),
        sessionFree: (root, sessionId) =>
          lookFree(stepsOf(pid), `${root}/session-${sessionId}.lock`, "This saved session")
      }),
    die: (pid) => void dead.add(pid),
    hide: (pid) => void hidden.add(pid),
    held: () => [...files.keys()].sort(),
    plant
  }
}
