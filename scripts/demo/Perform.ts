import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { randomUUID } from "node:crypto"
import { builtEntry } from "../../test/support/Built.ts"
import * as PiHarness from "../../test/support/PiHarness.ts"
import type { TmuxFailed } from "../../test/support/TmuxServer.ts"
import { script } from "./Agents.ts"
import { attach, howToLeave } from "./Attach.ts"
import * as Evidence from "./Evidence.ts"
import type { Leftovers } from "./Leftovers.ts"
import * as Monitor from "./Monitor.ts"
import { park } from "./Park.ts"
import { resume } from "./Resume.ts"
import * as Story from "./Story.ts"
import * as Timeline from "./Timeline.ts"

const host = "1.6.0"

/** To its end even when interrupted: a build that goes on would write into a folder that was removed. */
const build = builtEntry.pipe(
  Effect.catchAllDefect((defect) =>
    new Timeline.StepFailed({ step: "The extension is built", why: String(defect), screen: "" })
  ),
  // A Ctrl-C ends the build too: let it be noticed as what it is.
  Effect.tapError(() => Effect.sleep("100 millis")),
  Effect.uninterruptible
)

/** Plays the whole story; with its scope everything ends that it started. */
export const perform = (
  leftovers: Leftovers,
  print: (line: string) => void,
  watched: boolean,
  surroundings: PiHarness.Surroundings
): Effect.Effect<void, Timeline.StepFailed | TmuxFailed, Scope.Scope> =>
  Effect.gen(function*() {
    print(
      `A team of real Pi ${host} sessions in ${Story.place[surroundings]}, offline: only the model is scripted.\n` +
        "A line is printed once it was verified: from the team file, from tmux, from the sessions' ports, from what\n" +
        "each model was given."
    )
    print("")
    yield* build
    const sessionId = randomUUID()
    const harness = yield* PiHarness.make(host, script(sessionId), surroundings)
    // Before the harness ends its tmux server: that waits for processes to leave by themselves.
    yield* Effect.addFinalizer(() => leftovers.end)
    // Keeps the screen of a Pi that ended with an error, for whoever has to read it (tmux 3.3 or newer).
    yield* Effect.ignore(harness.tmux.run(["set-option", "-g", "remain-on-exit", "failed"]))
    leftovers.port(Number(new URL(harness.model.baseUrl).port))

    const printed: Timeline.Audience = { tell: print, focus: () => Effect.void, linger: () => Effect.void }
    const stage = (audience: Timeline.Audience): Story.Stage => ({
      harness,
      leftovers,
      evidence: Evidence.make(harness),
      timeline: Timeline.make(audience, leftovers)
    })
    const coordinator = yield* Story.open(stage(printed), sessionId)
    if (watched) print(howToLeave)
    const shown = stage(watched ? yield* attach(harness.tmux, coordinator.pane, print) : printed)
    const team = yield* Monitor.opened(shown, yield* Story.assemble(shown, coordinator))
    yield* Story.work(shown, team)
    yield* Story.overview(shown, team)
    const again = yield* resume(shown, yield* park(shown, team))
    yield* Monitor.lastFrame(shown, again)
    yield* Story.close(shown, again)
  })
