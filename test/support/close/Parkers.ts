import * as Effect from "effect/Effect"
import { build } from "esbuild"
import { randomUUID } from "node:crypto"
import * as fs from "node:fs"
import * as path from "node:path"
import { node22 } from "../HostVersions.ts"
import type { CloseTeam } from "./CloseTeam.ts"

const modules = path.resolve(import.meta.dirname, "../../../node_modules")

/**
 * Starts so many members without Pi (ParkerChild) in tabs of tmux beside the workers, as a person would, and waits until
 * they have their names; and what lets them hand off, when they are asked.
 */
export const start = (team: CloseTeam, count: number) =>
  Effect.gen(function*() {
    const { agentDir, command, entry, project, root, tmux } = team.harness
    const [program, go] = [path.join(root, "parker.cjs"), path.join(root, "go")]
    fs.symlinkSync(modules, path.join(root, "node_modules"))
    yield* Effect.promise(() =>
      build({
        entryPoints: [path.join(import.meta.dirname, "ParkerChild.ts")],
        outfile: program,
        bundle: true,
        platform: "node",
        target: "node22",
        format: "cjs",
        external: ["@earendil-works/*", "pi-0-84"],
        logLevel: "warning"
      })
    )
    const variables = Object.entries(command().environment).map(([name, value]) => `${name}=${value}`)
    const { session } = (yield* tmux.panes).find(({ pane }) => pane === team.coordinator().pane) ?? { session: "" }
    const opened = yield* Effect.forEach(Array.from({ length: count }), () =>
      Effect.gen(function*() {
        const sessionId = randomUUID()
        const pane = yield* tmux.run([
          ...["new-window", "-t", `${session}:`, "-d", "-P", "-F", "#{pane_id}", "-c", project, "--", "env"],
          ...[...variables, `NODE_COMPILE_CACHE=${path.join(root, "cache")}`],
          ...[node22, program, sessionId, project, entry, agentDir, go]
        ])
        return { sessionId, pane: pane.trim() }
      }))
    const parkers = yield* Effect.forEach(opened, ({ pane, sessionId }) => team.joined(sessionId, pane))
    return { parkers, go: Effect.sync(() => fs.writeFileSync(go, "")) }
  })
