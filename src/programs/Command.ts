import * as Effect from "effect/Effect"
import { Refused } from "../domain/SessionErrors.ts"
import { outside, outsideAny } from "./Outside.ts"
import { overview } from "./Overview.ts"
import { ownPort } from "./Post.ts"
import { resolve } from "./Resolve.ts"
import { takeover } from "./Takeover.ts"
import { enterTeam, publishTeam } from "./Team.ts"

const usage =
  "Use /intercom to see the team, /intercom start to publish a team file here, /intercom resolve <worker> to " +
  "settle what it says needs attention, /intercom takeover to coordinate a team whose coordinator is gone, or " +
  "/intercom doctor to see what is wrong."

/** `/intercom …` for the person at the keyboard (spec 4): answers the text to show. */
export const command = Effect.fn("command")(function*(args: string) {
  const standing = yield* enterTeam
  const port = yield* ownPort
  const [, unsettled] = /^resolve\s+(.+)$/s.exec(args.trim()) ?? []
  if (unsettled !== undefined) return yield* resolve(standing, unsettled)
  switch (args.trim()) {
    case "":
      return standing.role === "solo"
        ? [
          `Intercom: no team here yet (port ${port}, root ${standing.root}). Nothing is written until you start one.`,
          ...(yield* outsideAny),
          usage
        ].join("\n")
        : yield* overview(standing, port)
    case "start": {
      if (standing.role !== "solo") {
        return `This folder belongs to the team of ${standing.root} already, so nothing was started. For a team of its ` +
          `own, start Pi with PI_INTERCOM_ROOT set to it.\n${yield* overview(standing, port)}`
      }
      const { config, root } = yield* publishTeam(standing)
      return [
        `Intercom: this session now coordinates the team of ${root}, multiplexer ${config.multiplexer}. ` +
        "Pi saves a session with its first turn: give this one a turn before you close it, or it cannot be opened again.",
        ...(yield* outside(config.multiplexer))
      ].join("\n")
    }
    case "takeover":
      return yield* takeover(standing)
    default: {
      const given = args.trim()
      const wrong = given === "resolve"
        ? "/intercom resolve needs the name of a worker"
        : `There is no /intercom ${JSON.stringify(given.length > 40 ? `${given.slice(0, 40)}…` : given)}`
      return yield* new Refused({ reason: "invalid", sentence: `${wrong}; nothing was done. ${usage}` })
    }
  }
})
