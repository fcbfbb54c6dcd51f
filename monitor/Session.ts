import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Queue from "effect/Queue"
import * as Stream from "effect/Stream"
import * as SubscriptionRef from "effect/SubscriptionRef"
import type { IntercomClient } from "../src/services/IntercomClient.ts"
import type { ObservationReader } from "../src/services/ObservationReader.ts"
import { repaint } from "./Screen.ts"
import { initial, type State, withKey } from "./State.ts"
import type { Style } from "./Style.ts"
import { view } from "./View.ts"
import { watch } from "./Watch.ts"

/** The size of a terminal in columns and rows. */
export interface Size {
  readonly width: number
  readonly height: number
}

/** The terminal of a monitor. */
export interface Terminal {
  /** Now and after each change. */
  readonly size: SubscriptionRef.SubscriptionRef<Size>
  /** The names of keys, as pi-tui has them, in the order in which they were pressed. */
  readonly keys: Queue.Dequeue<string>
  readonly write: (text: string) => void
  /** Gives the terminal back, at once; nothing is written after it. */
  readonly leave: () => void
}

/** Ages on the screen move while nothing else does. */
const tick = "1 second"

const draw = (
  state: SubscriptionRef.SubscriptionRef<State>,
  { size, write }: Terminal,
  version: string,
  style: Style
) => {
  let shown: { readonly size: Size; readonly lines: ReadonlyArray<string> } | undefined
  const frames = Stream.zipLatestAll(state.changes, size.changes, Stream.tick(tick))
  // Slower than the changes, it draws the newest only.
  return Stream.runForEach(
    Stream.buffer(frames, { capacity: 1, strategy: "sliding" }),
    ([state, size]) =>
      Effect.map(Clock.currentTimeMillis, (now) => {
        const lines = view(state, { ...size, now, version, style })
        const text = repaint(shown?.size === size ? shown.lines : undefined, lines)
        shown = { size, lines }
        if (text !== "") write(text)
      })
  )
}

/** Shows the team of `root` until a key quits; then the terminal is given back, and what still waits is interrupted. */
export const session = (
  root: string,
  version: string,
  terminal: Terminal,
  style: Style
): Effect.Effect<void, never, ObservationReader | IntercomClient> =>
  Effect.gen(function*() {
    const state = yield* SubscriptionRef.make(initial(root))
    const press = Effect.gen(function*() {
      const key = yield* Queue.take(terminal.keys)
      const now = yield* Clock.currentTimeMillis
      return yield* SubscriptionRef.updateAndGet(state, (before) => withKey(before, key, now))
    })
    const keys = Effect.repeat(press, { until: ({ quit }) => quit }).pipe(
      // First, whatever hangs: to interrupt the others may take its time.
      Effect.tap(() => Effect.sync(terminal.leave))
    )
    yield* Effect.raceAll([keys, draw(state, terminal, version, style), watch(state)])
  })
