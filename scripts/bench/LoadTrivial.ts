import type { ExtensionAPI } from "@earendil-works/pi-coding-agent"

/** The least extension there is. */
export default function trivial(pi: ExtensionAPI): void {
  pi.on("session_start", () => undefined)
}
