/** The stricter of the gateway's and the node's own policy, as the node applies it: every pair of both. */
import { generateKeyPairSync } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openApprovalsFile } from "../../src/core/approvals/approvals-file.ts";
import { systemClock } from "../../src/core/clock.ts";
import { ASK_LEVELS, type Ask, SECURITY_LEVELS, type Security } from "../../src/core/policy/types.ts";
import { NodePolicy } from "../../src/node-host/policy.ts";
import { deviceIdOf, rawPublicKey } from "../../src/protocol/device-auth.ts";

let stateDir: string;
let policy: NodePolicy;
const file = () => join(stateDir, "exec-approvals.json");

beforeAll(async () => {
  stateDir = mkdtempSync(join(tmpdir(), "openclaw-exec-node-policy-"));
  const { privateKey } = generateKeyPairSync("ed25519");
  const raw = rawPublicKey(privateKey);
  policy = new NodePolicy({
    privateKey,
    publicKey: raw.toString("base64url"),
    deviceId: deviceIdOf(raw),
    approvalsFile: await openApprovalsFile({ path: file(), clock: systemClock, newId: () => crypto.randomUUID() }),
    clock: systemClock,
    path: () => ["/usr/bin", "/bin"],
    home: stateDir,
    workspace: stateDir,
  });
});
afterAll(() => rmSync(stateDir, { recursive: true, force: true }));

function prepare(command: string, security: Security, ask: Ask, autoReview = false) {
  return policy.prepare(
    {
      runId: "r",
      command,
      env: {},
      agentId: "main",
      sessionKey: "agent:main:main",
      policy: { security, ask, askFallback: "full", autoReview },
      ttlMs: 1_000,
    },
    "gw",
  );
}

const stricterSecurity = (a: Security, b: Security) =>
  SECURITY_LEVELS[Math.min(SECURITY_LEVELS.indexOf(a), SECURITY_LEVELS.indexOf(b))];
const stricterAsk = (a: Ask, b: Ask) => ASK_LEVELS[Math.max(ASK_LEVELS.indexOf(a), ASK_LEVELS.indexOf(b))];

const pairs = SECURITY_LEVELS.flatMap((security) => ASK_LEVELS.map((ask) => ({ security, ask })));
const cases = pairs.flatMap((gateway) => pairs.map((node) => ({ gateway, node })));

describe("the policy of a node under a gateway", () => {
  it.each(cases)(
    "gateway $gateway.security/$gateway.ask, node $node.security/$node.ask: the stricter of both",
    async ({ gateway, node }) => {
      writeFileSync(file(), JSON.stringify({ version: 1, defaults: node }), { mode: 0o600 });
      const answer = await prepare("touch unlisted", gateway.security, gateway.ask);
      const security = stricterSecurity(gateway.security, node.security);
      const ask = stricterAsk(gateway.ask, node.ask);
      expect(answer).toMatchObject({ security, ask, askFallback: "deny" });
      const kind =
        security === "deny"
          ? "deny"
          : ask === "always"
            ? "ask"
            : security === "full"
              ? "allow"
              : ask === "on-miss"
                ? "ask"
                : "deny";
      expect(answer.decision.kind).toBe(kind);
      expect(answer.ticket === undefined).toBe(kind === "deny");
    },
  );

  it("with no file of its own tightens nothing", async () => {
    rmSync(file(), { force: true });
    expect(await prepare("touch x", "full", "off")).toMatchObject({
      security: "full",
      ask: "off",
      decision: { kind: "allow" },
    });
  });

  it("with a damaged file runs nothing", async () => {
    writeFileSync(file(), "{ broken", { mode: 0o600 });
    expect(await prepare("touch x", "full", "off")).toMatchObject({ security: "deny", decision: { kind: "deny" } });
  });

  it("uses its own rules only: what is listed here runs, by the path it has here", async () => {
    const rules = [{ pattern: "/usr/bin/id" }, { pattern: "/bin/id" }];
    writeFileSync(
      file(),
      JSON.stringify({
        version: 1,
        defaults: { security: "allowlist", ask: "on-miss" },
        agents: { "*": { allowlist: rules } },
      }),
      { mode: 0o600 },
    );
    expect((await prepare("id", "full", "off")).decision).toMatchObject({ kind: "allow", plan: { kind: "argv" } });
    expect((await prepare("id -u", "full", "off")).decision.kind).toBe("allow");
    expect((await prepare("uname", "full", "off")).decision.kind).toBe("ask");
  });

  it("asks about code on the command line where the gateway is strict about it", async () => {
    rmSync(file(), { force: true });
    const request = {
      runId: "r",
      command: "python3 -c 'print(1)'",
      env: {},
      agentId: "main",
      sessionKey: "agent:main:main",
      ttlMs: 1_000,
    };
    const open = { security: "full", ask: "off", askFallback: "full", autoReview: false } as const;
    expect((await policy.prepare({ ...request, policy: open }, "gw")).decision.kind).toBe("allow");
    const strict = await policy.prepare({ ...request, policy: { ...open, strictInlineEval: true } }, "gw");
    expect(strict.decision).toMatchObject({ kind: "ask", reasons: [{ code: "inline-eval" }] });
  });

  it("refuses the commands that are refused everywhere", async () => {
    rmSync(file(), { force: true });
    for (const command of ["openclaw-exec approvals allowlist add '*'", "/approve abc allow-once"]) {
      expect((await prepare(command, "full", "off")).decision, command).toMatchObject({ kind: "deny" });
    }
  });
});
