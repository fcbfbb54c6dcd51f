import { scripted } from "../../support/CommandScripted.ts"
import { contract } from "./contract.ts"

const behaviours = new Map<string, Parameters<Parameters<typeof contract>[2]>[0]>()

contract("scripted", scripted((command) => behaviours.get(command.args[0] ?? "") ?? {}).layer, (behaviour) => {
  const key = String(behaviours.size)
  behaviours.set(key, behaviour)
  return { program: "scripted", args: [key] }
})
