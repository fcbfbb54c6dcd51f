import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { spawn, spawnSync } from "node:child_process"
import { once } from "node:events"
import * as fs from "node:fs"
import { join } from "node:path"
import { vi } from "vitest"
import type { FindingCode } from "../../../src/domain/Finding.ts"
import { logName } from "../../../src/domain/LogFiles.ts"
import { assertOnly, type Examined, examined } from "../../support/doctor/Examined.ts"

// Pi's own resolution looks at it, in this process.
vi.stubEnv("PI_OFFLINE", "1")

const asRoot = process.getuid?.() === 0

/** Something wrong on disk: made, found with its sentences, and gone once its advice was followed. */
interface Case {
  readonly what: string
  readonly code: FindingCode
  readonly says: RegExp
  readonly advice: RegExp
  readonly make: (team: Examined) => void | Effect.Effect<void, never, Scope.Scope>
  readonly follow: (team: Examined) => void | Effect.Effect<unknown, Error, Scope.Scope>
  readonly needsRoot?: boolean
}

const run = <E, R>(step: void | Effect.Effect<unknown, E, R>) => step ?? Effect.void

const identityOf = (pid: number) => ({
  pid,
  startTicks: fs.readFileSync(`/proc/${pid}/stat`, "utf8").replace(/^.*\) /s, "").split(" ")[19] ?? "",
  bootId: fs.readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim(),
  machineId: fs.existsSync("/etc/machine-id") ? fs.readFileSync("/etc/machine-id", "utf8").trim() : "",
  pidNamespace: fs.readlinkSync("/proc/self/ns/pid")
})
/** A process that held something and was killed. */
const killed = Effect.promise(async () => {
  const child = spawn("sleep", ["1000"], { stdio: "ignore" })
  const identity = identityOf(child.pid ?? 0)
  child.kill("SIGKILL")
  await once(child, "exit")
  return identity
})
const write = (file: string, content: unknown, mode = 0o600): void =>
  fs.writeFileSync(file, typeof content === "string" ? content : JSON.stringify(content), { mode })
const gone = (): number => spawnSync("true").pid
const monitor = (team: Examined) => join(team.own, `monitor-${"a".repeat(24)}.json`)
const launch = (team: Examined): string => {
  fs.mkdirSync(join(team.own, "launch"), { mode: 0o700 })
  return join(team.own, "launch/0b5.sh")
}
const foreignLog = (team: Examined) => join(logs(team), `${logName("00000000-0000-4000-8000-000000000001")}`)
const logs = ({ root }: Examined) => join(root, ".pi-intercom/logs")

/** Keeps a good copy of the team file, as source control does, before it is spoilt. */
const spoil = (team: Examined, text: string): void => {
  fs.copyFileSync(team.config, join(team.base, "good"))
  fs.writeFileSync(team.config, text)
}
const restore = (team: Examined): void => fs.copyFileSync(join(team.base, "good"), team.config)

const sourceControl = /last good version from source control or a backup/
const plainOwn = /Put a plain file or folder of your own in its place; .* run chmod o-w on it/
const removeIt = /^Remove it, then run \/reload/
const chmodPrivate = /If nobody else has used it, run chmod -R u=rwX,go= on it/

