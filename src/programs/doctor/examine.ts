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
import { CouldNotLook, examineHere, examineRoot } from "./Doctor.ts"

/** What `/intercom doctor` and `pi-intercom-doctor` load: a file of its own in the build, since it is rarely wanted. */

const present = (text: string): string => withoutHome(stripControls(text), Platform.home)

const failed = () => new CouldNotLook({ detail: "it failed in a way it should not; nothing was changed" })

/** What is found in a Pi session that intercom takes part in or not, as text for the person. */
export const inSession = async (pi: ExtensionAPI, context: ExtensionContext, host: Host): Promise<string> => {
  const examination = Effect.suspend(() => {
    const extensions = { commands: pi.getCommands(), tools: pi.getAllTools() }
    const copies = Copies.layer({ ...host, agentDir: host.agentDir() }, extensions)
    const layers = Layer.mergeAll(copies, Multiplexers.layer, Surroundings.within(host.version)).pipe(
      Layer.provideMerge(Looking.layer)
    )
    return Effect.provide(examineHere(context.cwd, context.sessionManager.getSessionId()), layers)
  }).pipe(Effect.map((diagnosis) => diagnosisText(diagnosis, present)), Effect.catchAllDefect(failed))
  const exit = await Effect.runPromiseExit(examination)
  return Exit.isSuccess(exit) ? exit.value : sentenceOf(exit.cause)
}

const said = (sentence: string, json: boolean): string =>
  json ? JSON.stringify({ version: 1, error: present(sentence) }, null, 2) : present(sentence)

/** What is found of the team of a folder, an absolute path, and the program's exit code. */
export const ofFolder = async (root: string, json: boolean): Promise<{ text: string; code: 0 | 1 | 2 }> => {
  const layers = Surroundings.layer.pipe(Layer.provideMerge(Looking.layer))
  const examination = Effect.provide(examineRoot(root), layers).pipe(
    Effect.map((diagnosis): { text: string; code: 0 | 1 } => ({
      text: (json ? diagnosisJson : diagnosisText)(diagnosis, present),
      code: diagnosis.findings.length === 0 ? 0 : 1
    })),
    Effect.catchAllDefect(failed)
  )
  const exit = await Effect.runPromiseExit(examination)
  return Exit.isSuccess(exit)
    ? exit.value
    : { text: said(sentenceOf(exit.cause), json), code: 2 }
}
