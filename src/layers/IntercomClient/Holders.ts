import type { Endpoint } from "../../services/IntercomClient.ts"

/** A holder that has proven itself is taken for itself this long (spec 2.2). */
const trustedMs = 30_000
/** A team has at most 257 endpoints; more are forgotten, which costs a health request and nothing else. */
const maxHolders = 1024

/** Which ports were lately proven to be held by which session, per team. */
export interface Holders {
  readonly isProven: (root: string, to: Endpoint, now: number) => boolean
  readonly proved: (root: string, to: Endpoint, now: number) => void
  /** A port whose holder gave an unproven answer, or none, has to prove itself again. */
  readonly forget: (root: string, to: Endpoint) => void
}

export const make = (): Holders => {
  const since = new Map<string, number>()
  const keyOf = (root: string, to: Endpoint): string => JSON.stringify([root, to.port, to.sessionId])
  return {
    isProven: (root, to, now) => {
      const at = since.get(keyOf(root, to))
      return at !== undefined && at <= now && now < at + trustedMs
    },
    proved: (root, to, now) => {
      if (since.size >= maxHolders) since.clear()
      since.set(keyOf(root, to), now)
    },
    forget: (root, to) => {
      since.delete(keyOf(root, to))
    }
  }
}
