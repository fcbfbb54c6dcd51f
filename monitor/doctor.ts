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

const said = (code: 0 | 2, text: string) =>
  end({ code, text: given.json ? JSON.stringify({ version: 1, error: text }, null, 2) : text })

const broken =
  "Intercom could not look: a part of it is missing or does not work. Nothing was changed. Install Intercom again."

if ("text" in given) said(given.code, given.text)
else {
  void import("../src/programs/doctor/examine.ts")
    .then(({ ofFolder }) => ofFolder(given.root, given.json))
    .then(end, () => said(2, broken))
}
