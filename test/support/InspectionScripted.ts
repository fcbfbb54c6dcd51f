import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { Inspected } from "../../src/domain/Inspected.ts"
import { Inspection } from "../../src/services/Inspection.ts"

const clean: Inspected = {
  nothingIn: undefined,
  troubles: [],
  locks: [],
  temporaries: [],
  scripts: [],
  unfinishedMonitors: [],
  ledger: undefined,
  truncated: false
}

/** Each look finds this, and else nothing. */
export const layer = (given: Partial<Inspected> = {}): Layer.Layer<Inspection> =>
  Layer.succeed(Inspection, { look: () => Effect.succeed({ ...clean, ...given }) })
