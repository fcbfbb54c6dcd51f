import { maxRecordBytes } from "../../domain/Observation.ts"
import { readInto } from "../Files.ts"

const chunkBytes = 4 * 1024
const newline = 0x0a

/** What is read of one file after the other, since memory for each would be garbage at once: a chunk and a line's rest. */
const window = Buffer.allocUnsafeSlow(chunkBytes + maxRecordBytes)

/** How far a file was read from its end. */
export interface Reached {
  /** Where the last complete line ends, so that the next one begins there. */
  readonly end: number
  /** The first byte that was read. */
  readonly start: number
  /** No older line was wanted. */
  readonly enough: boolean
}

/**
 * Shows the complete lines of an open file between `from`, where a line begins, and `to`, the last one first, until `see`
 * says that it is enough or `budget` bytes are read. Lines that are longer than a record are left out; a line that is
 * not complete yet is not shown. Throws what the system says.
 */
export const linesBack = (
  fd: number,
  from: number,
  to: number,
  budget: number,
  see: (line: string) => boolean
): Reached => {
  let start = to
  let end: number | undefined
  /** The rest of a line whose beginning is not read yet. */
  let rest: Buffer = window.subarray(0, 0)

  const show = (line: Buffer): boolean => line.length > 0 && line.length < maxRecordBytes && see(line.toString("utf8"))

  /** Shows what is complete in these bytes, which begin at `start`; what stays is the rest of a line. */
  const showAll = (bytes: Buffer): boolean => {
    let stop = bytes.length
    while (stop > 0) {
      const before = bytes.lastIndexOf(newline, stop - 1)
      if (before === -1) break
      if (end === undefined) end = start + before + 1
      else if (show(bytes.subarray(before + 1, stop))) return true
      stop = before
    }
    // Of a line that is too long only its being so is kept.
    rest = end === undefined ? rest : bytes.subarray(Math.max(0, stop - maxRecordBytes), stop)
    return start === from && end !== undefined && show(rest)
  }

  while (start > from && to - start < budget) {
    const size = Math.min(chunkBytes, start - from, budget - (to - start))
    rest.copy(window, size)
    // It became shorter meanwhile: it is another file by now.
    if (readInto(window.subarray(0, size), fd, start - size).length < size) break
    start -= size
    if (showAll(window.subarray(0, size + rest.length))) return { end: end ?? from, start, enough: true }
  }
  return { end: end ?? from, start, enough: false }
}
