import { maxNonces } from "../../domain/Signature.ts"

/** The numbers of spec 2.1 and 2.2 that a test must be able to shorten. */
export interface Limits {
  /** Headers and body must have arrived within this. */
  readonly arrivalMs: number
  /** The receiver decides within this of having the body. */
  readonly decideMs: number
  /** How long a committed step may still take before its connection is cut: until the sender has given up. */
  readonly truthMs: number
  readonly maxConnections: number
  readonly maxNonces: number
}

export const limits: Limits = {
  arrivalMs: 5000,
  decideMs: 4000,
  truthMs: 1000,
  maxConnections: 256,
  maxNonces
}
