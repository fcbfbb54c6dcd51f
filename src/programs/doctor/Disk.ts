import { type ConfigUnusable, misnamedMend } from "../../domain/ConfigErrors.ts"
import type { Finding } from "../../domain/Finding.ts"
import type { Inspected, SeenLock, SeenTemporary, Trouble } from "../../domain/Inspected.ts"
import { empty } from "../../domain/JsonPlace.ts"

/** What was found on disk, as findings. */

const configAdvice: Readonly<Record<Exclude<ConfigUnusable["reason"], "misnamed">, string>> = {
  unreadable: "Make it readable for you (chmod u+r; a folder also needs u+x).",
  invalid: "Correct that place in the file, or put back its last good version from source control or a backup.",
  too_large: "Put back its last good version from source control or a backup, or take long texts out of it.",
  unsafe:
    "Put a plain file or folder of your own in its place; if all that is wrong is who may write to it, run chmod o-w on it."
}

/** Nothing in it can be corrected; a session that finds no file at all begins a team anew only when it is told to. */
const emptyAdvice = "Put back its last good version from source control or a backup: who is in the team stands there " +
  "only. If there is none, remove the file, and type /intercom start in the session that is to coordinate; what " +
  "workers' Pis have saved stays."

const configMend = ({ detail, reason }: ConfigUnusable): string =>
  reason === "misnamed"
    ? misnamedMend
    : `${
      detail === empty ? emptyAdvice : configAdvice[reason]
    } Then run /reload in the sessions that say they are inactive.`

/** A team file that cannot be used. */
export const ofConfig = (unusable: ConfigUnusable): Finding => ({
  code: `config_${unusable.reason}`,
  what: `${unusable.file} cannot be used for a team: ${unusable.detail}; nothing overwrites it, and no session can ` +
    "act on it.",
  advice: configMend(unusable)
})

const means: Readonly<Record<Trouble["place"], string>> = {
  state: "so sessions of this team stay inactive here",
  secret: "so sessions of this team cannot prove themselves to each other here",
  record: "so what is done with that record is refused",
  logs: "so the monitor cannot see all that sessions do; messages are not affected",
  reports: "so reports of workers are not saved"
}

const ofTrouble = ({ detail, mend, path, place }: Trouble): Finding => ({
  code: `${place}_unusable`,
  what: `The folder or file ${path} cannot be used: ${detail}, ${means[place]}.`,
  advice: mend
})

const ofLock = ({ file, owner, pid, takeover }: SeenLock): ReadonlyArray<Finding> => {
  const process = pid === undefined ? "a process" : `process ${pid}`
  const once = owner === "gone"
    ? "It has ended: remove that file."
    : "Once you know that it has ended, remove that file."
  if (owner === "alive") return []
  if (owner === "unreadable") {
    return [{
      code: "lock_unreadable",
      what: `${file} is in the place of a lock and is none of Intercom's, so what it locks cannot be used.`,
      advice: "Once no session of this team runs, remove that file."
    }]
  }
  if (takeover) {
    return [{
      code: "takeover_left",
      what: `${file} was left by ${process}, which was taking over a dead process's lock, so nobody else may take it.`,
      advice: once
    }]
  }
  return owner === "gone"
    ? [{
      code: "lock_stale",
      what: `The lock ${file} was left by ${process}, which has ended.`,
      advice: "Whoever needs it next replaces it. To be rid of it now, close this team's sessions and remove that file."
    }]
    : [{
      code: "lock_unknown",
      what: `The lock ${file} may be held by ${process}, of which nothing can be told from here (it ran in another ` +
        "container or on another machine), so what it locks waits.",
      advice: once
    }]
}

const ofTemporary = ({ file, maker }: SeenTemporary): Finding =>
  maker === "gone"
    ? {
      code: "temporary_left",
      what: `The temporary file ${file} was left by a process that has ended.`,
      advice: "Remove that file; the coordinator does so too at its next start."
    }
    : {
      code: "temporary_left",
      what: `The temporary file ${file} is of a process of which nothing can be told from here.`,
      advice: "Once no session of this team runs, remove that file."
    }

const ofScript = (file: string): Finding => ({
  code: "script_left",
  what: `The launch script ${file} was written for a tab that has not started it.`,
  advice: "If no tab waits to start it, remove that file."
})

const ofMonitor = (file: string): Finding => ({
  code: "monitor_unfinished",
  what: `A monitor pane was begun and not finished (${file}), so it is not tried again.`,
  advice: "Close that pane if it is there and remove that file; the coordinator makes a new one at its next start."
})

/** What lies on disk and should not, or not like that. */
export const ofInspected = (seen: Inspected): ReadonlyArray<Finding> => {
  // Whoever looks after the pane just now may be about to finish it.
  const placing = seen.locks.some(({ file, owner }) => file.endsWith("monitor.lock") && owner === "alive")
  return [
    ...seen.troubles.map(ofTrouble),
    ...seen.locks.flatMap(ofLock),
    ...seen.scripts.map(ofScript),
    ...seen.temporaries.map(ofTemporary),
    ...(placing ? [] : seen.unfinishedMonitors.map(ofMonitor))
  ]
}
