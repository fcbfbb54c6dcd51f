import { contract } from "./Contract.ts"
import { disk } from "./Disk.ts"

contract("files", disk)
