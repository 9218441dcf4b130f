import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createRedactor, MASK } from "../../../src/channels/text/redact.ts";
import { cpuMs } from "../../support/cpu.ts";

const shapes = createRedactor();
/** Split so that no scanner takes these made-up samples for real credentials. */
const sample = (...parts: string[]): string => parts.join("");

const A35 = "AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsawX";
const SAMPLES: readonly (readonly [name: string, secret: string, text: (secret: string) => string])[] = [
  ["Slack bot token", sample("xo", "xb-1234567890-abcdefGHIJ"), (s) => `token is ${s}.`],
  ["Slack app token", sample("xa", "pp-1-A0123456789-1234567890-abcdef"), (s) => s],
  ["Slack webhook", "T00000000/B00000000/XXXXXXXXXXXXXXXX", (s) => `https://hooks.slack.com/services/${s}`],
  [
    "Discord token",
    sample("MTIzNDU2Nzg5MDEyMzQ1Njc4", ".Gabcde.", "abcdefghijklmnopqrstuvwxyz012345678901"),
    (s) => `> ${s}`,
  ],
  ["Telegram token", `110201543:${A35}`, (s) => `x=${s}`],
  ["Telegram token in a URL", `110201543:${A35}`, (s) => `https://api.telegram.org/bot${s}/getUpdates`],
  ["AWS key id", sample("AK", "IAIOSFODNN7EXAMPLE"), (s) => `id ${s}`],
  ["AWS secret", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", (s) => `aws_secret_access_key = ${s}`],
  [
    "GitHub token",
    sample("gh", "p_abcdefghijklmnopqrstuvwxyz0123456789"),
    (s) => `git clone https://${s}@github.com/x`,
  ],
  ["GitHub fine-grained token", sample("github", "_pat_11ABCDEFG0abcdefghijklmnop_qrstuvwxyz"), (s) => s],
  ["GitLab token", sample("gl", "pat-abcdefghij0123456789"), (s) => s],
  ["OpenAI-style key", sample("sk", "-abcdefghijklmnop"), (s) => `curl -H 'Authorization: Bearer ${s}'`],
  ["bearer token", "abc.def-ghi_jkl", (s) => `Authorization: Bearer ${s}`],
  ["basic auth", "dXNlcjpwYXNzd29yZA==", (s) => `-H "Authorization: Basic ${s}"`],
  ["JWT", sample("eyJ", "hbGciOiJIUzI1NiJ9.", "eyJ", "zdWIiOiIxMjM0NTY3ODkwIn0.abc_def-123"), (s) => s],
  ["URL password", "pw", (s) => `https://user:${s}@host/path`],
  ["mysql password", "S3cret", (s) => `mysql -u root -p${s} db`],
  ["environment assignment", "abc", (s) => `FOO_TOKEN=${s} deploy`],
  ["quoted assignment", "two words", (s) => `export DB_PASSWORD="${s}"`],
  ["JSON field", "hunter2", (s) => `{"password": "${s}"}`],
  ["option with space", "hunter2", (s) => `tool --password ${s} run`],
  ["curl user", "hunter2", (s) => `curl -u admin:${s} https://x`],
  ["sshpass", "hunter2", (s) => `sshpass -p ${s} ssh host`],
];

describe("well-known shapes (secret-in-command-card)", () => {
  test.each(SAMPLES)("%s", (_name, secret, text) => {
    const result = shapes.redact(text(secret));
    expect(result.text).not.toContain(secret);
    expect(result.text).toContain(MASK);
    expect(result.masked).toBeGreaterThan(0);
  });

  test("private key, also one cut off", () => {
    const key = "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXk\nAAAA\n-----END OPENSSH PRIVATE KEY-----";
    expect(shapes.redact(`a ${key} b`).text).toBe(
      `a -----BEGIN OPENSSH PRIVATE KEY-----${MASK}-----END OPENSSH PRIVATE KEY----- b`,
    );
    expect(shapes.redact(key.slice(0, 60)).text).not.toContain("b3Blb");
  });

  test.each([
    ["zero-width space inside", `xo${""}xb-12\u200b34567890-abcdefGHIJ`],
    ["soft hyphen inside", "gh\u00adp_abcdefghijklmnopqrstuvwxyz0123456789"],
    ["word joiner in the prefix", "AK\u2060IAIOSFODNN7EXAMPLE"],
  ])("split by invisible characters: %s", (_name, text) => {
    expect(shapes.redact(`before ${text} after`)).toEqual({ text: `before ${MASK} after`, masked: 1 });
  });

  test.each([
    "git log --oneline -n 5",
    "mysql -u root -p",
    "npm run token-report -- --password-file=$FILE",
    "echo $SECRET_TOKEN $API_KEY",
    "TOKEN=$(cat file) make",
    "see https://example.org:8080/path?user=a@b",
    "tail -p 12:34:56 MNOPQ.abc",
    "mkdir -p src",
    "basic setup of the bearer",
    "3f0c1a2b-1111-4222-8333-444455556666",
  ])("leaves %s alone", (text) => {
    expect(shapes.redact(text)).toEqual({ text, masked: 0 });
  });

  test("masking twice changes nothing more", () => {
    for (const [, secret, text] of SAMPLES) {
      const once = shapes.redact(text(secret)).text;
      expect(shapes.redact(once).text).toBe(once);
    }
  });

  test("1 MB of near misses takes linear time", () => {
    const units = ["token ", "curl -", "a:b/", "eyJeyJ.", "-----BEGIN ", "password=", "xox", "http://a"];
    const cost = cpuMs(() => {
      for (const unit of units) shapes.redact(unit.repeat(1_000_000 / units.length / unit.length));
    });
    expect(cost).toBeLessThan(8000);
  });
});

describe("known values (token-in-output)", () => {
  const secret = "correct-horse-battery";
  const known = createRedactor([secret, "short"]);

  test.each([
    ["plain", `a ${secret} b ${secret}`, `a ${MASK} b ${MASK}`],
    ["wrapped over two lines", "a correct-horse-\nbattery b", `a ${MASK} b`],
    ["split by zero-width characters", "correct\u200b-horse-\u2060battery", MASK],
    ["text that begins inside it", "horse-battery and more", `${MASK} and more`],
    ["text that ends inside it", "more and correct-hor", `more and ${MASK}`],
    ["values too short to mask", "a short word", "a short word"],
  ])("%s", (_name, text, expected) => {
    expect(known.redact(text).text).toBe(expected);
  });

  test("a known value never survives, wherever it stands", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), fc.string({ unit: "binary" }), (before, after) => {
        expect(known.redact(before + secret + after).text).not.toContain(secret);
      }),
    );
  });
});
