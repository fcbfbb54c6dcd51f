import { assert, describe, it } from "@effect/vitest"
import * as FastCheck from "effect/FastCheck"
import { commandLine, encoded, launchScript, quoted } from "../../src/domain/PowerShell.ts"

const hostile = FastCheck.stringOf(
  FastCheck.oneof(
    FastCheck.constantFrom(
      "'",
      "\"",
      "‘",
      "’",
      "‚",
      "‛",
      "“",
      "\\",
      "\\\"",
      "$",
      "`",
      "\n",
      "\r",
      " ",
      "\t",
      "-",
      "%",
      "&",
      "^"
    ),
    FastCheck.constantFrom("$(", "@'", "'@", "<#", "#", ";", "é", "漢", "🙂", "\ud800", "\u0001", "\u2028"),
    FastCheck.char16bits().filter((char) => char !== "\0")
  ),
  { maxLength: 30 }
)
const edges = ["", "\\", "\"", "\\\"", "a\\", "a b\\", "\\\\", "-", "--", "’", "''", "%PATH%", "C:\\Program Files\\"]

/** What PowerShell takes for a single quote (its tokenizer's IsSingleQuote). */
const isQuote = (char: string | undefined): boolean => char !== undefined && "'‘’‚‛".includes(char)

/** Reads one single-quoted literal at `start` as PowerShell's tokenizer does; answers its text and where it ends. */
const literalAt = (script: string, start: number): readonly [text: string, end: number] => {
  if (!isQuote(script[start])) throw new Error(`no literal at ${start}`)
  let text = ""
  for (let at = start + 1; at < script.length; at++) {
    if (isQuote(script[at])) {
      if (!isQuote(script[at + 1])) return [text, at + 1]
      at += 1
    }
    text += script[at]
  }
  throw new Error("a literal without an end")
}

/** Every literal of a script; what stands between them is not looked into, so it must be ours. */
const literals = (script: string): { readonly texts: ReadonlyArray<string>; readonly between: string } => {
  const texts: Array<string> = []
  let between = ""
  for (let at = 0; at < script.length;) {
    if (isQuote(script[at])) {
      const [text, end] = literalAt(script, at)
      texts.push(text)
      between += "<>"
      at = end
    } else {
      between += script[at]
      at += 1
    }
  }
  return { texts, between }
}

/** How the C runtime of a Windows program takes a command line apart, the program's name left out (2008 and later). */
const argumentsOf = (line: string): ReadonlyArray<string> => {
  const found: Array<string> = []
  let at = 0
  while (at < line.length) {
    while (line[at] === " " || line[at] === "\t") at += 1
    if (at >= line.length) break
    let argument = ""
    let inQuotes = false
    for (; at < line.length && (inQuotes || (line[at] !== " " && line[at] !== "\t")); at++) {
      let backslashes = 0
      for (; line[at] === "\\"; at++) backslashes += 1
      if (line[at] === "\"") {
        argument += "\\".repeat(Math.floor(backslashes / 2))
        if (backslashes % 2 === 1) argument += "\""
        else if (inQuotes && line[at + 1] === "\"") {
          argument += "\""
          at += 1
        } else inQuotes = !inQuotes
      } else {
        argument += "\\".repeat(backslashes)
        if (at < line.length && (inQuotes || (line[at] !== " " && line[at] !== "\t"))) argument += line[at]
        else at -= 1
      }
    }
    found.push(argument)
  }
  return found
}

describe("PowerShell", () => {
  it("a quoted text is one literal, and exactly that text", () => {
    FastCheck.assert(
      FastCheck.property(hostile, (text) => {
        const script = quoted(text)
        assert.deepStrictEqual(literalAt(script, 0), [text, script.length])
      }),
      { numRuns: 2000 }
    )
    assert.strictEqual(quoted("it's ‘so’"), "'it''s ‘‘so’’'")
  })

  it("arguments come out of the command line as they went in", () => {
    FastCheck.assert(
      FastCheck.property(FastCheck.array(hostile), (drawn) => {
        const args = [...drawn, ...edges]
        assert.deepStrictEqual(argumentsOf(commandLine(args)), args)
      }),
      { numRuns: 2000 }
    )
    assert.strictEqual(commandLine(["", "a b", "say \"x\"", "C:\\a b\\"]), `"" "a b" "say \\"x\\"" "C:\\a b\\\\"`)
  })

  it("the script holds directory, environment and arguments as literals, and nothing of theirs outside them", () => {
    const environment = FastCheck.dictionary(FastCheck.constantFrom("PATH", "PI_INTERCOM_ROOT"), hostile)
    FastCheck.assert(FastCheck.property(hostile, environment, hostile, FastCheck.array(hostile), (...given) => {
      const [directory, variables, program, args] = given
      const script = launchScript({ argv: [program, ...args], directory, environment: variables }, ["PI_SESSION_*"])
      const { between, texts } = literals(script)
      assert.deepStrictEqual(texts.slice(0, -3), ["Stop", directory, ...Object.values(variables)])
      const [named, line, again] = texts.slice(-3)
      assert.strictEqual(named, program)
      assert.deepStrictEqual(argumentsOf(line ?? ""), args)
      assert.strictEqual(again, directory)
      assert.strictEqual(
        between,
        [
          "$ErrorActionPreference = <>",
          "Set-Location -LiteralPath <>",
          "Remove-Item Env:PI_SESSION_*",
          ...Object.keys(variables).map((name) => `$env:${name} = <>`),
          "$start = New-Object System.Diagnostics.ProcessStartInfo",
          "$start.FileName = <>",
          "$start.Arguments = <>",
          "$start.WorkingDirectory = <>",
          "$start.UseShellExecute = $false",
          "[System.Diagnostics.Process]::Start($start).WaitForExit()"
        ].join("\n")
      )
    }))
  })

  it("an encoded script is base64 of UTF-16LE, which no shell reads anything in", () => {
    FastCheck.assert(FastCheck.property(hostile, (script) => {
      const text = encoded(script)
      assert.match(text, /^[A-Za-z0-9+/]*={0,2}$/)
      assert.strictEqual(Buffer.from(text, "base64").toString("utf16le"), script)
    }))
    assert.strictEqual(encoded("dir"), "ZABpAHIA")
  })
})
