import type * as Fs from "node:fs"

/** Faults of single file operations, for `vi.mock("node:fs", FaultyFs.over)`: what a disk does on a bad day. */

type Operation = "openSync" | "writeFileSync" | "fsync" | "linkSync" | "renameSync" | "unlinkSync"

/** The n-th call (from 1) of an operation from now on fails with `code`, or every call. */
export interface Fault {
  readonly code: string
  readonly call?: number
  /** It fails only when it has done something: a file that could be made but not filled. */
  readonly late?: boolean
}

const faults = new Map<Operation, Fault>()
const calls = new Map<Operation, number>()
const before = new Map<Operation, () => void>()
let held: Array<() => void> | undefined

/** Plants a fault. */
export const fail = (operation: Operation, fault: Fault): void => {
  faults.set(operation, fault)
}

/** Runs something once, just before the next call of an operation. */
export const beforeNext = (operation: Operation, run: () => void): void => {
  before.set(operation, run)
}

/** How often an operation was called since the last reset. */
export const count = (operation: Operation): number => calls.get(operation) ?? 0

/** From now on fsync answers only when released. */
export const holdSync = (): { readonly release: () => void } => {
  const waiting: Array<() => void> = []
  held = waiting
  return {
    release: () => {
      held = undefined
      for (const resume of waiting) resume()
    }
  }
}

/** A disk without faults. */
export const reset = (): void => {
  faults.clear()
  calls.clear()
  before.clear()
  held = undefined
}

const met = (operation: Operation): NodeJS.ErrnoException | undefined => {
  const call = count(operation) + 1
  calls.set(operation, call)
  const run = before.get(operation)
  before.delete(operation)
  run?.()
  const fault = faults.get(operation)
  return fault !== undefined && (fault.call ?? call) === call
    ? Object.assign(new Error(`${fault.code}: planted`), { code: fault.code })
    : undefined
}

const guarded =
  <Args extends ReadonlyArray<unknown>, A>(operation: Operation, run: (...args: Args) => A) => (...args: Args): A => {
    const fault = met(operation)
    if (fault === undefined) return run(...args)
    if (faults.get(operation)?.late === true) run(...args)
    throw fault
  }

/** The module with its faults. */
export const over = async (importOriginal: () => Promise<typeof Fs>): Promise<typeof Fs> => {
  const real = await importOriginal()
  return {
    ...real,
    openSync: guarded("openSync", real.openSync),
    writeFileSync: guarded("writeFileSync", real.writeFileSync),
    linkSync: guarded("linkSync", real.linkSync),
    renameSync: guarded("renameSync", real.renameSync),
    unlinkSync: guarded("unlinkSync", real.unlinkSync),
    fsync: Object.assign(
      (fd: number, done: Fs.NoParamCallback) => {
        const fault = met("fsync")
        if (fault !== undefined) return void setImmediate(() => done(fault))
        if (held === undefined) return real.fsync(fd, done)
        held.push(() => real.fsync(fd, done))
      },
      { __promisify__: real.fsync.__promisify__ }
    )
  }
}