const cases: ReadonlyArray<Case> = [
  {
    what: "the team file is not JSON",
    code: "config_invalid",
    says: /config\.json cannot be used for a team: it is not valid JSON \(line 3, column 3\); nothing overwrites it/,
    advice: sourceControl,
    make: (team) => spoil(team, "{\n  \"version\": 1\n  \"agents\": []\n}\n"),
    follow: restore
  },
  {
    what: "the team file is empty",
    code: "config_invalid",
    says: /config\.json cannot be used for a team: it is empty; nothing overwrites it/,
    advice: /^Put back its last good version .* If there is none, remove the file, and type \/intercom start in/,
    make: (team) => fs.truncateSync(team.config),
    follow: (team) =>
      Effect.gen(function*() {
        fs.rmSync(team.config)
        const coordinator = yield* team.member("c-1")
        yield* coordinator.command("start")
        yield* coordinator.tool("intercom_set_multiplexer", { multiplexer: "tmux" })
        yield* coordinator.close
      })
  },
  {
    what: "a place in the team file is wrong",
    code: "config_invalid",
    says: /agents\[1\]\.port: /,
    advice: /^Correct that place in the file/,
    make: (team) => team.edit(([, ada]) => Object.assign(ada ?? {}, { port: 0 })),
    follow: (team) => team.edit(([, ada]) => Object.assign(ada ?? {}, { port: team.adasPort }))
  },
  {
    what: "the team file is larger than 8 MiB",
    code: "config_too_large",
    says: /it is larger than 8 MiB/,
    advice: sourceControl,
    make: (team) => spoil(team, " ".repeat(8 * 1024 * 1024 + 1)),
    follow: restore
  },
  {
    what: "the team file is a link",
    code: "config_unsafe",
    says: /it is a symbolic link/,
    advice: plainOwn,
    make: (team) => {
      fs.renameSync(team.config, join(team.base, "elsewhere"))
      fs.symlinkSync(join(team.base, "elsewhere"), team.config)
    },
    follow: (team) => {
      fs.rmSync(team.config)
      fs.copyFileSync(join(team.base, "elsewhere"), team.config)
    }
  },
  {
    what: "everybody may write to the team's folder",
    code: "config_unsafe",
    says: /\.pi-intercom cannot be used for a team: every user of this machine may write to it/,
    advice: plainOwn,
    make: (team) => fs.chmodSync(join(team.root, ".pi-intercom"), 0o777),
    follow: (team) => void spawnSync("chmod", ["o-w", join(team.root, ".pi-intercom")])
  },
  {
    what: "the team file is another user's",
    code: "config_unsafe",
    says: /it belongs to another user/,
    advice: plainOwn,
    needsRoot: true,
    make: (team) => fs.chownSync(team.config, 4242, 4242),
    follow: (team) => {
      write(`${team.config}.mine`, fs.readFileSync(team.config, "utf8"), 0o644)
      fs.renameSync(`${team.config}.mine`, team.config)
    }
  },
  {
    what: "the state folder is open to others",
    code: "state_unusable",
    says: /its permissions are not 700, so sessions of this team stay inactive here/,
    advice: chmodPrivate,
    make: (team) => fs.chmodSync(team.own, 0o755),
    follow: (team) => void spawnSync("chmod", ["-R", "u=rwX,go=", team.own])
  },
  {
    what: "the state folder is a link",
    code: "state_unusable",
    says: /it is a symbolic link/,
    advice: removeIt,
    make: (team) => {
      fs.renameSync(team.own, join(team.base, "own"))
      fs.symlinkSync(join(team.base, "own"), team.own)
    },
    follow: (team) => fs.rmSync(team.own)
  },
  {
    what: "everybody may write to the state directory",
    code: "state_unusable",
    says: /state cannot be used: every user of this machine may write to it/,
    advice: /run chmod go-w on it/,
    make: (team) => fs.chmodSync(team.state, 0o777),
    follow: (team) => void spawnSync("chmod", ["go-w", team.state])
  },
  {
    what: "the secret is readable by others",
    code: "secret_unusable",
    says: /secret cannot be used: its permissions are not 600, so sessions of this team cannot prove themselves/,
    advice: chmodPrivate,
    make: (team) => fs.chmodSync(join(team.own, "secret"), 0o644),
    follow: (team) => void spawnSync("chmod", ["-R", "u=rwX,go=", join(team.own, "secret")])
  },
  {
    what: "the secret is too short",
    code: "secret_unusable",
    says: /it is not exactly 32 bytes long/,
    advice: /Close this team's sessions, remove it, and start again/,
    make: (team) => fs.truncateSync(join(team.own, "secret"), 31),
    follow: (team) => {
      fs.rmSync(join(team.own, "secret"))
      return team.reload("c-1")
    }
  },
  {
    what: "the record of resumes is none",
    code: "record_unusable",
    says: /processes\.json cannot be used: it is not a record of resumed and closing workers/,
    advice: /Once no worker is being resumed or closed, remove it/,
    make: (team) => write(join(team.own, "processes.json"), "{}"),
    follow: (team) => fs.rmSync(join(team.own, "processes.json"))
  },
  {
    what: "the record of a monitor pane is none",
    code: "record_unusable",
    says: /monitor-a+\.json cannot be used: it is not a record of a monitor pane/,
    advice: /Once the coordinator has no monitor pane, remove it/,
    make: (team) => write(monitor(team), "{}"),
    follow: (team) => fs.rmSync(monitor(team))
  },
  {
    what: "a monitor pane was begun and not finished",
    code: "monitor_unfinished",
    says: /A monitor pane was begun and not finished \(.*monitor-a+\.json\), so it is not tried again/,
    advice: /Close that pane if it is there and remove that file/,
    make: (team) =>
      write(monitor(team), { version: 1, sessionId: "c-1", workspace: "w1", caller: "w1:p1", stage: "creating" }),
    follow: (team) => fs.rmSync(monitor(team))
  },
  {
    what: "the log folder is a link",
    code: "logs_unusable",
    says: /logs cannot be used: it is a symbolic link.*, so the monitor cannot see all that sessions do/,
    advice: /^Remove it, then run \/reload in the sessions that are open/,
    make: (team) => {
      fs.rmSync(logs(team), { recursive: true })
      fs.symlinkSync(team.base, logs(team))
    },
    follow: (team) => fs.rmSync(logs(team))
  },
  {
    what: "everybody may write to the log folder",
    code: "logs_unusable",
    says: /every user of this machine may write to it/,
    advice: /^Run chmod o-w on it/,
    make: (team) => fs.chmodSync(logs(team), 0o707),
    follow: (team) => void spawnSync("chmod", ["o-w", logs(team)])
  },
  {
    what: "a link is in the place of a log",
    code: "logs_unusable",
    says: /logs\/writer-[0-9a-f-]{36}\.jsonl cannot be used: it is a symbolic link/,
    advice: /^Remove it: no session needs it/,
    make: (team) => fs.symlinkSync(team.config, foreignLog(team)),
    follow: (team) => fs.rmSync(foreignLog(team))
  },
  {
    what: "a file is in the place of the reports",
    code: "reports_unusable",
    says: /reports cannot be used: it is not a folder, so reports of workers are not saved/,
    advice: /^Remove it/,
    make: (team) => write(join(team.root, ".pi-intercom/reports"), ""),
    follow: (team) => fs.rmSync(join(team.root, ".pi-intercom/reports"))
  },
  {
    what: "a killed process left its session lock",
    code: "lock_stale",
    says: /^The lock .*session-[0-9a-f]{24}\.lock was left by process \d+, which has ended/,
    advice: /^Whoever needs it next replaces it/,
    make: (team) => Effect.map(killed, (identity) => write(team.lock("w-1"), identity)),
    follow: (team) => team.reload("w-1")
  },
  {
    what: "a killed process left config.lock",
    code: "lock_stale",
    says: /config\.lock was left by process \d+, which has ended/,
    advice: /close this team's sessions and remove that file/,
    make: (team) => Effect.map(killed, (identity) => write(join(team.own, "config.lock"), identity)),
    follow: (team) => fs.rmSync(join(team.own, "config.lock"))
  },
  {
    what: "a process of another machine may hold a lock",
    code: "lock_unknown",
    says: /config\.lock may be held by process \d+, of which nothing can be told from here/,
    advice: /^Once you know that it has ended, remove that file/,
    make: (team) =>
      write(join(team.own, "config.lock"), { ...identityOf(process.pid), bootId: "another", machineId: "another" }),
    follow: (team) => fs.rmSync(join(team.own, "config.lock"))
  },
  {
    what: "something else is in the place of a lock",
    code: "lock_unreadable",
    says: /monitor\.lock is in the place of a lock and is none of Intercom's/,
    advice: /^Once no session of this team runs, remove that file/,
    make: (team) => write(join(team.own, "monitor.lock"), "mine"),
    follow: (team) => fs.rmSync(join(team.own, "monitor.lock"))
  },
  {
    what: "a killed process left a take-over",
    code: "takeover_left",
    says: /config\.lock\.takeover was left by process \d+, which was taking over/,
    advice: /^It has ended: remove that file/,
    make: (team) => Effect.map(killed, (identity) => write(join(team.own, "config.lock.takeover"), identity)),
    follow: (team) => fs.rmSync(join(team.own, "config.lock.takeover"))
  },
  {
    what: "a lock that others may read",
    code: "state_unusable",
    says: /config\.lock cannot be used: its permissions are not 600/,
    advice: chmodPrivate,
    make: (team) => write(join(team.own, "config.lock"), identityOf(process.pid), 0o644),
    follow: (team) => void spawnSync("chmod", ["-R", "u=rwX,go=", join(team.own, "config.lock")])
  },
  {
    what: "a launch script was never started",
    code: "script_left",
    says: /launch\/0b5\.sh was written for a tab that has not started it/,
    advice: /^If no tab waits to start it, remove that file/,
    make: (team) => {
      const file = launch(team)
      write(file, "", 0o700)
      fs.utimesSync(file, 1, 1)
    },
    follow: (team) => fs.rmSync(join(team.own, "launch/0b5.sh"))
  },
  {
    what: "a killed process left a temporary",
    code: "temporary_left",
    says: /config\.json\.\d+-99-1\.tmp was left by a process that has ended/,
    advice: /^Remove that file; the coordinator does so too at its next start/,
    make: (team) => write(`${team.config}.${gone()}-99-1.tmp`, ""),
    follow: (team) => team.reload("c-1")
  },
  {
    what: "a temporary of nobody knows whom",
    code: "temporary_left",
    says: /secret\.\d+-0-1\.tmp is of a process of which nothing can be told/,
    advice: /^Once no session of this team runs, remove that file/,
    make: (team) => write(join(team.own, "secret.4194300-0-1.tmp"), ""),
    follow: (team) => fs.rmSync(join(team.own, "secret.4194300-0-1.tmp"))
  }
]

