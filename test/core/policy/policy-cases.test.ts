import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ARGV_GRANT, grantHash } from "../../../src/core/policy/allowlist.ts";
import type { AllowlistEntry, Ask, Security } from "../../../src/core/policy/types.ts";
import { type Asked, codes, judge, makeWorld, SYSTEM_PATH, type World } from "./policy-world.ts";

interface PolicyCase {
  readonly n: number;
  readonly cmd: string;
  readonly sec: Security;
  readonly ask: Ask;
  readonly allow?: readonly (string | AllowlistEntry)[];
  readonly safeBins?: readonly string[];
  readonly strict?: boolean;
  readonly env?: { readonly PATH?: string };
  readonly cwd?: string;
  readonly policy?: string;
  readonly want: "run" | "deny" | "prompt" | "error";
  readonly decisions?: readonly string[];
  readonly why: string;
}

const CASES = JSON.parse(
  readFileSync(new URL("../../fixtures/policy/policy-cases.json", import.meta.url), "utf8"),
) as PolicyCase[];

let world: World;
let fake: string;

beforeAll(() => {
  world = makeWorld();
  fake = join(world.root, "fake");
  mkdirSync(fake);
  mkdirSync(join(world.cwd, "sub"));
  for (const file of ["s.sh", "a.py", "f.txt", "sub/s.sh"]) writeFileSync(join(world.cwd, file), "");
  writeFileSync(join(fake, "wc"), "#!/bin/sh\n");
  chmodSync(join(fake, "wc"), 0o755);
});
afterAll(() => world.remove());

const fill = (text: string): string => text.replaceAll("$CWD", world.cwd).replaceAll("$FAKE", fake);

function rule(entry: string | AllowlistEntry): AllowlistEntry {
  if (typeof entry !== "string") return { ...entry, pattern: fill(entry.pattern) };
  const grant = /^GRANT:(\S+) (.*)@(.*)$/.exec(entry);
  if (!grant) return { pattern: fill(entry) };
  const [, , args = "", dir = ""] = grant;
  return {
    pattern: "/usr/bin/ls",
    source: "allow-always",
    argPattern: ARGV_GRANT + grantHash(fill(dir), "ls", args.split(" ")),
  };
}

/** The two cases that speak of layers instead of one policy. */
const LAYERED: Readonly<Record<number, Asked>> = {
  58: {
    config: { security: "full", ask: "off" },
    hostFile: { ask: { value: "always", from: "host-file:defaults" }, allowlist: [] },
    session: { ask: "off" },
    call: { ask: "off", fromChannel: true },
  },
  59: { config: { security: "full", ask: "off" }, call: { ask: "always", fromChannel: true } },
};

describe("the decision table", () => {
  it("has sixty cases", () => expect(CASES).toHaveLength(60));

  it.each(CASES.map((one) => [one.n, one.cmd, one] as const))("case %i: %s", (n, _, one) => {
    const decision = judge(
      fill(one.cmd),
      one.cwd ? dirname(world.cwd) : world.cwd,
      LAYERED[n] ?? {
        config: {
          security: one.sec,
          ask: one.ask,
          strictInlineEval: one.strict ?? false,
          ...(one.safeBins ? { safeBins: one.safeBins } : {}),
        },
        allowlist: (one.allow ?? []).map(rule),
        path: one.env?.PATH ? fill(one.env.PATH).split(":") : SYSTEM_PATH,
      },
    );
    const why = `${one.why}; got ${decision.kind}: ${codes(decision).join(", ")}`;
    switch (one.want) {
      case "run":
        expect(decision.kind, why).toBe("allow");
        break;
      case "deny":
        expect(decision.kind, why).toBe("deny");
        expect(codes(decision), why).not.toContain("control-command");
        break;
      case "error":
        expect(decision.kind, why).toBe("deny");
        expect(["control-command", "security-deny"], why).toContain(codes(decision)[0]);
        break;
      case "prompt":
        expect(decision.kind, why).toBe("ask");
        if (decision.kind === "ask") {
          expect(decision.offered, why).toEqual(one.decisions ?? ["allow-once", "allow-always", "deny"]);
        }
    }
  });

  it("asks an internal caller that insists, where a channel's wish is ignored (case 59)", () => {
    const decision = judge("ls", world.cwd, {
      config: { security: "full", ask: "off" },
      call: { ask: "always", fromChannel: false },
    });
    expect(codes(decision)).toEqual(["ask-always"]);
  });
});
