import { describe } from "vitest";

/**
 * `describe`, or a loud skip when a service this machine lacks is needed. With OPENCLAW_TEST_REQUIRE_ALL=1 a missing
 * service is an error, so that a build server can not pass by skipping.
 */
export function requireOrSkip(name: string, available: boolean): typeof describe | typeof describe.skip {
  if (available) return describe;
  if (process.env.OPENCLAW_TEST_REQUIRE_ALL === "1") throw new Error(`${name} is required and not installed here.`);
  process.stderr.write(`SKIPPED: ${name} is not installed here, its tests did not run.\n`);
  return describe.skip;
}
