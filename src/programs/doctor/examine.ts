import type { ExtensionAPI, ExtensionContext } from "@earendil-works/pi-coding-agent"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import { stripControls } from "../../domain/Delivery.ts"
import { diagnosisJson, diagnosisText } from "../../domain/Finding.ts"
import { sentenceOf } from "../../layers/Bridge.ts"
import type { Host } from "../../layers/Host.ts"
import * as Copies from "../../layers/HostProgram/Copies.ts"
import * as Looking from "../../layers/Looking.ts"
import * as Multiplexers from "../../layers/Multiplexers/Live.ts"
import * as Platform from "../../layers/Platform/Node.ts"
import * as Surroundings from "../../layers/Surroundings/Node.ts"
import { withoutHome } from "../Present.ts"
import { examineHere, examineRoot } from "./Doctor.ts"

/** What `/intercom doctor` and `pi-intercom-doctor` load: a file of its own in the build, since it is rarely wanted. */

const present = (text: string): string => withoutHome(stripControls(text), Platform.home)

/** What is found in a Pi session that intercom takes part in or not, as text for the person. */
export const inSession = async (pi: ExtensionAPI, context: ExtensionContext, host: Host): Promise<string> => {
  const copies = Copies.layer({ ...host, agentDir: host.agentDir() }, pi.getCommands())
  const layers = Layer.mergeAll(copies, Multiplexers.layer, Surroundings.within(host.version)).pipe(
    Layer.provideMerge(Looking.layer)
  )
  const examination = examineHere(context.cwd, context.sessionManager.getSessionId())
  const exit = await Effect.runPromiseExit(Effect.provide(examination, layers))
  return Exit.isSuccess(exit) ? diagnosisText(exit.value, present) : sentenceOf(exit.cause)
}

/** A sentence as the program says it. */
export const said = (sentence: string, json: boolean): string =>
  json ? JSON.stringify({ version: 1, error: present(sentence) }, null, 2) : present(sentence)

/** What is found of the team of a folder, an absolute path, and the program's exit code. */
export const ofFolder = async (root: string, json: boolean): Promise<{ text: string; code: 0 | 1 | 2 }> => {
  const layers = Surroundings.layer.pipe(Layer.provideMerge(Looking.layer))
  const exit = await Effect.runPromiseExit(Effect.provide(examineRoot(root), layers))
  return Exit.isSuccess(exit)
    ? {
      text: (json ? diagnosisJson : diagnosisText)(exit.value, present),
      code: exit.value.findings.length === 0 ? 0 : 1
    }
    : { text: said(sentenceOf(exit.cause), json), code: 2 }
}
