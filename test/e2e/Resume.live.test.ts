import { describe, it } from "@effect/vitest"
import { comesBack, staysOpen } from "./ResumeScenarios.ts"

/** Bounds a hang on a machine that does much else; a quiet one needs seconds. */
const bound = 240_000

describe("resuming a worker", () => {
  it.scopedLive(
    "Pi 1.6.0: refused while its session is in use; then it comes back as itself, idle, and takes work again",
    () => comesBack("1.6.0"),
    bound
  )

  it.scopedLive(
    "Pi 0.84.4: an open one waits at Pi's question, outlives its coordinator, and ends with its pane or its status",
    () => staysOpen("0.84.4"),
    bound
  )
})
