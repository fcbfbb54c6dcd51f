import {
  DefaultPackageManager,
  type ExtensionAPI,
  getAgentDir,
  ProjectTrustStore,
  SessionManager,
  SettingsManager,
  VERSION,
  withFileMutationQueue
} from "@earendil-works/pi-coding-agent"
import { realpathSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { activate } from "./core.ts"

/**
 * What Pi loads, at each start and `/reload` and for each new session: passes the host in and registers handlers. It
 * opens nothing and starts no timers, since Pi also loads extensions in runs that never start a session (spec 3.2).
 */
export default function extension(pi: ExtensionAPI): void {
  activate(pi, {
    version: VERSION,
    entry: realpathSync(fileURLToPath(import.meta.url)),
    agentDir: getAgentDir,
    withFileMutationQueue,
    SettingsManager,
    SessionManager,
    ProjectTrustStore,
    DefaultPackageManager
  })
}
