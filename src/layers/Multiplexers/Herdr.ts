import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import { type HerdrPane, isClosed, isId } from "../../domain/HerdrAnswers.ts"
import { LaunchFailed, type LaunchRequest, TitleFailed } from "../../domain/Launch.ts"
import { formatTrace, type PaneTrace } from "../../domain/Pane.ts"
import type { VerifiedPane } from "../../domain/PaneClosing.ts"
import * as PosixShell from "../../domain/PosixShell.ts"
import * as PowerShell from "../../domain/PowerShell.ts"
import { CommandRunner } from "../../services/CommandRunner.ts"
import { LaunchScripts } from "../../services/LaunchScripts.ts"
import { MonitorRecord } from "../../services/MonitorRecord.ts"
import type { Multiplexer } from "../../services/Multiplexers.ts"
import { Platform } from "../../services/Platform.ts"
import { ProcessIdentity } from "../../services/ProcessIdentity.ts"
import { bodyHash } from "../Hash.ts"
import * as Closing from "./Closing.ts"
import { checkDirectory } from "./Directory.ts"
import * as HerdrClient from "./HerdrClient.ts"
import * as HerdrIdentity from "./HerdrIdentity.ts"
import * as HerdrMonitor from "./HerdrMonitor.ts"

const failed = (reason: LaunchFailed["reason"], detail: string) => new LaunchFailed({ reason, detail })

/** What a process of Windows can be started with, less what stands around the encoded command. */
const maxWindowsCommand = 32_000

/**
 * The Herdr that this process runs in (spec 5.1). Ids come from Herdr's own answers: what the environment says was true
 * when the pane was opened.
 */
export const make: Effect.Effect<
  Multiplexer & Pick<ReturnType<typeof HerdrIdentity.make>, "gone">,
  never,
  CommandRunner | LaunchScripts | MonitorRecord | Platform | ProcessIdentity
