import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { existsSync, readFileSync } from "node:fs"
import { eventually, type NeverCame } from "./Eventually.ts"

/** The text of a file that another process publishes by a rename, once it is there. */
export const published = (file: string): Effect.Effect<string, NeverCame> =>
  eventually(
    `the file ${file}`,
    Effect.sync(() => existsSync(file) ? Option.some(readFileSync(file, "utf8")) : Option.none())
  )

/** Whether a process runs; one that ended and only waits to be collected does not. */
export const isRunning = (pid: number): boolean => {
  try {
    return !/^State:\s+[ZX]/m.test(readFileSync(`/proc/${pid}/status`, "utf8"))
  } catch {
    return false
  }
}
