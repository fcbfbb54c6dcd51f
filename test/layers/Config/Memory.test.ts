import { contract } from "./Contract.ts"
import { memory } from "./MemoryPlace.ts"

contract("memory", memory)