> = Effect.gen(function*() {
  const runner = yield* CommandRunner
  const client = HerdrClient.make(runner)
  const scripts = yield* LaunchScripts
  const { os } = yield* Platform
  const variables = yield* Effect.orDie(Config.all({
    herdr: Config.withDefault(Config.string("HERDR_ENV"), ""),
    workspace: Config.withDefault(Config.string("HERDR_WORKSPACE_ID"), ""),
    socket: Config.withDefault(Config.string("HERDR_SOCKET_PATH"), "")
  }))
  // Ids belong to one server: under another socket the same ones are other panes, and without one they are anybody's.
  const server = variables.socket === "" ? undefined : `${bodyHash(variables.socket).slice(0, 12)}:`
  const traceOf = ({ pane_id: paneId, terminal_id: terminalId, workspace_id }: HerdrPane) =>
    server === undefined
      ? {}
      : { trace: formatTrace({ multiplexer: "herdr", workspaceId: `${server}${workspace_id}`, paneId, terminalId }) }

  /** This session's own pane, as Herdr says now. */
  const own = Effect.gen(function*() {
    if (variables.herdr !== "1" || variables.workspace === "") {
      return yield* failed(
        "not_inside",
        "this session does not run inside Herdr; start Herdr and open this session in it, " +
          "or choose the multiplexer that it runs in with intercom_set_multiplexer"
      )
    }
    return yield* Effect.mapError(client.current, (error) => {
      if (error.reason === "missing") return failed("missing_program", error.detail)
      if (error.code === "pane_not_found") {
        return failed(
          "not_inside",
          "Herdr does not know the pane of this session any more; open this session in a Herdr pane"
        )
      }
      return failed(error.code === "server_not_running" ? "not_inside" : "failed", error.detail)
    })
  })

  /**
   * The line that starts the worker: short, since a shell that is just starting cuts long ones (facts/herdr). `discard`
   * removes what it starts, for when it is surely never typed.
   */
  const lineFor = Effect.fnUntraced(function*(request: LaunchRequest) {
    if (os === "win32") {
      const line = `powershell.exe -NoLogo -NoProfile -EncodedCommand ${
        PowerShell.encoded(PowerShell.launchScript(request, ["PI_SESSION_*", "TMUX*"]))
      }`
      return line.length <= maxWindowsCommand
        ? { line, discard: Effect.void }
        : yield* failed("too_long", "its command and environment together are longer than Windows takes")
    }
    const path = yield* Effect.mapError(
      scripts.write(request.root, (script) => PosixShell.launchScript(script, request)),
      (unusable) => failed("failed", `its launch script could not be written. ${unusable.message.replace(/\.$/, "")}`)
    )
    const discard = scripts.discard(path)
    if (/[\u0000-\u001f\u007f-\u009f]/.test(path)) {
      yield* discard
      return yield* failed(
        "failed",
        "the path of Intercom's state folder has a control character, which cannot be typed into a pane; " +
          "set PI_INTERCOM_STATE_DIR to another folder"
      )
    }
    return { line: `sh ${PosixShell.quoted(path)}`, discard }
  })

  const launch = Effect.fn("Herdr.launch")(function*(request: LaunchRequest) {
    yield* checkDirectory(request.directory)
    const caller = yield* own
    const workspaceId = caller.workspace_id
    if (workspaceId !== variables.workspace) {
      return yield* failed(
        "not_inside",
        "this session's pane is in another Herdr workspace than it was opened in; open this session in a new pane"
      )
    }
    const { discard, line } = yield* lineFor(request)
    const { root_pane: root, tab } = yield* client.createTab(
      workspaceId,
      request.directory,
      "Intercom (anonymous)"
    ).pipe(
      Effect.mapError((error) =>
        error.reason === "missing"
          ? failed("missing_program", error.detail)
          : failed(error.reason === "unanswered" ? "unknown" : "failed", error.detail)
      ),
      // Nothing is typed without a tab's id, whatever has happened.
      Effect.tapError(() => discard)
    )
    const left = `The Herdr tab ${tab.tab_id} with the pane ${root.pane_id}`
    const isNew = tab.workspace_id === workspaceId && root.workspace_id === workspaceId &&
      root.tab_id === tab.tab_id && tab.tab_id !== caller.tab_id && root.pane_id !== caller.pane_id
    if (!isNew) {
      yield* discard
      return yield* new LaunchFailed({
        reason: "failed",
        detail: "Herdr answered with a tab that does not fit the one asked for, so nothing was typed into it",
        left
      })
    }
    yield* client.run(root.pane_id, line).pipe(
      Effect.tapError((error) => error.reason === "unanswered" ? Effect.void : discard),
      Effect.mapError((error) =>
        error.reason === "unanswered"
          ? new LaunchFailed({ reason: "unknown", detail: error.detail, left, ...traceOf(root) })
          : new LaunchFailed({ reason: "failed", detail: error.detail, left })
      )
    )
    return { multiplexer: "herdr" as const, tab: tab.tab_id, pane: root.pane_id, ...traceOf(root) }
  })

  const title = Effect.fn("Herdr.title")(
    function*(name: string) {
      yield* client.renameTab((yield* own).tab_id, name)
    },
    Effect.mapError((error) => new TitleFailed({ detail: error.detail }))
  )

  const identity = HerdrIdentity.make(client, yield* ProcessIdentity, own)
  const gone = (pane: PaneTrace) =>
    server !== undefined && pane.workspaceId.startsWith(server)
      ? identity.gone({ ...pane, workspaceId: pane.workspaceId.slice(server.length) })
      : Effect.succeed(false)

  const records = yield* MonitorRecord
  const monitor = HerdrMonitor.make({ client, gone, lineFor, own, records, server, traceOf })

  const canClose = os === "linux"
  const close = <E>({ paneId }: VerifiedPane, last: Effect.Effect<void, E>) =>
    canClose && isId(paneId)
      ? Closing.runOnce(
        runner,
        { program: "herdr", args: ["pane", "close", paneId] },
        last,
        ({ code, stdout }) => code === 0 && isClosed(stdout) ? "closed" : "unknown"
      )
      : Effect.succeed("not_started" as const)

  return { kind: "herdr", launch, title, ...identity, canClose, close, gone, ...monitor }
})
