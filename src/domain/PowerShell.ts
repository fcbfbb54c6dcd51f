import * as Encoding from "effect/Encoding"
import type { LaunchRequest } from "./Launch.ts"

/**
 * A PowerShell literal that is exactly this text. PowerShell takes the typographic quotes ‘ ’ ‚ ‛ for the plain one; two
 * in a row are one of them.
 */
export const quoted = (text: string): string => `'${text.replace(/['‘’‚‛]/g, "$&$&")}'`

/**
 * One argument of a Windows command line, as the C runtime of the program takes it apart: in quotes, quotes in it
 * escaped, and backslashes doubled where they stand before a quote.
 */
const argument = (text: string): string => `"${text.replace(/(\\*)"/g, "$1$1\\\"").replace(/\\+$/, "$&$&")}"`

/** Arguments as the rest of a Windows command line after the program. */
export const commandLine = (args: ReadonlyArray<string>): string => args.map(argument).join(" ")

/**
 * The script that a new Windows tab or window runs (spec 5.1, 5.3): enters the directory (ends if it cannot), removes
 * the variables that match `removed`, sets the environment and runs the program in the same console. The program is
 * started by its command line and not by `&`: Windows PowerShell 5.1 drops empty arguments, passes quotes in them
 * unescaped and breaks on a final backslash, and PowerShell 7.3 does otherwise again. The working folder is named twice,
 * since PowerShell's location is not its process's. PowerShell takes an empty variable for one that is not set.
 */
export const launchScript = (request: Omit<LaunchRequest, "root">, removed: ReadonlyArray<string>): string => {
  const [program, ...args] = request.argv
  const directory = quoted(request.directory)
  return [
    "$ErrorActionPreference = 'Stop'",
    `Set-Location -LiteralPath ${directory}`,
    ...removed.map((pattern) => `Remove-Item Env:${pattern}`),
    ...Object.entries(request.environment).map(([name, value]) => `$env:${name} = ${quoted(value)}`),
    "$start = New-Object System.Diagnostics.ProcessStartInfo",
    `$start.FileName = ${quoted(program)}`,
    `$start.Arguments = ${quoted(commandLine(args))}`,
    `$start.WorkingDirectory = ${directory}`,
    "$start.UseShellExecute = $false",
    "[System.Diagnostics.Process]::Start($start).WaitForExit()"
  ].join("\n")
}

/** A script as the value of `-EncodedCommand`: base64 of UTF-16LE, so that no shell on the way reads anything in it. */
export const encoded = (script: string): string => {
  const bytes = new Uint8Array(script.length * 2)
  const view = new DataView(bytes.buffer)
  for (let index = 0; index < script.length; index++) view.setUint16(index * 2, script.charCodeAt(index), true)
  return Encoding.encodeBase64(bytes)
}
