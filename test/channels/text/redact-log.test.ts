import fc from "fast-check";
import { expect, test } from "vitest";
import { createRedactor } from "../../../src/channels/text/redact.ts";
import { redactLog } from "../../../src/channels/text/redact-log.ts";

const secret = "correct-horse-battery-staple";
const redactor = createRedactor([secret]);

test("a log of several slices is cleaned and masked all through", async () => {
  const line = "\u001b[32mline\u001b[0m with progress 10%\r20%\n";
  const log = `${line.repeat(9000)}${secret}\n${line.repeat(9000)}`;
  const shown = await redactLog(log, redactor);
  expect(shown).toBe(`${"20%\n".repeat(9000)}•••\n${"20%\n".repeat(9000)}`);
});

test("a private key over a slice's end is masked whole, wherever it stands", async () => {
  const key = `-----BEGIN RSA PRIVATE KEY-----\n${"MIIEpAIBAAKCAQEA\n".repeat(90)}-----END RSA PRIVATE KEY-----\n`;
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 125_000, max: 132_000 }), async (before) => {
      const shown = await redactLog(
        `${"x"
          .repeat(60)
          .concat("\n")
          .repeat(Math.floor(before / 61))}${key}end`,
        redactor,
      );
      expect(shown).not.toContain("MIIEpAIBAAKCAQEA");
      expect(shown.endsWith("end")).toBe(true);
    }),
    { numRuns: 30 },
  );
});

test("a log without line ends is still worked in slices", async () => {
  const log = "€".repeat(400_000);
  expect(await redactLog(log, redactor)).toBe(log);
});
