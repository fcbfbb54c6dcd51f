import type { LaunchRequest } from "./Launch.ts"

/** One word of a POSIX shell that is exactly this text, whatever it contains; NUL cannot be passed to a program at all. */
export const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`

/**
 * Removes the exported variables whose names match a `case` pattern (`HERDR_*|PI_SESSION_*`), in any shell that can be
 * /bin/sh. A line inside a value may look like a variable of ours, but then only a name that does not exist is removed as
 * well. The loop's own variables stay in the subshell; `(` before each pattern is for the shell of macOS.
 */
export const unsetMatching = (pattern: string): string =>
  `unset -v _intercom $(
IFS='
'
set -f
for line in $(export -p); do
line=\${line#export }
line=\${line#declare -x }
line=\${line%%=*}
case $line in
(*[!A-Za-z0-9_]*) ;;
(${pattern}) echo "$line" ;;
esac
done
)`

/**
 * The script that a pane of Herdr runs (spec 5.1): removes itself first, enters the directory (exit 126 if it cannot),
 * removes the variables of other sessions and of tmux (spec 5), sets the environment and becomes the program. Directory,
 * values and arguments arrive byte for byte. `path` is where the script will lie.
 */
export const launchScript = (path: string, request: Omit<LaunchRequest, "root">): string =>
  [
    "#!/bin/sh",
    `rm -f -- ${quoted(path)}`,
    `cd -- ${quoted(request.directory)} || exit 126`,
    unsetMatching("TMUX*|PI_SESSION_*"),
    ...Object.entries(request.environment).map(([name, value]) => `export ${name}=${quoted(value)}`),
    `exec ${request.argv.map(quoted).join(" ")}`,
    ""
  ].join("\n")
