import * as Effect from "effect/Effect"
import { LaunchFailed } from "../../domain/Launch.ts"
import { noMonitor } from "../../domain/MonitorPane.ts"
import { IdentityFailed } from "../../domain/Pane.ts"
import type { Multiplexer } from "../../services/Multiplexers.ts"

const unsupported = (detail: string) => () => Effect.fail(new LaunchFailed({ reason: "unsupported", detail }))

/** For a multiplexer whose panes cannot be told apart. */
export const unidentified = {
  identify: Effect.fail(new IdentityFailed({ detail: "this multiplexer cannot tell its panes apart" })),
  verify: () => Effect.fail(new IdentityFailed({ detail: "this multiplexer cannot tell its panes apart" })),
  canClose: false,
  close: () => Effect.succeed("not_started"),
  isGone: () => Effect.succeed(false)
} satisfies Pick<Multiplexer, "identify" | "verify" | "canClose" | "close" | "isGone">

/** No multiplexer (spec 5.3): launches are unsupported, there is no tab to title. */
export const none: Multiplexer = {
  ...unidentified,
  kind: "none",
  launch: unsupported(
    "the team's multiplexer is none, and only on Windows does Intercom open terminal windows of its own; " +
      "run Pi inside Herdr or tmux and choose that with intercom_set_multiplexer"
  ),
  title: () => Effect.void,
  placeMonitor: () => Effect.fail(noMonitor("without a multiplexer there are no panes"))
}
