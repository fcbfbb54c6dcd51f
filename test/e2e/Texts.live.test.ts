import { describe } from "@effect/vitest"
import { bodiesArrive, foldersOpen } from "./TextScenarios.ts"

describe("texts and folders in real Pi in tmux", () => {
  bodiesArrive("tmux")
  foldersOpen("tmux")
})

describe("folders in real Pi in Herdr", () => foldersOpen("herdr"))
