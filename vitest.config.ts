import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    testTimeout: 20_000,
    hookTimeout: 30_000,
    pool: "forks",
    // Most tests wait for processes, browsers and platforms rather than compute.
    maxWorkers: 4,
    reporters: ["default"],
  },
});
