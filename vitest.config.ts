import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    // Notices what hangs; how long something may take is said by the test itself.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    pool: "forks",
    // Most tests wait for processes, browsers and platforms rather than compute.
    maxWorkers: 4,
    // A busy build server starves a browser or a Redis now and then: two more tries there, none at a desk.
    retry: process.env.CI ? 2 : 0,
    reporters: ["default"],
  },
});
