import { defineConfig } from "vitest/config"

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    exclude: ["test/**/*.long.test.ts"],
    // Live tests spawn real programs; the timeout only bounds a hang, no test waits for it.
    testTimeout: 60_000,
    hookTimeout: 120_000
  }
})