describe("what the doctor finds on disk", () => {
  it.scopedLive("of a healthy team nothing, open or closed, nor of one that was just cloned", () =>
    Effect.gen(function*() {
      const team = yield* examined
      assert.deepStrictEqual([...(yield* team.findings)], [])
      const [coordinator, ada] = [yield* team.member("c-1"), yield* team.member("w-1")]
      assert.deepStrictEqual([coordinator.role, ada.role], ["coordinator", "worker"])
      write(launch(team), "", 0o700)
      assert.deepStrictEqual([...(yield* team.diagnosis).findings], [])
      yield* ada.close
      yield* coordinator.close
      fs.rmSync(team.state, { recursive: true })
      fs.rmSync(logs(team), { recursive: true })
      assert.deepStrictEqual([...(yield* team.findings)], [])
      assert.isFalse(fs.existsSync(team.state))
    }))

  it.scopedLive("more logs than are looked at, and what only a team file says, are not checked", () =>
    Effect.gen(function*() {
      const team = yield* examined
      for (let n = 0; n < 4200; n += 1) write(join(logs(team), `old-${n}.txt`), "")
      const { findings, notChecked } = yield* team.diagnosis
      assert.deepStrictEqual([...findings], [])
      assert.include(notChecked, "every file of a folder that has more than 4096")
      assert.include(notChecked, "all that sessions did, since not all of their logs fits into one look")
      spoil(team, "{")
      assert.include(
        (yield* team.diagnosis).notChecked,
        "ports, closes, resumes, times and the multiplexer, since the team file cannot be used"
      )
    }))

  for (const one of cases) {
    it.scopedLive(`${one.what}, until its advice was followed`, (context) =>
      Effect.gen(function*() {
        if (one.needsRoot === true && !asRoot) return context.skip("only root can give files to others")
        const team = yield* examined
        yield* run(one.make(team))
        assertOnly(yield* team.findings, one.code, one.says, one.advice)
        yield* run(one.follow(team))
        assert.deepStrictEqual([...(yield* team.findings)], [])
      }))
  }
})
