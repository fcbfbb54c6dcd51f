import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Server from "../../src/layers/IntercomServer/Http.ts"
import * as Platform from "../../src/layers/Platform/Node.ts"
import * as SecretsFile from "../../src/layers/Secrets/File.ts"
import * as StateDir from "../../src/layers/StateDir/File.ts"
import { IntercomServer } from "../../src/services/IntercomServer.ts"
import { Secrets } from "../../src/services/Secrets.ts"
import { listensOn } from "./Child.ts"

const [root = "", sessionId = ""] = process.argv.slice(2)

const serve = Effect.gen(function*() {
  const key = yield* (yield* Secrets).key(root)
  const port = yield* (yield* IntercomServer).listen(Option.none(), {
    sessionId,
    open: Effect.succeed(true),
    key: Effect.succeedSome(key),
    allowUnauthenticated: false,
    receive: (_envelope, _signed, commit) => commit(Effect.void)
  })
  listensOn(port)
  return yield* Effect.never
})

const secrets = SecretsFile.layer.pipe(Layer.provide(StateDir.layer), Layer.provide(Platform.layer))
Effect.runFork(Effect.scoped(serve).pipe(Effect.provide([Server.layer, secrets])))
