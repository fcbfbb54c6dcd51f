import { nonceLifeMs } from "../../domain/Signature.ts"

/** The nonces of valid requests, each until its ts + 60 s; a full store takes no more rather than forget one (spec 2.2). */
export interface Nonces {
  /** Remembers a nonce, or says why the request must not be served. */
  readonly add: (nonce: string, ts: number, now: number) => "added" | "seen" | "full"
}

export const make = (max: number): Nonces => {
  const until = new Map<string, number>()
  const forget = (now: number, all: boolean): void => {
    for (const [nonce, end] of until) {
      if (end < now) until.delete(nonce)
      // Insertion order is nearly the order of expiry: looking at the oldest few keeps the store small cheaply.
      else if (!all) return
    }
  }
  return {
    add: (nonce, ts, now) => {
      if (until.has(nonce)) return "seen"
      forget(now, until.size >= max)
      if (until.size >= max) return "full"
      until.set(nonce, ts + nonceLifeMs)
      return "added"
    }
  }
}
