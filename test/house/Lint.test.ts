import { assert, describe, it } from "@effect/vitest"
import { ESLint } from "eslint"
import * as path from "node:path"

const root = path.resolve(import.meta.dirname, "../..")
const eslint = new ESLint({ cwd: root })

/** The messages of the lint for a text, as if it were this file. */
const bites = async (file: string, text: string): Promise<string> => {
  const [result] = await eslint.lintText(`${text}\n`, { filePath: path.join(root, file) })
  return (result?.messages ?? []).map((message) => message.message).join(" ")
}

const rows: ReadonlyArray<readonly [what: string, file: string, text: string, says: RegExp]> = [
  [
    "a domain file imports a layer",
    "src/domain/X.ts",
    "import { x } from \"../layers/Files.ts\"",
    /domain imports nothing above/
  ],
  [
    "a domain file imports a service",
    "src/domain/X.ts",
    "import { x } from \"../services/Ids.ts\"",
    /domain imports nothing above/
  ],
  [
    "a domain file imports the platform",
    "src/domain/X.ts",
    "import { x } from \"@effect/platform/Path\"",
    /effect core only/
  ],
  ["a service imports a layer", "src/services/X.ts", "import { x } from \"../layers/Files.ts\"", /domain only/],
  [
    "a layer imports a program",
    "src/layers/X/Y.ts",
    "import { x } from \"../../programs/Start.ts\"",
    /never import programs/
  ],
  [
    "a program imports a layer",
    "src/programs/tools/X.ts",
    "import { x } from \"../../layers/Files.ts\"",
    /name no layer/
  ],
  ["a program imports node", "src/programs/X.ts", "import { x } from \"node:fs\"", /live in src\/layers/],
  [
    "src imports test",
    "src/layers/X/Y.ts",
    "import { x } from \"../../../test/support/Tmux.ts\"",
    /never import programs/
  ],
  [
    "the monitor imports a program",
    "monitor/X.ts",
    "import { x } from \"../src/programs/Start.ts\"",
    /domain and services/
  ],
  [
    "the monitor imports a layer",
    "monitor/X.ts",
    "import { x } from \"../src/layers/Files.ts\"",
    /domain and services/
  ],
  ["the monitor imports node", "monitor/X.ts", "import { x } from \"node:fs\"", /live in src\/layers/],
  [
    "the monitor's entry imports a program",
    "monitor/main.ts",
    "import { x } from \"../src/programs/Start.ts\"",
    /compose layers/
  ],
  [
    "the doctor's entry imports another program",
    "monitor/doctor.ts",
    "import { x } from \"../src/programs/Start.ts\"",
    /runs its own only/
  ],
  ["the thin entry imports Effect", "src/programs/extension.ts", "import { x } from \"effect/Effect\"", /No Effect/],
  ["a program uses Date.now", "src/programs/X.ts", "export const x = Date.now()", /Use Clock/],
  ["a layer uses Date.now", "src/layers/X/Y.ts", "export const x = Date.now()", /Use Clock/],
  ["a program makes a date", "src/programs/X.ts", "export const x = new Date()", /Use Clock/],
  ["a program uses Math.random", "src/programs/X.ts", "export const x = Math.random()", /Use Random/],
  ["a program sets a timer", "src/programs/X.ts", "setTimeout(() => 1, 1)", /Use the service/],
  ["a program reads the environment", "src/programs/X.ts", "export const x = process.env", /Use the service/],
  ["a program runs an effect", "src/programs/X.ts", "Effect.runPromise(x)", /entries run effects/],
  ["a program is async", "src/programs/X.ts", "export const x = async () => 1", /No async/],
  ["a value is cast as any", "src/layers/X/Y.ts", "export const x = 1 as any", /any/],
  ["a value is cast", "src/domain/X.ts", "export const x = y as string", /No type assertion/],
  ["a test casts a value", "test/domain/X.test.ts", "export const x = y as string", /No type assertion/],
  ["a value is asserted to be there", "src/domain/X.ts", "export const x = y!", /[Nn]on-null/]
]

describe("the lint keeps the house (design/architecture, design/style)", () => {
  it.each(rows)("%s", async (_what, file, text, says) => {
    assert.match(await bites(file, text), says)
  })

  it("lets through what belongs there", async () => {
    assert.strictEqual(
      await bites("src/domain/X.ts", "import * as Effect from \"effect/Effect\"\nexport const x = [1] as const"),
      ""
    )
    assert.strictEqual(
      await bites(
        "src/layers/X/Y.ts",
        "import * as fs from \"node:fs\"\nimport { x } from \"../../domain/Role.ts\"\nexport const y = [fs, x]"
      ),
      ""
    )
    assert.strictEqual(
      await bites(
        "src/programs/core.ts",
        "import * as Files from \"../layers/Files.ts\"\nexport const x = async () => Files"
      ),
      ""
    )
  })
})
