#!/usr/bin/env node
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import { resolve } from "node:path"
import { parseArgs } from "node:util"
import { stripControls } from "../src/domain/Delivery.ts"
import { type Diagnosis, diagnosisJson, diagnosisText } from "../src/domain/Finding.ts"
import { sentenceOf } from "../src/layers/Bridge.ts"
import * as Looking from "../src/layers/Looking.ts"
import * as Platform from "../src/layers/Platform/Node.ts"
import * as Surroundings from "../src/layers/Surroundings/Node.ts"
import { examineRoot } from "../src/programs/doctor/Doctor.ts"
import { withoutHome } from "../src/programs/Present.ts"

/** The program `pi-intercom-doctor`: ends with 0 when nothing is wrong, 1 with findings, 2 when it could not look. */

const usage = "Usage: pi-intercom-doctor --root <the team's folder> [--json]"

const present = (text: string): string => withoutHome(stripControls(text), Platform.home)

// A read that hangs must not keep the process.
const end = (text: string, code: 0 | 1 | 2) => process.stdout.write(`${text}\n`, () => process.exit(code))

const given = () => {
  try {
    return parseArgs({ options: { root: { type: "string" }, json: { type: "boolean" } } }).values
  } catch {
    return {}
  }
}
const { json = false, root = "" } = given()

const failed = (sentence: string) =>
  end(json ? JSON.stringify({ version: 1, error: present(sentence) }, null, 2) : present(sentence), 2)

const told = (diagnosis: Diagnosis) =>
  end((json ? diagnosisJson : diagnosisText)(diagnosis, present), diagnosis.findings.length === 0 ? 0 : 1)

const layers = Surroundings.layer.pipe(Layer.provideMerge(Looking.layer))

if (root === "") failed(usage)
else {
  void Effect.runPromiseExit(Effect.provide(examineRoot(resolve(root)), layers)).then((exit) =>
    Exit.isSuccess(exit) ? told(exit.value) : failed(sentenceOf(exit.cause))
  )
}
