import * as Effect from "effect/Effect"
import { LaunchFailed, TitleFailed } from "../../domain/Launch.ts"
import { IdentityFailed } from "../../domain/Pane.ts"
import type { Multiplexer } from "../../services/Multiplexers.ts"

const unsupported = (detail: string) => () => Effect.fail(new LaunchFailed({ reason: "unsupported", detail }))

/** For a multiplexer whose panes cannot be told apart. */
export const unidentified = {
  identify: Effect.fail(new IdentityFailed({ detail: "this multiplexer cannot tell its panes apart" })),
  verify: () => Effect.fail(new IdentityFailed({ detail: "this multiplexer cannot tell its panes apart" }))
} satisfies Pick<Multiplexer, "identify" | "verify">

/** Herdr, which this version cannot drive yet: launches and titles fail and say so. */
export const herdr: Multiplexer = {
  ...unidentified,
  kind: "herdr",
  launch: unsupported(
    "Herdr support is not in this version yet; run Pi inside tmux and choose tmux with intercom_set_multiplexer"
  ),
  title: () => Effect.fail(new TitleFailed({ detail: "Herdr support is not in this version yet" }))
}

/** No multiplexer (spec 5.3): launches are unsupported, there is no tab to title. */
export const none: Multiplexer = {
  ...unidentified,
  kind: "none",
  launch: unsupported(
    "the team's multiplexer is none, and this version opens no terminal windows of its own; " +
      "run Pi inside tmux and choose tmux with intercom_set_multiplexer"
  ),
  title: () => Effect.void
}
