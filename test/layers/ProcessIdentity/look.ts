import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { IdentifiedProcess } from "../../../src/domain/IdentifiedProcess.ts"
import * as Platform from "../../../src/layers/Platform/Node.ts"
import * as Procfs from "../../../src/layers/ProcessIdentity/Procfs.ts"
import { ProcessIdentity } from "../../../src/services/ProcessIdentity.ts"

/** A program of its own: says who it is, and what it knows of the process in its argument. */
const other = Schema.decodeUnknownSync(Schema.parseJson(IdentifiedProcess))(process.argv[2])

Effect.runSync(
  Effect.gen(function*() {
    const { look, own } = yield* ProcessIdentity
    process.stdout.write(JSON.stringify({ own, other: yield* look(other), itself: yield* look(own) }))
  }).pipe(Effect.provide(Layer.provide(Procfs.layer, Platform.layer)))
)
