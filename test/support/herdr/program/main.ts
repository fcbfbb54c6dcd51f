import * as fs from "node:fs"
import { faultsOf, shape, spoil, suffer } from "./Breaking.ts"
import * as Commands from "./Commands.ts"
import { Misused, Refused } from "./Endings.ts"

const args = process.argv.slice(2)
const id = `cli:${args.slice(0, 2).join(":")}`

/** All of it at once, also into a pipe that is slower than we are. */
const write = (stream: 1 | 2, text: string): void => {
  const bytes = Buffer.from(text)
  for (let at = 0; at < bytes.length;) {
    try {
      at += fs.writeSync(stream, bytes, at)
    } catch (error) {
      if (!(error instanceof Error && "code" in error && error.code === "EAGAIN")) throw error
    }
  }
}

try {
  const faults = faultsOf(args)
  suffer(faults, "before")
  const cut = faults.reduce(
    (least, fault) => fault.does === "cut" ? Math.min(least, fault.characters) : least,
    Infinity
  )
  const outcome = Commands.run(args, cut)
  suffer(faults, "after")
  const text = "text" in outcome
    ? outcome.text
    : `${JSON.stringify({ id, result: shape(outcome.result, faults) })}\n`
  write(1, spoil(text, faults))
} catch (error) {
  if (error instanceof Refused) {
    write(2, `${JSON.stringify({ id, error: { code: error.code, message: error.message } })}\n`)
    process.exitCode = 1
  } else if (error instanceof Misused) {
    write(2, `error: ${error.message}\n`)
    process.exitCode = 2
  } else throw error
}
