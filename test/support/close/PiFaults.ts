import type { ExtensionAPI } from "@earendil-works/pi-coding-agent"
import { spawn } from "node:child_process"
import * as fs from "node:fs"
import * as http from "node:http"
import * as path from "node:path"

/**
 * An extension that every Pi of a closing team loads beside ours: it makes trouble while there are files that say so,
 * in the folder `faults` beside Pi's agent directory. `hold-<session>`: what is posted to this session waits at its door,
 * as on a slow way; its health still answers. `stubborn-<session>`: it does not end when its terminal goes. The command
 * `/child` starts a program as other extensions do, in Pi's own terminal, that does not end with it; its pid is in
 * `child-<session>`.
 */

const folder = path.join(process.env["PI_CODING_AGENT_DIR"] ?? "", "../faults")
const patched = "pi-intercom-test-faults"

const pause = (ms: number) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)

export default (pi: ExtensionAPI): void => {
  let session = ""
  const is = (fault: string) => fs.existsSync(path.join(folder, `${fault}-${session}`))
  pi.on("session_start", (_event, context) => {
    session = context.sessionManager.getSessionId()
  })
  pi.registerCommand("child", {
    description: "Starts a program that ignores SIGHUP",
    handler: () => {
      const child = spawn("sh", ["-c", "trap '' HUP; exec sleep 1000"], { stdio: "ignore" })
      fs.writeFileSync(path.join(folder, `child-${session}`), String(child.pid))
      return Promise.resolve()
    }
  })
  // A reloaded copy of this file finds the first one at work.
  if (patched in http.Server.prototype) return
  const { emit } = http.Server.prototype
  Object.assign(http.Server.prototype, {
    [patched]: true,
    emit(this: http.Server, event: string, ...args: ReadonlyArray<unknown>): boolean {
      const [request] = args
      const go = () => Reflect.apply(emit, this, [event, ...args])
      if (event !== "request" || !(request instanceof http.IncomingMessage)) return go()
      if (request.method !== "POST" || !is("hold")) return go()
      fs.appendFileSync(path.join(folder, `held-${session}`), "x")
      const timer = setInterval(() => {
        if (is("hold")) return
        clearInterval(timer)
        if (!request.socket.destroyed) go()
      }, 10)
      return true
    }
  })
  process.prependListener("SIGHUP", () => {
    while (is("stubborn")) pause(20)
  })
}
