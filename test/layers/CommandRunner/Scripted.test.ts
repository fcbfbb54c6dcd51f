import { scripted } from "../../support/CommandScripted.ts"
import { contract, type Watch } from "./contract.ts"

const behaviours = new Map<string, Parameters<Parameters<typeof contract>[2]>[0]>()
const watch: Watch = { started: () => {} }
const { layer } = scripted((command) => {
  watch.started()
  return behaviours.get(command.args[0] ?? "") ?? {}
})

contract("scripted", layer, (behaviour) => {
  const key = String(behaviours.size)
  behaviours.set(key, behaviour)
  return { program: "scripted", args: [key] }
}, watch)
