import { defineConfig, type TestProjectConfiguration } from "vitest/config"

/** Tests that start real Pis: several processes each, busy for seconds. */
const withPi = ["test/e2e/**/*.test.ts", "test/package/**/*.test.ts"]
const long = "test/**/*.long.test.ts"

/** Tests that touch nothing outside themselves: what they import is loaded once for all of them. */
const alone = ["test/domain/**/*.test.ts"]

const pure: TestProjectConfiguration = {
  extends: true,
  test: { name: "pure", include: alone, sequence: { groupOrder: 0 }, poolOptions: { forks: { isolate: false } } }
}

const quick: TestProjectConfiguration = {
  extends: true,
  test: {
    name: "quick",
    include: ["test/**/*.test.ts"],
    exclude: [long, ...alone, ...withPi],
    sequence: { groupOrder: 0 }
  }
}

/** After the others, so that they slow no test that measures time; they wait for programs more than they compute. */
const pi: TestProjectConfiguration = {
  extends: true,
  test: { name: "pi", include: withPi, exclude: [long], sequence: { groupOrder: 1 } }
}

/** The matrices: `vitest run --mode long`. */
const matrices: TestProjectConfiguration = {
  extends: true,
  test: { name: "long", include: [long], poolOptions: { forks: { singleFork: true } } }
}

export default defineConfig(({ mode }) => ({
  test: {
    pool: "forks",
    // Two cores suffice for two; vitest itself would use one of them.
    poolOptions: { forks: { minForks: 1, maxForks: 2 } },
    // Live tests spawn real programs; the timeouts only bound a hang, no test waits for them.
    testTimeout: 60_000,
    hookTimeout: 120_000,
    // Every team file that the product writes in any test is judged.
    globalSetup: ["test/support/config-witness/Run.ts"],
    setupFiles: ["test/support/config-witness/Setup.ts"],
    projects: mode === "long" ? [matrices] : [pure, quick, pi]
  }
}))
