import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { LaunchFailed, type LaunchRequest, TitleFailed } from "../../domain/Launch.ts"
import type { VerifiedPane } from "../../domain/PaneClosing.ts"
import {
  fits,
  isSupported,
  joined,
  newWindow,
  PaneId,
  parseSubmitted,
  parseTmux,
  rename
} from "../../domain/TmuxArguments.ts"
import { closePane, parseClosed } from "../../domain/TmuxClosing.ts"
import { paneRow } from "../../domain/TmuxPanes.ts"
import { CommandRunner } from "../../services/CommandRunner.ts"
import type { Multiplexer } from "../../services/Multiplexers.ts"
import { Platform } from "../../services/Platform.ts"
import { ProcessIdentity } from "../../services/ProcessIdentity.ts"
import * as Closing from "./Closing.ts"
import { checkDirectory } from "./Directory.ts"
import * as TmuxClient from "./TmuxClient.ts"
import * as TmuxIdentity from "./TmuxIdentity.ts"
import * as TmuxMonitor from "./TmuxMonitor.ts"

const isPane = Schema.is(PaneId)

const failed = (reason: LaunchFailed["reason"], detail: string) => new LaunchFailed({ reason, detail })

/**
 * The tmux that `TMUX` and `TMUX_PANE` of this process name (spec 5.2). Each launch and title proves afresh that the
 * server at the socket is that one, new enough, and still has this session's pane.
 */
export const make: Effect.Effect<
  Multiplexer & Pick<ReturnType<typeof TmuxIdentity.make>, "gone">,
  never,
  CommandRunner | Platform | ProcessIdentity
> = Effect.gen(function*() {
  const runner = yield* CommandRunner
  const processes = yield* ProcessIdentity
  const canClose = (yield* Platform).os === "linux"
  const variables = yield* Effect.orDie(Config.all({
    tmux: Config.withDefault(Config.string("TMUX"), ""),
    pane: Config.withDefault(Config.string("TMUX_PANE"), "")
  }))

  const proven = Effect.gen(function*() {
    if (variables.tmux === "") {
      return yield* failed(
        "not_inside",
        "this session does not run inside tmux; start tmux and open this session in it, " +
          "or choose the multiplexer that it runs in with intercom_set_multiplexer"
      )
    }
    const tmux = parseTmux(variables.tmux)
    if (tmux === undefined || !isPane(variables.pane)) {
      return yield* failed(
        "not_inside",
        "the variables TMUX and TMUX_PANE of this session are not as tmux sets them; open this session in a tmux pane"
      )
    }
    const client = TmuxClient.make(runner, tmux.socket)
    const rows = yield* Effect.mapError(
      client.panes,
      (error) =>
        error.reason === "missing"
          ? failed("missing_program", error.detail)
          : failed(error.reason === "gone" ? "not_inside" : "failed", error.detail)
    )
    const first = rows[0]
    if (first !== undefined && first.serverPid !== tmux.serverPid) {
      return yield* failed(
        "not_inside",
        "the tmux server that this session was started in is gone and another one has its socket; open this session in that one"
      )
    }
    if (first !== undefined && !isSupported(first.version)) {
      return yield* failed("unsupported", `tmux ${first.version} is too old: 3.2 or newer is needed`)
    }
    const own = paneRow(rows, variables.pane, tmux.session)
    if (own === undefined || own.dead) {
      return yield* failed(
        "not_inside",
        `this session's tmux pane ${variables.pane} is not there any more; open this session in a tmux pane`
      )
    }
    return { client, rows, own }
  })
  const { gone, identify, isGone, trace, verify } = TmuxIdentity.make(processes, proven)

  const launch = Effect.fn("Tmux.launch")(function*(request: LaunchRequest) {
    yield* checkDirectory(request.directory)
    const surroundings = yield* proven
    const { client, own } = surroundings
    const command = newWindow(own.session, request)
    if (!fits(joined([command]))) {
      return yield* failed(
        "too_long",
        "its command and environment together are longer than tmux takes (15 KiB, 900 arguments)"
      )
    }
    const answer = yield* Effect.mapError(
      client.call(command),
      (error) => failed(error.reason === "unanswered" ? "unknown" : "failed", error.detail)
    )
    const submitted = parseSubmitted(answer)
    if (submitted === undefined) return yield* failed("unknown", "tmux did not say which tab it opened")
    const recognised = yield* trace(surroundings, submitted.pane)
    return {
      multiplexer: "tmux" as const,
      ...submitted,
      ...(Option.isSome(recognised) ? { trace: recognised.value } : {})
    }
  })

  const title = Effect.fn("Tmux.title")(
    function*(name: string) {
      const { client, own } = yield* proven
      yield* client.call(...rename(own.pane, name))
    },
    Effect.mapError((error) => new TitleFailed({ detail: error.detail }))
  )

  const close = <E>(pane: VerifiedPane, last: Effect.Effect<void, E>) => {
    const [server, command] = [parseTmux(variables.tmux), closePane(pane)]
    return !canClose || server === undefined || command === undefined
      ? Effect.succeed("not_started" as const)
      : Closing.runOnce(
        runner,
        { program: "tmux", args: ["-u", "-S", server.socket, ...joined([command])] },
        last,
        ({ code, stdout }) => parseClosed(code, stdout)
      )
  }

  return { kind: "tmux", launch, title, identify, verify, canClose, close, isGone, gone, ...TmuxMonitor.make(proven) }
})
