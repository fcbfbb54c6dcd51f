import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { readdirSync } from "node:fs"
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import { eventually } from "./Eventually.ts"

/** What this process holds open: active resources by type, and (Linux) descriptors. Timers come and go: not counted. */
export const held = (): Readonly<Record<string, number>> => {
  const counts: Record<string, number> = {}
  for (const type of process.getActiveResourcesInfo()) {
    if (type !== "Timeout" && type !== "Immediate") counts[type] = (counts[type] ?? 0) + 1
  }
  return { ...counts, ...(process.platform === "linux" ? { descriptors: readdirSync("/proc/self/fd").length } : {}) }
}

/** Waits until no type is held more often than `before`. */
export const flat = (before: Readonly<Record<string, number>>) =>
  eventually(
    "nothing more is held than before",
    Effect.sync(() =>
      Object.entries(held()).every(([type, count]) => count <= (before[type] ?? 0))
        ? Option.some(held())
        : Option.none()
    ),
    Effect.sync(() => JSON.stringify({ before, now: held() })),
    "20 seconds"
  )

/** Live bytes of the heap, after a full collection. */
export const heapBytes = (): number => {
  setFlagsFromString("--expose-gc")
  const collect: unknown = runInNewContext("gc")
  if (typeof collect === "function") { for (let round = 0; round < 3; round += 1) collect() }
  return process.memoryUsage().heapUsed
}
