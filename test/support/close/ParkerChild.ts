import * as Effect from "effect/Effect"
import * as fs from "node:fs"
import * as Member from "../member/Member.ts"

/**
 * A process in a pane that is a member of a team, as Pi is, and hands off when it is asked, once there is the file that
 * its last argument names. Started by Parkers.ts.
 */

const [id = "", directory = "", entry = "", agentDir = "", go = ""] = process.argv.slice(2)
const asked = /^\[Intercom close request[^\]]*\]\n[\s\S]*\njobId: (\S+)$/

const parks = Effect.gen(function*() {
  const { host, save, tool } = yield* Member.open(id, directory, "1.6.0", { entry, agentDir })
  host.file = save(id, directory)
  // Ends at once when its terminal goes, as Pi does: the listeners of Pi's packages take it longer.
  process.removeAllListeners("SIGHUP")
  const done = new Set<string>()
  for (;;) {
    yield* Effect.sleep("20 millis")
    const jobId = host.texts.flatMap((text) => asked.exec(text)?.[1] ?? []).find((one) => !done.has(one))
    if (jobId === undefined || !fs.existsSync(go)) continue
    done.add(jobId)
    const call = { id: `call-${jobId}`, epoch: host.work.state().epoch }
    yield* tool("intercom_report_handoff", { jobId, summary: `HANDOFF 1 of ${jobId}` }, call)
    host.results = [...host.results, { toolCallId: call.id, isError: false }]
    host.work.see({ type: "settled", restarted: false })
  }
})

Effect.runFork(Effect.scoped(parks))
