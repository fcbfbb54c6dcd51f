import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { emptyLedger, type Ledger } from "../../src/domain/Ledger.ts"
import { ProcessLedger } from "../../src/services/ProcessLedger.ts"

/** The ledgers of a machine in memory, by root; every session that is given the layer shares them. */
export const makeLedgerMemory = () => {
  const ledgers = new Map<string, Ledger>()
  const turn = Effect.unsafeMakeSemaphore(1)
  const read = (root: string) => Effect.sync(() => ledgers.get(root) ?? emptyLedger)
  const layer = Layer.succeed(ProcessLedger, {
    read,
    change: (root, change) =>
      Effect.map(Effect.tap(read(root), Effect.yieldNow()), (ledger) => {
        const next = change(ledger)
        if (next !== ledger) ledgers.set(root, next)
        return next
      }).pipe(turn.withPermits(1))
  })
  return { ledgers, layer }
}
