import * as Effect from "effect/Effect"
import * as fs from "node:fs"
import * as path from "node:path"
import { eventuallyTrue } from "../Eventually.ts"
import type { PiHarness } from "../PiHarness.ts"
import type { TmuxHook } from "./TmuxHook.ts"

/** What the coordinator asks of its multiplexer for a close. */
export type Call = "verify" | "close"
const tmuxCalls = { verify: "list-panes", close: "if-shell" } as const
const herdrCalls = { verify: "pane get", close: "pane close" } as const

/** What a test can have go wrong in a team of real Pis, each of which loads PiFaults from now on. */
export const make = ({ agentDir, herdr, root }: PiHarness, { hook }: TmuxHook) => {
  const faults = path.join(root, "faults")
  const extensions = path.join(agentDir, "extensions")
  fs.mkdirSync(faults)
  fs.mkdirSync(extensions)
  fs.copyFileSync(path.join(import.meta.dirname, "PiFaults.ts"), path.join(extensions, "PiFaults.ts"))

  const set = (fault: string, sessionId: string, on: boolean) =>
    Effect.sync(() => {
      const at = path.join(faults, `${fault}-${sessionId}`)
      if (on) fs.writeFileSync(at, "")
      else fs.rmSync(at, { force: true })
    })
  const heldAt = (sessionId: string): number => {
    const at = path.join(faults, `held-${sessionId}`)
    return fs.existsSync(at) ? fs.statSync(at).size : 0
  }

  return {
    /** What tmux runs for the coordinator's side, in shell words: it acts once, before a call of that kind. */
    before: (call: Call, script: string) =>
      Effect.suspend(() => {
        if (herdr !== undefined) {
          return herdr.faults({
            does: "run",
            when: "before",
            command: herdrCalls[call],
            nth: 1,
            argv: ["sh", "-c", script]
          })
        }
        return Effect.sync(() => hook(`case " $* " in *" ${tmuxCalls[call]} "*)\nunhook\n${script}\n;; esac\n`))
      }),
    /** What is posted to a session waits from now on, until it is released. */
    hold: (sessionId: string) => set("hold", sessionId, true),
    release: (sessionId: string) => set("hold", sessionId, false),
    /** Waits until something more is held there than before the action. */
    holding: <A, E, R>(sessionId: string, action: Effect.Effect<A, E, R>) =>
      Effect.gen(function*() {
        yield* set("hold", sessionId, true)
        const before = heldAt(sessionId)
        const done = yield* action
        yield* eventuallyTrue(
          `a message waits at the door of ${sessionId}`,
          Effect.sync(() => heldAt(sessionId) > before)
        )
        return done
      }),
    /** From now on it does not end when its terminal goes. */
    stubborn: (sessionId: string) => set("stubborn", sessionId, true)
  }
}
