import { assert, describe, it } from "@effect/vitest"
import * as FastCheck from "effect/FastCheck"
import {
  fits,
  isSupported,
  isTarget,
  joined,
  newWindow,
  PaneId,
  parseSubmitted,
  parseTmux,
  rename,
  unexpanded
} from "../../src/domain/TmuxArguments.ts"

/** How tmux cuts an argument list into commands (cmd_parse_from_arguments). */
const asTmux = (args: ReadonlyArray<string>): Array<Array<string>> => {
  const commands: Array<Array<string>> = []
  let command: Array<string> = []
  for (const argument of args) {
    const escaped = argument.endsWith("\\;")
    const ends = argument.endsWith(";") && !escaped
    if (escaped) command.push(`${argument.slice(0, -2)};`)
    else if (!ends) command.push(argument)
    else if (argument !== ";") command.push(argument.slice(0, -1))
    if (ends) {
      commands.push(command)
      command = []
    }
  }
  return [...commands, command]
}

/** How tmux expands a text with nothing but hashes in it; `##[` is the exception (facts/tmux). */
const expanded = (text: string): string => text.replace(/#(.)/gs, (_, next: string) => next === "#" ? "#" : "EXPANDED")

const hostile = FastCheck.stringOf(FastCheck.constantFrom(";", "\\", "#", "{", "(", "[", "'", " ", "\n", "a", "é"))

describe("TmuxArguments", () => {
  it("tmux sees the very arguments, whatever ends in a semicolon or a backslash", () => {
    const commands = FastCheck.array(FastCheck.array(hostile, { minLength: 1 }), { minLength: 1, maxLength: 4 })
    FastCheck.assert(FastCheck.property(commands, (given) => {
      assert.deepStrictEqual(asTmux(joined(given)), given)
    }))
  })

  it("no text is expanded as a format", () => {
    FastCheck.assert(FastCheck.property(hostile, (text) => {
      assert.strictEqual(expanded(unexpanded(text)), text)
    }))
    assert.strictEqual(unexpanded("#(touch X)#{pid}##"), "##(touch X)##{pid}####")
  })

  it("TMUX is read from the right", () => {
    const socket = FastCheck.string({ minLength: 1 })
    FastCheck.assert(FastCheck.property(socket, FastCheck.nat(), FastCheck.nat(), (path, pid, session) => {
      assert.deepStrictEqual(parseTmux(`${path},${pid},${session}`), {
        socket: path,
        serverPid: pid,
        session: `$${session}`
      })
    }))
    for (const text of ["", "/tmp/s", "/tmp/s,1", ",1,2", "/tmp/s,1,", "/tmp/s,x,2", "/tmp/s,1,2 "]) {
      assert.isUndefined(parseTmux(text), text)
    }
  })

  it("versions with letters, and unreadable ones", () => {
    for (const version of ["3.2", "3.2a", "3.3a", "3.7", "next-3.8", "4.0", "10.0", "master", ""]) {
      assert.isTrue(isSupported(version), version)
    }
    for (const version of ["3.1", "3.1c", "2.9a", "next-3.1", "1.8", "3.0-rc5"]) {
      assert.isFalse(isSupported(version), version)
    }
  })

  it("15 KiB with a NUL after each argument, and 900 arguments", () => {
    assert.isTrue(fits(["x".repeat(15 * 1024 - 1)]))
    assert.isFalse(fits(["x".repeat(15 * 1024)]))
    assert.isTrue(fits(["é".repeat(15 * 512 - 1), ""]))
    assert.isFalse(fits(["é".repeat(15 * 512)]))
    assert.isTrue(fits(Array.from({ length: 900 }, () => "")))
    assert.isFalse(fits(Array.from({ length: 901 }, () => "")))
  })

  it("targets are ids, and nothing else can be a pane's", () => {
    for (const target of ["%0", "%12", "@3", "$0:"]) assert.isTrue(isTarget(target), target)
    for (const target of ["", "%", "main", "$0", "%1.2", ":", "=a", "%1\n"]) assert.isFalse(isTarget(target), target)
    for (const pane of ["", "%", "3", "%1a", " %1"]) assert.throws(() => PaneId.make(pane))
  })

  it("the ids of a submitted window", () => {
    assert.deepStrictEqual(parseSubmitted("%7|@5\n"), { pane: PaneId.make("%7"), tab: "@5" })
    for (const text of ["", "%7", "7|5", "%7|@5|x", "error\n%7|@5\n"]) assert.isUndefined(parseSubmitted(text), text)
  })

  it("every target of our commands is explicit", () => {
    const request = { argv: ["pi"], directory: "/d", environment: {} } as const
    const commands = [newWindow("$4", request), ...rename(PaneId.make("%9"), "-x")]
    for (const command of commands) assert.isTrue(isTarget(command[command.indexOf("-t") + 1] ?? ""), command.join(" "))
  })
})
