import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { mkdirSync, readFileSync, statSync } from "node:fs"
import { dirname, join } from "node:path"
import { builtEntry } from "../../test/support/Built.ts"
import * as PiHarness from "../../test/support/PiHarness.ts"
import { published } from "../../test/support/Processes.ts"
import { say } from "../../test/support/ScriptedModel.ts"
import { median, round } from "./Measure.ts"

const trivial = join(import.meta.dirname, "LoadTrivial.ts")
const probe = join(import.meta.dirname, "LoadProbe.ts")
const rounds = 7

const decode = Schema.decodeUnknown(Schema.parseJson(Schema.Struct({ pid: Schema.Int, ms: Schema.Number })))

const residentMb = (pid: number): number =>
  Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? Number.NaN) / 1024

/**
 * What the built extension adds to a real Pi, started in tmux in turn with a trivial extension: time from the process's
 * start to `session_start`, and memory once the prompt is there. The loader's cache lies in TMPDIR: a new one is cold.
 */
export const figures = () =>
  Effect.gen(function*() {
    const ours = yield* builtEntry
    const harness = yield* PiHarness.make("1.6.0", () => say(""))
    let runs = 0

    /** One start of Pi with an extension. */
    const measure = (extension: string, cache: string | undefined) =>
      Effect.gen(function*() {
        runs += 1
        const file = join(harness.root, `load-${runs}.json`)
        const temp = join(harness.root, cache ?? `cache-${runs}`)
        mkdirSync(temp, { recursive: true })
        const pi = yield* harness.start({
          extensions: [probe, extension],
          environment: { BENCH_LOAD_FILE: file, TMPDIR: temp }
        })
        const { ms, pid } = yield* Effect.flatMap(published(file), decode)
        const mb = residentMb(pid)
        yield* pi.close
        yield* pi.gone
        return { ms, mb }
      })

    /** The medians with ours over those with the trivial one. */
    const added = (cache: string | undefined) =>
      Effect.gen(function*() {
        const pairs = yield* Effect.replicateEffect(
          Effect.all([measure(trivial, cache), measure(ours, cache)]),
          rounds
        )
        const over = (key: "ms" | "mb") =>
          median(pairs.map(([, own]) => own[key])) - median(pairs.map(([base]) => base[key]))
        return { ms: over("ms"), mb: over("mb") }
      })

    const cold = yield* added(undefined)
    yield* measure(trivial, "warm")
    yield* measure(ours, "warm")
    const warm = yield* added("warm")
    return {
      "load.coldMs": Math.round(cold.ms),
      "load.warmMs": Math.round(warm.ms),
      "load.coreKb": Math.round(statSync(join(dirname(ours), "core.cjs")).size / 1024),
      "load.rssMb": round(warm.mb, 1)
    }
  })
