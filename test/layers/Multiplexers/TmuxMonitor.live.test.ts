import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { createHash } from "node:crypto"
import { mkdirSync } from "node:fs"
import { join } from "node:path"
import type { MonitorRequest } from "../../../src/domain/MonitorPane.ts"
import { SessionId } from "../../../src/domain/Primitives.ts"
import { eventuallyTrue } from "../../support/Eventually.ts"
import { isRunning, published } from "../../support/Processes.ts"
import { type RealTmux, realTmux } from "../../support/Tmux.ts"
import { from, open, type Opened, stay, whatIs } from "./TmuxTeam.ts"

const probe = join(import.meta.dirname, "probe.cjs")
const Seen = Schema.parseJson(Schema.Struct({
  argv: Schema.Array(Schema.String),
  cwd: Schema.String,
  env: Schema.Record({ key: Schema.String, value: Schema.String })
}))
const ownerOf = (sessionId: string) => createHash("sha256").update(sessionId).digest("hex").slice(0, 24)

const sh = ["/bin/sh", "-c", stay] as const

/** What stays, in the place of the monitor. */
const request: MonitorRequest = {
  root: "/",
  sessionId: SessionId.make("ada"),
  argv: ["/bin/sh", "-c", stay, "monitor", "--root", "/"],
  directory: "/",
  environment: { PI_INTERCOM_ROOT: "/" }
}

/** A coordinator in a window of 100 by that many rows, which has the focus. */
const coordinator = (rows = 40) =>
  Effect.gen(function*() {
    const tmux = yield* realTmux({ HERDR_ENV: "0", PI_SESSION_ID: "other" })
    const own = yield* open(tmux)
    yield* tmux.run(["resize-window", "-t", own.pane, "-x", "100", "-y", String(rows)])
    yield* tmux.run(["select-window", "-t", own.pane])
    const place = (change: Partial<MonitorRequest> = {}, at: Opened = own) =>
      from(tmux, at, tmux.serverPid).placeMonitor({ ...request, ...change })
    const refused = (change?: Partial<MonitorRequest>, at?: Opened) =>
      Effect.map(Effect.flip(place(change, at)), ({ message }) => message)
    const created = Effect.gen(function*() {
      const { outcome, pane } = yield* place()
      assert.strictEqual(outcome, "created")
      return yield* whatIs(tmux, pane)
    })
    return { tmux, own, place, refused, created }
  })

/** The panes of this one's window from top to bottom, the one with the focus marked, and whether the window is zoomed. */
const windowOf = (tmux: RealTmux, pane: string) =>
  Effect.gen(function*() {
    const format = "#{pane_top} #{pane_id}#{?pane_active,*,} #{pane_height}"
    const text = yield* tmux.run(["list-panes", "-t", pane, "-F", format])
    const zoomed = yield* tmux.run(["display-message", "-p", "-t", pane, "#{window_zoomed_flag}"])
    const rows = text.trim().split("\n").map((line) => line.split(" "))
    return {
      panes: rows.toSorted(([one], [two]) => Number(one) - Number(two)).map(([, id]) => id),
      heights: rows.map(([, , height]) => Number(height)),
      zoomed: zoomed.trim() === "1"
    }
  })
/** Everything there is, with the first process of each pane. */
const everything = (tmux: RealTmux) =>
  Effect.map(tmux.run(["list-panes", "-a", "-F", "#{window_id} #{pane_id} #{pane_pid}"]), (text) => text.trim())

