import type { ExtensionAPI } from "@earendil-works/pi-coding-agent"

/**
 * Another extension that takes its time before each run. Loaded after ours it leaves the gap in which Pi 0.84.4 still
 * calls itself idle and drops a second text: our handlers have run, `agent_start` has not come.
 */
export default function slowNeighbour(pi: ExtensionAPI): void {
  pi.on("before_agent_start", () =>
    new Promise<undefined>((resolve) => {
      setTimeout(() => resolve(undefined), 400)
    }))
}
