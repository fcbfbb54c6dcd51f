"use strict"
// A copy of this process's node:fs that notes each team file which the product publishes. Plain JavaScript without
// imports: every Node that a test starts loads it first, and must not be slower for it.
const fs = require("node:fs")
const { syncBuiltinESMExports } = require("node:module")
const { basename, join } = require("node:path")

// What tests put in the way later (faults, kill switches) must not be met by what is noted here.
const { closeSync, fstatSync, openSync, readFileSync, writeSync } = fs
const { O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = fs.constants

/** What the product alone gives the file that it publishes (spec 1.4): `config.json.<pid>-<start ticks>-<n>.tmp`. */
const temporary = /[\\/]\.pi-intercom[\\/]config\.json\.\d+-\d+-\d+\.tmp$/
const installed = Symbol.for("pi-intercom/config-witness")

/** The text of a regular file; undefined for what is none. */
const textOf = (file) => {
  let fd
  try {
    fd = openSync(file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
  } catch {
    return undefined
  }
  try {
    return fstatSync(fd).isFile() ? readFileSync(fd, "utf8") : undefined
  } finally {
    closeSync(fd)
  }
}

/**
 * Before it happens: a process that is killed in it may have published. What the file said before tells what the product
 * added from what a person had put there.
 */
const note = (folder, from, to) => {
  const after = textOf(from)
  if (after === undefined) return
  const record = { program: basename(process.argv[1] ?? "node"), pid: process.pid, before: textOf(to), after }
  const fd = openSync(join(folder, `${process.pid}.jsonl`), "a", 0o600)
  try {
    writeSync(fd, `${JSON.stringify(record)}\n`)
  } finally {
    closeSync(fd)
  }
}

/** Notes in `folder`, from now on, what this process publishes; a second call only changes the folder. */
exports.install = (folder) => {
  if (fs[installed] !== undefined) {
    fs[installed].folder = folder
    return
  }
  const state = { folder }
  Object.defineProperty(fs, installed, { value: state })
  for (const name of ["renameSync", "linkSync"]) {
    const real = fs[name]
    fs[name] = (...args) => {
      const [from, to] = args
      if (typeof from === "string" && temporary.test(from) && from.startsWith(`${to}.`)) note(state.folder, from, to)
      return real(...args)
    }
  }
  syncBuiltinESMExports()
}