describe("the monitor pane in tmux, for real", () => {
  it.scopedLive("appears above the coordinator, a quarter high, titled, without the focus; again it is kept", () =>
    Effect.gen(function*() {
      const { created, own, place, tmux } = yield* coordinator()
      const before = yield* everything(tmux)
      const monitor = yield* created
      assert.deepStrictEqual(yield* windowOf(tmux, own.pane), {
        panes: [monitor.pane, `${own.pane}*`],
        heights: [10, 29],
        zoomed: false
      })
      const title = yield* tmux.run(["display-message", "-p", "-t", monitor.pane, "#{pane_title}"])
      assert.strictEqual(title, "Intercom monitor\n")
      const after = yield* everything(tmux)
      assert.lengthOf(after.split("\n"), before.split("\n").length + 1)
      assert.deepStrictEqual(yield* place(), { outcome: "kept", pane: monitor.pane })
      assert.strictEqual(yield* everything(tmux), after)
    }))

  it.scopedLive("its program gets directory, arguments and environment exactly, and its owner's name", () =>
    Effect.gen(function*() {
      const { place, tmux } = yield* coordinator()
      const directory = join(tmux.folder, "-a  b '\"$HOME `id` #(touch ran)#{pid} é€😀;")
      mkdirSync(directory)
      const hostile = ["--root", directory, "", "-", "$HOME $(id)", "#{pid}", "a\nb\n", "\t\u001b", "--owner", ";"]
      const environment = { ODD: "a=b\n#{pid} '\"$x \\;", PROBE_OUT: join(tmux.folder, "seen.json") }
      const argv = [process.execPath, probe, ...hostile] as const
      const { pane } = yield* place({ directory, argv, environment })
      const seen = yield* Effect.flatMap(published(environment.PROBE_OUT), Schema.decode(Seen))
      assert.deepStrictEqual(seen.argv, [...hostile, "--owner", ownerOf("ada")])
      assert.strictEqual(seen.cwd, directory)
      assert.strictEqual(seen.env["ODD"], environment.ODD)
      assert.strictEqual(seen.env["TMUX_PANE"], pane)
      assert.deepStrictEqual(Object.keys(seen.env).filter((name) => /^(HERDR_|PI_SESSION_)/.test(name)), [])
      assert.deepStrictEqual(yield* place({ directory, argv, environment }), { outcome: "kept", pane })
    }))

  it.scopedLive("stays the coordinator's from another pane of the window, and from another window is only named", () =>
    Effect.gen(function*() {
      const { created, own, place, refused, tmux } = yield* coordinator()
      const monitor = yield* created
      const beside = yield* tmux.run([
        "split-window",
        "-d",
        "-h",
        "-P",
        "-F",
        "#{pane_id}",
        "-t",
        own.pane,
        "--",
        ...sh
      ])
      const restarted = yield* whatIs(tmux, beside.trim())
      yield* tmux.run(["kill-pane", "-t", own.pane])
      assert.deepStrictEqual(yield* place({}, restarted), { outcome: "kept", pane: monitor.pane })
      const elsewhere = yield* open(tmux)
      const all = yield* everything(tmux)
      assert.match(
        yield* refused({}, elsewhere),
        new RegExp(`^The monitor pane was left alone: it is the pane ${monitor.pane}, which is in another tab`)
      )
      assert.strictEqual(yield* everything(tmux), all)
    }))

  it.scopedLive("that was moved to another window is only named; moved back it is kept, closed it is made anew", () =>
    Effect.gen(function*() {
      const { created, own, place, refused, tmux } = yield* coordinator()
      const monitor = yield* created
      const window = (yield* tmux.run(["break-pane", "-d", "-P", "-F", "#{window_id}", "-s", monitor.pane])).trim()
      const all = yield* everything(tmux)
      assert.strictEqual(
        yield* refused(),
        `The monitor pane was left alone: it is the pane ${monitor.pane}, which is in another tab than this session, ` +
          `${window}. Nothing was created or changed; messages work without it. Move it back or close it; then run /reload.`
      )
      assert.strictEqual(yield* everything(tmux), all)
      yield* tmux.run(["join-pane", "-d", "-s", monitor.pane, "-t", own.pane])
      assert.deepStrictEqual(yield* place(), { outcome: "kept", pane: monitor.pane })
      yield* tmux.run(["kill-pane", "-t", monitor.pane])
      const again = yield* created
      assert.notStrictEqual(again.pane, monitor.pane)
      assert.isTrue(isRunning(again.pid))
    }))

  it.scopedLive("is known by its command, not by a title: one that is stolen, one that is given away", () =>
    Effect.gen(function*() {
      const { created, own, place, tmux } = yield* coordinator()
      yield* tmux.run(["split-window", "-d", "-h", "-t", own.pane, "--", "/bin/sh", "-c", stay, "Intercom monitor"])
      for (const pane of [own.pane, (yield* windowOf(tmux, own.pane)).panes[1] ?? ""]) {
        yield* tmux.run(["select-pane", "-t", pane.replace("*", ""), "-T", "Intercom monitor"])
      }
      const monitor = yield* created
      yield* tmux.run(["select-pane", "-t", monitor.pane, "-T", "something else"])
      assert.deepStrictEqual(yield* place(), { outcome: "kept", pane: monitor.pane })
    }))

  it.scopedLive("is kept when its program has ended and the pane stays, and nothing is typed into it", () =>
    Effect.gen(function*() {
      const { created, place, tmux } = yield* coordinator()
      const monitor = yield* created
      yield* tmux.run(["set-option", "-p", "-t", monitor.pane, "remain-on-exit", "on"])
      process.kill(monitor.pid, "SIGKILL")
      const isDead = tmux.run(["display-message", "-p", "-t", monitor.pane, "#{pane_dead}"])
      yield* eventuallyTrue("the end of its program", Effect.map(isDead, (text) => text === "1\n"))
      const screen = tmux.run(["capture-pane", "-p", "-t", monitor.pane])
      const before = yield* screen
      assert.deepStrictEqual(yield* place(), { outcome: "kept", pane: monitor.pane })
      assert.strictEqual(yield* screen, before)
    }))

  it.scopedLive("is each coordinator's own; two of one owner are both named and nothing is made", () =>
    Effect.gen(function*() {
      const { created, own, place, refused, tmux } = yield* coordinator()
      const monitor = yield* created
      const other = yield* place({ sessionId: SessionId.make("bea") })
      assert.strictEqual(other.outcome, "created")
      assert.deepStrictEqual(yield* place(), { outcome: "kept", pane: monitor.pane })
      const second = yield* tmux.run([
        ...["new-window", "-d", "-P", "-F", "#{pane_id}", "-t", "anchor:", "--"],
        ...[...sh, "x", "--owner", ownerOf("ada")]
      ])
      const all = yield* everything(tmux)
      assert.match(
        yield* refused(),
        new RegExp(
          `^The monitor pane was left alone: there is more than one, (${
            [[monitor.pane, second.trim()], [second.trim(), monitor.pane]].map((pair) => pair.join(" and ")).join("|")
          })\\.`
        )
      )
      assert.strictEqual(yield* everything(tmux), all)
      yield* tmux.run(["kill-pane", "-t", monitor.pane])
      assert.match(yield* refused(), new RegExp(`it is the pane ${second.trim()}, which is in another tab`))
      assert.isTrue((yield* windowOf(tmux, own.pane)).panes.includes(other.pane))
    }))

  it.scopedLive("needs 12 rows of the window: with 11 nothing is made", () =>
    Effect.gen(function*() {
      const { created, own, refused, tmux } = yield* coordinator(11)
      const all = yield* everything(tmux)
      assert.strictEqual(
        yield* refused(),
        "There is no monitor pane: this tab has 11 rows, and it needs 12; make the terminal higher and run /reload. " +
          "Nothing was created; messages work without it."
      )
      assert.strictEqual(yield* everything(tmux), all)
      yield* tmux.run(["resize-window", "-t", own.pane, "-y", "12"])
      yield* created
      assert.deepStrictEqual((yield* windowOf(tmux, own.pane)).heights, [3, 8])
    }))

  it.scopedLive("leaves a window zoomed that is, and one that is not as it is", () =>
    Effect.gen(function*() {
      const { created, own, place, tmux } = yield* coordinator()
      yield* tmux.run(["split-window", "-d", "-h", "-t", own.pane, "--", ...sh])
      yield* tmux.run(["resize-pane", "-Z", "-t", own.pane])
      const monitor = yield* created
      assert.isTrue((yield* windowOf(tmux, own.pane)).zoomed)
      assert.deepStrictEqual(yield* place(), { outcome: "kept", pane: monitor.pane })
      assert.isTrue((yield* windowOf(tmux, own.pane)).zoomed)
      yield* tmux.run(["resize-pane", "-Z", "-t", own.pane])
      const { panes } = yield* windowOf(tmux, own.pane)
      assert.strictEqual(panes[0], monitor.pane)
      assert.include(panes, `${own.pane}*`)
    }))

  it.scopedLive("a program that is not there leaves no pane, and a sentence that names the one it was", () =>
    Effect.gen(function*() {
      const { place, tmux } = yield* coordinator()
      const all = yield* everything(tmux)
      // Its shell may live until it has its title.
      const said = Effect.match(place({ argv: ["/nowhere/node"] }), {
        onFailure: ({ message }) => message,
        onSuccess: () => ""
      })
      assert.match(
        yield* said,
        /^(|The monitor pane could not be finished: .* The pane %\d+ may have been left behind;.*)$/
      )
      yield* eventuallyTrue("the end of the pane", Effect.map(everything(tmux), (now) => now === all))
    }))
})
