import { defineConfig, type TestProjectConfiguration } from "vitest/config"

/** Tests that start real Pis: several processes each, busy for seconds. */
const withPi = ["test/e2e/**/*.test.ts", "test/package/**/*.test.ts"]
const long = "test/**/*.long.test.ts"

/** Tests that touch nothing outside themselves: what they import is loaded once for all of them. */
const alone = "test/{domain,layers,monitor,programs}/**/!(*.live|*.long).test.ts"

const pure: TestProjectConfiguration = {
  extends: true,
  test: {
    name: "pure",
    include: [alone],
    // vitest knows of isolation for a pool, not for a project: this pool has none.
    pool: "threads",
    sequence: { groupOrder: 0 }
  }
}

const quick: TestProjectConfiguration = {
  extends: true,
  test: {
    name: "quick",
    include: ["test/**/*.test.ts"],
    exclude: [alone, long, ...withPi],
    sequence: { groupOrder: 1 }
  }
}

/** After the others and one file at a time: two Pis that start take both processors. */
const pi: TestProjectConfiguration = {
  extends: true,
  test: {
    name: "pi",
    include: withPi,
    exclude: [long],
    sequence: { groupOrder: 2 },
    poolOptions: { forks: { singleFork: true } }
  }
}

/** The matrices: `vitest run --mode long`; what `npm test` runs in the newest host only, in each. */
const matrices: TestProjectConfiguration = {
  extends: true,
  test: {
    name: "long",
    env: { EVERY_HOST: "yes" },
    include: [long, "test/e2e/{Doctor,Loading,Takeover,Team}.live.test.ts"],
    poolOptions: { forks: { singleFork: true } }
  }
}

export default defineConfig(({ mode }) => ({
  test: {
    pool: "forks",
    // Two cores suffice for two; vitest itself would use one of them.
    poolOptions: {
      forks: { minForks: 1, maxForks: 2 },
      threads: { minThreads: 1, maxThreads: 2, isolate: false }
    },
    // Live tests spawn real programs; the timeouts only bound a hang, no test waits for them.
    testTimeout: 60_000,
    hookTimeout: 120_000,
    // Every team file that the product writes in any test is judged.
    globalSetup: ["test/support/config-witness/Run.ts"],
    setupFiles: ["test/support/config-witness/Setup.ts"],
    projects: mode === "long" ? [matrices] : [pure, quick, pi]
  }
}))
