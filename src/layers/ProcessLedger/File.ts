import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as path from "node:path"
import { StateUnusable } from "../../domain/ConfigErrors.ts"
import { emptyLedger, Ledger, maxLedgerBytes } from "../../domain/Ledger.ts"
import { describe, firstProblem } from "../../domain/Problems.ts"
import { ProcessLedger } from "../../services/ProcessLedger.ts"
import { StateDir } from "../../services/StateDir.ts"
import { orAbsent } from "../Files.ts"
import { readPrivate, unusable } from "../PrivateFiles.ts"
import { rename, settle, withTemporary } from "../Writing.ts"

const decode = Schema.decodeUnknownEither(Schema.parseJson(Ledger))
const encode = Schema.encodeSync(Ledger)

const invalid = (file: string, detail: string) =>
  new StateUnusable({
    path: file,
    detail,
    mend: "It was not changed. Once no worker is being resumed or closed, remove it: Intercom then makes a new one."
  })

/** The ledger in a file; an absent one is empty. */
export const readLedger = (file: string): Effect.Effect<Ledger, StateUnusable> =>
  orAbsent(readPrivate(file, maxLedgerBytes)).pipe(
    Effect.mapError((failed) => failed.reason === "too_large" ? invalid(file, failed.detail) : unusable(failed)),
    Effect.flatMap(Option.match({
      onNone: () => Effect.succeed(emptyLedger),
      onSome: ({ bytes }) =>
        Either.mapLeft(decode(Buffer.from(bytes).toString("utf8")), (error) => {
          const problem = describe(firstProblem(error))
          return invalid(file, `it is not a record of resumed and closing workers: ${problem}`)
        })
    }))
  )

const write = Effect.fn("ProcessLedger.write")(function*(file: string, ledger: Ledger) {
  const bytes = new TextEncoder().encode(`${JSON.stringify(encode(ledger), null, 2)}\n`)
  if (bytes.length > maxLedgerBytes) return yield* invalid(file, "it would become larger than 1 MiB")
  yield* Effect.mapError(withTemporary(file, bytes, 0o600, (temporary) => rename(temporary, file)), unusable)
  yield* settle(path.dirname(file))
})

const make = Effect.gen(function*() {
  const state = yield* StateDir
  const turn = yield* Effect.makeSemaphore(1)
  const fileOf = (root: string) => Effect.map(state.of(root), (folder) => path.join(folder, "processes.json"))

  return ProcessLedger.of({
    read: (root) => Effect.flatMap(fileOf(root), readLedger),
    change: (root, change) =>
      Effect.gen(function*() {
        const file = yield* fileOf(root)
        const ledger = yield* readLedger(file)
        const next = change(ledger)
        if (next !== ledger) yield* write(file, next)
        return next
      }).pipe(turn.withPermits(1), Effect.withSpan("ProcessLedger.change"))
  })
})

/** `processes.json` in the state folder, 0600. What is not a ledger is an error, and stays as it is. */
export const layer: Layer.Layer<ProcessLedger, never, StateDir> = Layer.effect(ProcessLedger, make)
