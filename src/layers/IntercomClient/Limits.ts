/** The numbers of spec 2.4 and 2.5 that a test must be able to shorten. */
export interface Limits {
  /** One send in all, the proof of the holder included. */
  readonly sendMs: number
  /** One probe in all. */
  readonly probeMs: number
  /** A batch of probes in all. */
  readonly batchMs: number
}

export const limits: Limits = { sendMs: 5000, probeMs: 750, batchMs: 4000 }

/** A batch probes this many at most, and this many at a time (spec 2.5). */
export const maxProbes = 256
export const probesAtOnce = 16

/** Bounds of a health answer (spec 2.5). */
export const health = { maxHeaderBytes: 4 * 1024, maxBodyBytes: 1024 } as const
/** Bounds of the answer to an envelope (spec 2.4). */
export const posted = { maxHeaderBytes: 16 * 1024, maxBodyBytes: 64 * 1024 } as const
