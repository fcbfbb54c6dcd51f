import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import type { NeverCame } from "../../test/support/Eventually.ts"
import type { PiPane } from "../../test/support/PiPane.ts"
import type { TmuxFailed } from "../../test/support/TmuxServer.ts"
import type { Leftovers } from "./Leftovers.ts"

/** A step that could not be verified: which, why, and what its pane shows. */
export class StepFailed extends Data.TaggedError("StepFailed")<{
  readonly step: string
  readonly why: string
  readonly screen: string
}> {}

/** Evidence that is there and says something else than the step. */
export class Wrong extends Data.TaggedError("Wrong")<{ readonly why: string }> {}

type Failure = NeverCame | TmuxFailed | Wrong

/** Fails with the sentence unless it holds. */
export const ensure = (holds: boolean, why: string): Effect.Effect<void, Wrong> =>
  holds ? Effect.void : Effect.fail(new Wrong({ why }))

const explain = (failure: Failure): string => {
  switch (failure._tag) {
    case "NeverCame":
      return `it never came: ${failure.what}`
    case "TmuxFailed":
      return failure.message
    case "Wrong":
      return failure.why
  }
}

/** Where the narration goes. */
export interface Audience {
  readonly tell: (line: string) => void
  /** Before a step: what is worth looking at. After it: time to look. Both for a person who watches. */
  readonly focus: (pane: PiPane) => Effect.Effect<void>
  readonly linger: (line: string) => Effect.Effect<void>
}

/** Only bounds a hang: on a quiet machine the slowest step takes 3 s. */
const stepBound = "45 seconds"

/** Runs the steps of the story; a line is told only once its evidence was found. */
export interface Timeline {
  /** `what` names the step if it fails, `pane` is the one it is about; answers what the evidence is. */
  readonly step: <A>(
    what: string,
    pane: PiPane,
    evidence: Effect.Effect<A, Failure>,
    line: (found: A) => string
  ) => Effect.Effect<A, StepFailed>
}

/** Seconds since this process started, as the timeline shows them. */
export const clock = (): string => `${(performance.now() / 1000).toFixed(1).padStart(6)} s  `

export const make = (audience: Audience, leftovers: Leftovers): Timeline => ({
  step: (what, pane, evidence, line) =>
    audience.focus(pane).pipe(
      Effect.zipRight(evidence),
      Effect.timeoutFail({
        duration: stepBound,
        onTimeout: () => new Wrong({ why: `it did not happen within ${stepBound}` })
      }),
      Effect.catchAll((failure) =>
        Effect.flatMap(pane.screen, (screen) => new StepFailed({ step: what, why: explain(failure), screen }))
      ),
      Effect.tap(leftovers.look),
      Effect.tap((found) => {
        audience.tell(`${clock()}${line(found)}`)
        return audience.linger(line(found))
      })
    )
})
