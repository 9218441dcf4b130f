import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseExecText } from "../../src/commands/exec-text.ts";
import { inEnglish } from "../../src/core/words/phrase.ts";

describe("a session option without its value", () => {
  it.each([
    ["host=", "host", 4 + 1],
    ["ask=off security=", "security", 17],
    ["node=", "node", 5],
    ["ask= -- make", "ask", 4],
  ] as const)("%j asks for one, to stand where it is missing", (text, option, at) => {
    expect(parseExecText(text)).toMatchObject({ kind: "choose", option, at });
  });

  it("in quotes it is an empty value, and refused", () => {
    expect(parseExecText('ask=""')).toMatchObject({ kind: "error" });
  });
});

describe("/exec text (decisions.md D5)", () => {
  it("shows when nothing is given", () => {
    expect(parseExecText("")).toEqual({ kind: "show" });
  });

  it.each([
    [
      "host=auto security=allowlist ask=on-miss node=mac-1",
      { host: "auto", security: "allowlist", ask: "on-miss", node: "mac-1" },
    ],
    ["ask=always for=30m", { ask: "always", forMs: 1_800_000 }],
    ["host:node", { host: "node" }],
  ])("sets session defaults for %s", (text, options) => {
    expect(parseExecText(text)).toEqual({ kind: "set", options });
  });

  it.each([
    ["npm test", {}, "npm test"],
    ["host=node node=mac-1 timeout=60 -- make", { host: "node", node: "mac-1", timeout: 60 }, "make"],
    ["FOO=1 npm test", {}, "FOO=1 npm test"],
    ["echo host=node", {}, "echo host=node"],
    ['workdir="/tmp/a b" ls', { workdir: "/tmp/a b" }, "ls"],
    ["-- host=x is an argument", {}, "host=x is an argument"],
    ["echo 'a  b'\n  && echo c", {}, "echo 'a  b'\n  && echo c"],
    ["curl http://x:80", {}, "curl http://x:80"],
    ["http://x", {}, "http://x"],
    ["pty=on background=off top", { pty: true, background: false }, "top"],
  ])("runs %j", (text, options, command) => {
    expect(parseExecText(text)).toEqual({ kind: "run", options, command });
  });

  it.each([
    ["host=prod-1.example ls", /not a host name/],
    ["security=maximum", /deny, allowlist, full/],
    ["ask=sometimes", /off, on-miss, always/],
    ["timeout=-5 ls", /timeout=-5/],
    ["timeout=abc ls", /timeout=abc/],
    ["timeout=60", /there is none/],
    ["hots=node ls", /Did you mean "host"/],
    ["--", /no command after --/],
    ["for=30m", /something to set/],
    ["for=soon ask=off", /30m/],
    ["host=10.0.0.5", /not a host name/],
    ["ask=maybe", /off, on-miss, always/],
    ["foo=1", /Unknown option "foo"/],
    ["security=full security=deny", /given twice/],
  ])("exec-override-bad-value: refuses %j with a reason and sets nothing", (text, message) => {
    const parsed = parseExecText(text);
    expect(parsed.kind).toBe("error");
    if (parsed.kind === "error") expect(inEnglish(parsed.message)).toMatch(message);
  });

  it("explains", () => {
    expect(parseExecText("explain rm -rf /")).toEqual({ kind: "explain", command: "rm -rf /" });
  });

  it("chat-input: whatever follows -- is the command, byte for byte", () => {
    fc.assert(
      fc.property(
        fc.string({ minLength: 1 }).filter((text) => text.trim() !== "" && text.trimStart() === text),
        (command) => {
          expect(parseExecText(`-- ${command}`)).toEqual({ kind: "run", options: {}, command });
        },
      ),
    );
  });
});
