import { contract } from "./Contract.ts"
import { place } from "./Place.ts"

contract("files", place)
