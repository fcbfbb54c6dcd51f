import { assert, describe, expect, it } from "@effect/vitest"
import * as fs from "node:fs"
import * as path from "node:path"
import { widthOf } from "../../monitor/Columns.ts"
import { initial, type State, withKey, withSnapshot } from "../../monitor/State.ts"
import { bare } from "../../monitor/Style.ts"
import { view } from "../../monitor/View.ts"
import { SessionId } from "../../src/domain/Primitives.ts"
import type { Snapshot } from "../../src/domain/Snapshot.ts"
import { snapshot } from "../support/SnapshotScripted.ts"
import { now, team } from "./Example.ts"

const details = withKey(team, "enter", now)
const without = (noTeam: NonNullable<Snapshot["noTeam"]>): Snapshot =>
  snapshot([], now, { errors: ["config_unavailable"], noTeam })
const unusable = without("unusable")
const failed = withSnapshot(team, unusable, now)
const many = withSnapshot(
  initial("/team", now),
  snapshot(
    Array.from({ length: 20 }, (_, turn) =>
      (team.good?.workers ?? []).map((one) => ({
        ...one,
        agent: { ...one.agent, sessionId: SessionId.make(`${one.agent.sessionId}-${turn}`) }
      }))).flat(),
    now
  ),
  now
)

/** By name: a state, its size, and how much later it is looked at. */
const frames: ReadonlyArray<readonly [name: string, state: State, width: number, height: number, later?: number]> = [
  ["table-120x16", team, 120, 16],
  ["table-200x50", team, 200, 50],
  ["table-120x12", team, 120, 12],
  ["table-80x24", team, 80, 24],
  ["table-60x10", team, 60, 10],
  ["table-40x8", team, 40, 8],
  ["table-12x5", team, 12, 5],
  ["details-200x50", details, 200, 50],
  ["details-120x40", details, 120, 40],
  ["details-120x12", details, 120, 12],
  ["details-80x24", details, 80, 24],
  ["details-40x20", details, 40, 20],
  ["details-40x8", details, 40, 8],
  ["details-second-page-40x8", withKey(details, "space", now), 40, 8],
  ["scrolled-100x12", [..."jjjjjjjjjjjjjjjjjjjj"].reduce((state, key) => withKey(state, key, now), many), 100, 12],
  ["failed-100x16", failed, 100, 16, 45_000],
  ["failed-80x2", failed, 80, 2, 45_000],
  ["partial-80x16", withSnapshot(team, snapshot(team.good?.workers ?? [], now, { truncated: true }), now), 80, 16],
  ["hung-100x16", team, 100, 16, 45_000],
  ["reading-60x4", initial("/team", now), 60, 4],
  ["still-reading-60x6", initial("/home/ada/project", now), 60, 6, 150_000],
  ["no-folder-60x6", withSnapshot(initial("/home/ada/projekt", now), without("no_folder"), now), 60, 6],
  ["no-file-60x6", withSnapshot(initial("/home/ada/project", now), without("no_file"), now), 60, 6],
  ["no-file-hung-60x6", withSnapshot(initial("/home/ada/project", now), without("no_file"), now), 60, 6, 45_000],
  ["unusable-60x6", withSnapshot(initial("/home/ada/project", now), unusable, now), 60, 6],
  ["no-workers-60x6", withSnapshot(initial("/team", now), snapshot([], now), now), 60, 6]
]

const folder = path.join(import.meta.dirname, "frames")
// Before any test could write one: a frame without its file is a failure, not a new file.
const kept = new Set(fs.readdirSync(folder))

describe("frames as a person sees them (the margins are not part of them)", () => {
  it.each(frames.map(([name, state, width, height, later = 0]) => ({ name, state, width, height, later })))(
    "$name",
    async ({ name, state, width, height, later }) => {
      assert.isTrue(kept.has(`${name}.txt`), `no frames/${name}.txt; for a new frame: touch it, then vitest run -u`)
      const lines = view(state, { width, height, now: now + later, version: "0.1.0", style: bare })
      const shown = lines.map((line) => `|${line}${" ".repeat(width - widthOf(line))}|\n`).join("")
      await expect(shown).toMatchFileSnapshot(path.join(folder, `${name}.txt`))
    }
  )

  it("every file is of a frame", () => {
    assert.deepStrictEqual([...kept].toSorted(), frames.map(([name]) => `${name}.txt`).toSorted())
  })
})
