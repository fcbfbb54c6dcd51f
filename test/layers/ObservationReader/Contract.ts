import { assert, describe, it } from "@effect/vitest"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import type { Seen, Snapshot } from "../../../src/domain/Snapshot.ts"
import type { ObservationLog } from "../../../src/services/ObservationLog.ts"
import type { ObservationReader } from "../../../src/services/ObservationReader.ts"
import type { ReportStore } from "../../../src/services/ReportStore.ts"
import { eventually } from "../../support/Eventually.ts"
import { report } from "../ReportStore/Contract.ts"

/** One machine on which sessions record and somebody reads. */
export interface Place {
  /** A root with a team of a coordinator and the workers ada, ben and cleo. */
  readonly root: string
  /** Where there is no team. */
  readonly nowhere: string
  readonly reader: ObservationReader["Type"]
  readonly reports: ReportStore["Type"]
  /** Starts a session; closing it is its orderly end. */
  readonly session: (id: string) => Effect.Effect<
    { readonly log: ObservationLog["Type"]; readonly close: Effect.Effect<void> },
    never,
    Scope.Scope
  >
}

/** What is seen of a worker. */
export const seenOf = (view: Snapshot, id: string): Seen | undefined =>
  view.workers.find(({ agent }) => agent.sessionId === id)?.seen

/** Waits until a worker is seen like this: records are written a little later. */
export const sees = (
  reader: ObservationReader["Type"],
  root: string,
  id: string,
  wanted: Pick<Seen, "observedStatus" | "lastActivity">
) =>
  eventually(
    `${id} is seen as ${wanted.observedStatus}, ${wanted.lastActivity}`,
    Effect.map(reader.snapshot(root), (view) => {
      const seen = seenOf(view, id)
      return seen?.observedStatus === wanted.observedStatus && seen.lastActivity === wanted.lastActivity
        ? Option.some(seen)
        : Option.none()
    })
  )

/** What every log and every reader of logs do together. */
export const contract = (name: string, place: Effect.Effect<Place, never, Scope.Scope>) => {
  describe(`observations: ${name}`, () => {
    it.scopedLive("the workers are there in saved order, whatever is known of them", () =>
      Effect.gen(function*() {
        const { nowhere, reader, root } = yield* place
        const before = yield* Clock.currentTimeMillis
        const view = yield* reader.snapshot(root)
        assert.isAtLeast(view.takenAt, before)
        assert.deepStrictEqual(view.workers.map(({ agent }) => agent.sessionId), ["ada", "ben", "cleo"])
        assert.deepStrictEqual([view.truncated, view.errors], [false, []])
        for (const { report, seen } of view.workers) {
          assert.isUndefined(report)
          assert.deepStrictEqual(seen, {
            observedStatus: "unknown",
            evidence: "missing",
            observedAt: undefined,
            lastActivity: undefined
          })
        }
        const none = yield* reader.snapshot(nowhere)
        assert.deepStrictEqual([none.workers, none.errors], [[], ["config_unavailable"]])
      }))

    it.scopedLive("a worker is seen by what it recorded last, and nobody else is", () =>
      Effect.gen(function*() {
        const { reader, root, session } = yield* place
        const { close, log } = yield* session("ada")
        yield* log.record({ event: "runtime.ready", role: "worker", port: 4000 })
        yield* log.open(root)
        yield* sees(reader, root, "ada", { observedStatus: "idle", lastActivity: undefined })
        yield* log.record({ event: "host.activity", busy: true, phase: "tool", detail: "reading_files" })
        yield* sees(reader, root, "ada", { observedStatus: "working", lastActivity: "Reading files" })
        yield* log.record({ event: "host.activity", busy: true, phase: "thinking", detail: "thinking" })
        yield* sees(reader, root, "ada", { observedStatus: "thinking", lastActivity: "Thinking" })
        yield* log.record({ event: "host.activity", busy: true, phase: "waiting", detail: "waiting_for_user" })
        yield* sees(reader, root, "ada", { observedStatus: "waiting", lastActivity: "Waiting for you" })
        yield* log.record({ event: "host.activity", busy: true, phase: "working", detail: "processing" })
        yield* sees(reader, root, "ada", { observedStatus: "working", lastActivity: "Waiting for you" })
        yield* log.record({ event: "host.activity", busy: false, phase: "idle", detail: "settled" })
        const seen = yield* sees(reader, root, "ada", { observedStatus: "idle", lastActivity: "Waiting for you" })
        assert.strictEqual(seen.evidence, "recent")
        yield* log.record({ event: "transport.send", kind: "message", peerSessionId: "ben" })
        yield* close
        yield* sees(reader, root, "ada", { observedStatus: "closed", lastActivity: "Waiting for you" })
        const view = yield* reader.snapshot(root)
        assert.deepStrictEqual(["ben", "cleo"].map((id) => seenOf(view, id)?.evidence), ["missing", "missing"])
      }))

    it.scopedLive("a session that starts again is seen by its new start", () =>
      Effect.gen(function*() {
        const { reader, root, session } = yield* place
        const first = yield* session("ben")
        yield* first.log.open(root)
        yield* first.log.record({ event: "host.activity", busy: true, phase: "tool", detail: "running_command" })
        yield* first.close
        yield* sees(reader, root, "ben", { observedStatus: "closed", lastActivity: "Running command" })
        const second = yield* session("ben")
        yield* second.log.open(root)
        yield* second.log.record({ event: "runtime.ready", role: "worker", port: 4000 })
        yield* sees(reader, root, "ben", { observedStatus: "idle", lastActivity: undefined })
      }))

    it.scopedLive("reports of the team's workers are shown until they are taken back", () =>
      Effect.gen(function*() {
        const { reader, reports, root } = yield* place
        yield* reports.save(root, report("cleo"))
        yield* reports.save(root, report("stranger"))
        const shown = Effect.map(reader.snapshot(root), (view) => view.workers.map((worker) => worker.report))
        assert.deepStrictEqual(yield* shown, [undefined, undefined, report("cleo")])
        yield* reports.save(root, report("cleo", { status: "blocked", summary: "漢字" }))
        assert.deepStrictEqual(yield* shown, [
          undefined,
          undefined,
          report("cleo", { status: "blocked", summary: "漢字" })
        ])
        yield* reports.save(root, report("cleo", { status: "clear", summary: "" }))
        assert.deepStrictEqual(yield* shown, [undefined, undefined, undefined])
      }))
  })
}
