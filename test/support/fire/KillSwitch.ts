import fs from "node:fs"
import type { Phase } from "./Orders.ts"

/**
 * Kills this process at a chosen call of node:fs, as SIGKILL from outside would. Works in a CommonJS bundle only: there
 * every import of node:fs looks at the module's own, changeable object at each call.
 */

interface Armed {
  readonly call: number | undefined
  readonly phase: Phase
}

let armed: Armed | undefined
let calls: Array<string> = []

/** Counts from now on; see `Arm`. */
export const arm = (call: number | undefined, phase: Phase): void => {
  calls = []
  armed = { call, phase }
}

/** Stops counting and answers the calls since. */
export const disarm = (): ReadonlyArray<string> => {
  armed = undefined
  return calls
}

const die = (): never => {
  process.kill(process.pid, "SIGKILL")
  // Nothing of this thread runs any more, even if the signal takes its time.
  for (;;) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
}

/** What is left to do when this call is reached. */
const reached = (name: string): Phase | undefined => {
  if (armed === undefined) return undefined
  calls.push(name)
  if (calls.length !== armed.call) return undefined
  // Only a write can be torn; anything else here is not what the caller meant, and must not look like it.
  return armed.phase === "torn" && !name.startsWith("write") ? undefined : armed.phase
}

type Operation = (...args: ReadonlyArray<unknown>) => unknown

const isOperation = (value: unknown): value is Operation => typeof value === "function"

const guarded = (name: string, run: Operation): Operation => (...args) => {
  const phase = reached(name)
  if (phase === undefined) return run(...args)
  if (phase === "before") return die()
  if (phase === "torn") {
    const [target, text, ...rest] = args
    const bytes = typeof text === "string" ? Buffer.from(text) : text
    const [offset, length, ...further] = rest
    if (typeof length === "number") run(target, bytes, offset, Math.floor(length / 2), ...further)
    else if (bytes instanceof Uint8Array) run(target, bytes.subarray(0, Math.floor(bytes.length / 2)), ...rest)
    return die()
  }
  const done = args.at(-1)
  if (!isOperation(done)) {
    try {
      run(...args)
    } finally {
      die()
    }
  }
  return run(...args.slice(0, -1), die)
}

/** The operations with a callback that the product may use. */
const asynchronous = ["fsync", "fdatasync", "open", "close", "write", "rename", "link", "unlink", "rm"]

/** Puts the switch into node:fs. */
export const install = (): void => {
  for (const name of Object.keys(fs)) {
    if (!name.endsWith("Sync") && !asynchronous.includes(name)) continue
    const original: unknown = Reflect.get(fs, name)
    if (!isOperation(original)) continue
    const native: unknown = Reflect.get(original, "native")
    const wrapped = guarded(name, original)
    Reflect.set(fs, name, isOperation(native) ? Object.assign(wrapped, { native: guarded(name, native) }) : wrapped)
  }
}
