#!/usr/bin/env node
import { told } from "../src/layers/ProgramArguments.ts"

/** The program `pi-intercom-doctor`: ends with 0 when nothing is wrong, 1 with findings, 2 when it could not look. */

const program = {
  usage: "pi-intercom-doctor [--root <the team's folder>] [--json]",
  about:
    "Says what is wrong with a team and what to do about it. The team's folder is the one that holds .pi-intercom;\n" +
    "without --root it is the current one. It changes nothing. --json is for programs. It ends with 0 when nothing was\n" +
    "found, 1 with findings, 2 when it could not look.",
  options: { json: { type: "boolean" } }
} as const

// What is still open, such as a connection, must not keep the process; a read that hangs in the system does.
const end = ({ code, text }: { readonly code: 0 | 1 | 2; readonly text: string }) =>
  process.stdout.write(`${text}\n`, () => process.exit(code))

const given = told(program, process.argv.slice(2), process.cwd())

const broken =
  "Intercom could not look: a part of it is missing or does not work. Nothing was changed. Install Intercom again."

void import("../src/programs/doctor/examine.ts")
  .then(({ ofFolder, said }) =>
    "text" in given
      ? { code: given.code, text: said(given.text, given.json) }
      : ofFolder(given.root, given.json)
  )
  .catch(() => ({
    code: 2 as const,
    text: given.json ? JSON.stringify({ version: 1, error: broken }, null, 2) : broken
  }))
  .then(end)
