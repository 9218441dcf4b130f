import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ExecError } from "../../../src/core/errors.ts";
import { MAX_COMMAND_BYTES, MAX_TIMEOUT_MS, parseExecArgs } from "../../../src/core/exec/exec-args.ts";

function refusal(input: unknown): { code: string; message: string } {
  try {
    parseExecArgs(input);
  } catch (error) {
    if (error instanceof ExecError) return { code: error.code, message: error.message };
    throw error;
  }
  throw new Error(`accepted: ${JSON.stringify(input)}`);
}

describe("parameters of the exec tool", () => {
  it.each([
    ["blank command", { command: "  \n" }, "command-empty", /Provide a command/],
    ["NUL in the command", { command: "echo a\0b" }, "command-has-nul", /NUL/],
    ["over-long command", { command: "x".repeat(MAX_COMMAND_BYTES + 1) }, "command-too-long", /script file/],
    ["NUL in a value of env", { command: "ls", env: { A: "x\0y" } }, "invalid-argument", /env\.A/],
    ["NUL in workdir", { command: "ls", workdir: "/tmp\0/x" }, "invalid-argument", /workdir/],
    ["host that is a host name", { command: "ls", host: "prod-1.example" }, "host-invalid", /host=node with node=/],
    ["host of a wrong type", { command: "ls", host: 7 }, "host-invalid", /type number/],
    ["negative timeout", { command: "ls", timeout: -1 }, "invalid-argument", /0 for no limit/],
    ["NaN timeout", { command: "ls", timeout: Number.NaN }, "invalid-argument", /timeout/],
    ["two timeouts", { command: "ls", timeout: 1, timeoutSeconds: 2 }, "invalid-argument", /differ/],
    ["unknown parameter", { command: "ls", workDir: "/" }, "invalid-argument", /Did you mean "workdir"/],
    ["missing command", {}, "invalid-argument", /command/],
    ["env value that is no text", { command: "ls", env: { A: 1 } }, "invalid-argument", /env\.A/],
  ])("refuses a %s and says what to do", (_name, input, code, message) => {
    const refused = refusal(input);
    expect(refused.code).toBe(code);
    expect(refused.message).toMatch(message);
  });

  it("takes the seeds' examples as they are", () => {
    expect(parseExecArgs({ command: "ls -la" })).toMatchObject({ command: "ls -la", background: false, pty: false });
    expect(parseExecArgs({ command: "npm run build", yieldMs: 1000 })).toMatchObject({ yieldMs: 1000 });
    expect(parseExecArgs({ command: "npm run build", background: true })).toMatchObject({ background: true });
  });

  it("accepts the newer name of the timeout, fractions, and 0 for none", () => {
    expect(parseExecArgs({ command: "ls", timeoutSeconds: 0.5 }).timeoutMs).toBe(500);
    expect(parseExecArgs({ command: "ls", timeout: 0 }).timeoutMs).toBe(0);
    expect(parseExecArgs({ command: "ls", timeout: 9e9 }).timeoutMs).toBe(MAX_TIMEOUT_MS);
  });

  it("keeps yieldMs within its bounds", () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (yieldMs) => {
        const parsed = parseExecArgs({ command: "ls", yieldMs }).yieldMs ?? Number.NaN;
        expect(parsed).toBeGreaterThanOrEqual(10);
        expect(parsed).toBeLessThanOrEqual(120_000);
      }),
    );
  });

  it("ignores security, and an ask it does not know", () => {
    const parsed = parseExecArgs({ command: "ls", security: "full", ask: "sometimes" });
    expect(parsed).not.toHaveProperty("security");
    expect(parsed.ask).toBeUndefined();
  });

  it("never changes the command", () => {
    fc.assert(
      fc.property(
        fc.string({ minLength: 1 }).filter((text) => text.trim() !== "" && !text.includes("\0")),
        (command) => {
          expect(parseExecArgs({ command }).command).toBe(command);
        },
      ),
    );
  });
});
