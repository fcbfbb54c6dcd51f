import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { temporaryFolder } from "./TempFolder.ts"

/** The machine has no browser to test with. */
export class NoBrowser extends Data.TaggedError("NoBrowser")<{ readonly detail: string }> {
  override get message(): string {
    return `This test needs a real browser and could not start one (${this.detail}). ` +
      "On Debian: apt-get install -y --no-install-recommends chromium"
  }
}

const end = (child: ChildProcess): Effect.Effect<void> =>
  Effect.promise(async () => {
    if (child.pid === undefined || child.exitCode !== null) return
    const exited = once(child, "exit")
    // Its own process group: the renderers end with it.
    process.kill(-child.pid, "SIGKILL")
    await exited
  })

/**
 * Debian's chromium, headless, on one page, until the scope ends. `rebound` is a name that it resolves to 127.0.0.1, as
 * the name server of an attacker would.
 */
export const chromium = (url: string, rebound: string): Effect.Effect<void, NoBrowser, Scope.Scope> =>
  Effect.flatMap(temporaryFolder, (folder) =>
    Effect.acquireRelease(
      Effect.async<ChildProcess, NoBrowser>((resume) => {
        const child = spawn("chromium", [
          "--headless=new",
          // Root may not use the sandbox; the page is ours.
          "--no-sandbox",
          "--disable-gpu",
          "--disable-dev-shm-usage",
          "--no-first-run",
          "--disable-background-networking",
          "--disable-component-update",
          `--host-resolver-rules=MAP ${rebound} 127.0.0.1`,
          `--user-data-dir=${folder}/profile`,
          url
        ], { stdio: "ignore", detached: true, env: { PATH: process.env["PATH"], HOME: folder } })
        child.once("error", (error) => resume(new NoBrowser({ detail: error.message })))
        child.once("spawn", () => resume(Effect.succeed(child)))
      }),
      end
    ))
