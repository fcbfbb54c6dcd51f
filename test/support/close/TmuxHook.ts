import { execFileSync } from "node:child_process"
import * as fs from "node:fs"
import * as path from "node:path"

/** A `tmux` for one session of a team, which notes each call and, while there is a hook, does what that says. */
export interface TmuxHook {
  /** The folder of the program, to be first in a PATH. */
  readonly bin: string
  /** The real program. */
  readonly real: string
  /**
   * From now on each call runs this shell text first, with the call as `"$@"` and the real program as `$tmux`; it may
   * `unhook`, so that it happens once, and it may exit instead of going on.
   */
  readonly hook: (script: string) => void
  /** The calls of programs in panes so far, their arguments joined. */
  readonly calls: () => ReadonlyArray<string>
}

/** Writes it below a folder that exists. */
export const make = (folder: string): TmuxHook => {
  const real = execFileSync("sh", ["-c", "command -v tmux"], { encoding: "utf8" }).trim()
  const [bin, hook, log] = ["bin-tmux", "tmux-hook", "tmux-calls"].map((name) => path.join(folder, name))
  if (bin === undefined || hook === undefined || log === undefined) throw new Error("three names")
  fs.mkdirSync(bin)
  const script = `#!/bin/sh
tmux=${real}
unhook() { rm "${hook}"; }
[ -z "$TMUX_PANE" ] || printf '%s\\n' "$*" >>"${log}"
if [ -e "${hook}" ]; then . "${hook}"; fi
exec "$tmux" "$@"
`
  fs.writeFileSync(path.join(bin, "tmux"), script, { mode: 0o755 })
  return {
    bin,
    real,
    hook: (text) => {
      fs.writeFileSync(`${hook}~`, text)
      fs.renameSync(`${hook}~`, hook)
    },
    calls: () => fs.existsSync(log) ? fs.readFileSync(log, "utf8").split("\n").slice(0, -1) : []
  }
}
