import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { explainReason } from "../../../src/core/policy/reasons.ts";
import { mentionedCommands } from "../../../src/core/policy/shell/parse.ts";
import { type Asked, codes, judge, makeWorld, type World } from "./policy-world.ts";

let world: World;
beforeAll(() => {
  world = makeWorld();
});
afterAll(() => world.remove());

const asks = (command: string, asked: Asked = {}) => {
  const decision = judge(command, world.cwd, asked);
  if (decision.kind !== "ask") throw new Error(`${decision.kind}: ${command}`);
  return decision;
};

describe("faults that users of such software reported: shell analysis", () => {
  it("busybox-applet: a multiplexer asks for every applet, and its grant is never for busybox as such", () => {
    const listed: Asked = { allowlist: ["busybox", "/usr/bin/busybox", "sh", "awk"] };
    for (const command of ["busybox sh -c 'touch x'", `busybox awk 'BEGIN{system("id")}'`, "busybox sh -c 'echo a'"]) {
      const decision = asks(command, listed);
      expect(decision.offered).not.toContain("allow-always");
      expect(decision.alwaysStores).toEqual([]);
    }
  });

  it("commit-message-backticks: names the substitution and the remedy, and never rewrites the command", () => {
    const command = 'git commit -m "fix `parse()` in a.ts"';
    const decision = asks(command, { allowlist: ["git"] });
    expect(codes(decision)).toContain("command-substitution");
    expect(decision.reasons.map(explainReason).join()).toMatch(/single quotes/);
    expect(decision.plan).toEqual({ kind: "verbatim", text: command });
  });

  it.each([
    'eval "$X"',
    "source ./a.sh",
    ". ./a.sh",
    "command node x",
    "builtin eval id",
    "exec node x",
    "trap 'id' EXIT",
    "$'\\143\\141\\164' /etc/passwd",
    "c=cat; $c /etc/passwd",
    "echo aWQ= | base64 -d | sh",
  ])("eval-and-friends: %s is a miss, whatever is listed", (command) => {
    asks(command, { allowlist: ["/usr/bin/echo", "/usr/bin/base64"] });
  });

  it.each([
    "cat <<EOF\n$(touch pwned)\nEOF",
    "cat <<EOF\n`touch pwned`\nEOF",
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the shell reads it
    "cat <<EOF\n${x:-$(id)}\nEOF",
    "cat <<EOF\n$\\\n(touch pwned)\nEOF",
  ])("heredoc-unquoted-substitution: %j asks", (command) => {
    expect(asks(command, { allowlist: ["cat"] }).offered).not.toContain("allow-always");
  });

  it.each([
    "eval -a openclaw-exec ".repeat(390),
    "eval bash -c openclaw ".repeat(350),
    `${"sh ".repeat(60)}-c '${"sh ".repeat(60)}-c openclaw-exec'`,
  ])("a text that names another text again and again is answered, not read for hours (%#)", (command) => {
    expect(judge(command, world.cwd, { config: { strictInlineEval: true } }).kind).toBe("ask");
    const open: Asked = { config: { security: "full", strictInlineEval: true } };
    expect(["allow", "ask"]).toContain(judge(command, world.cwd, open).kind);
  });

  it("heredoc-unterminated: fails closed", () => {
    asks("/usr/bin/tee f <<EOF", { allowlist: ["/usr/bin/tee"] });
  });

  it("heredoc-body-as-phantom-commands: the body is no command and makes no highlights of its own", () => {
    const command = "cat > note.txt <<EOF\nDear team (100);\nbye | later\nEOF\nfalse";
    const decision = asks(command, { allowlist: ["cat"] });
    expect(decision.reasons.map(({ code }) => code)).toContain("heredoc");
    const named = decision.segments.map((segment) => segment.argv[0]);
    expect(named).not.toContain("bye");
    expect(named).not.toContain("later");
    expect(mentionedCommands(command).commands.map(({ words }) => words[0])).toEqual(["cat", "false"]);
  });

  it("builtin-cd-chain: Allow always is offered only with something to store, and then works", () => {
    const decision = asks("cd . && ls", { allowlist: [] });
    if (decision.offered.includes("allow-always")) {
      expect(decision.alwaysStores.length).toBeGreaterThan(0);
      expect(judge("cd . && ls", world.cwd, { allowlist: [...decision.alwaysStores] }).kind).toBe("allow");
    } else {
      expect(decision.alwaysStores).toEqual([]);
    }
  });

  it.each([
    ['echo "$(id)"', "ask"],
    ["echo '$(id)'", "allow"],
    ["echo it's fine", "ask"],
    ["$c /etc/passwd", "ask"],
    ["wc -l $HOME/.ssh/id", "ask"],
    // Decodes to `cat x`, literally and for certain, and cat is listed.
    ["$'\\143\\141\\164' x", "allow"],
    ["echo `id`", "ask"],
    ["cat <<'EOF'\nx\nEOF", "ask"],
    ["! curl a", "ask"],
    ["{ curl a; }", "ask"],
    ["time curl a", "ask"],
    ["coproc curl a", "ask"],
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the shell reads it
    ["echo ${x:-$(id)}", "ask"],
  ])("shell-quote-not-a-policy-parser: %j is %s", (command, expected) => {
    expect(judge(command, world.cwd, { allowlist: ["echo", "cat", "wc"] }).kind).toBe(expected);
  });
});

describe("faults that users of such software reported: policy resolution", () => {
  it("per-agent-policy-ignored-for-cron: a chat, a wake, a cron job and a reload are judged alike", () => {
    const layers: Asked = {
      config: { security: "allowlist", ask: "on-miss" },
      agent: { ask: "off" },
      hostFile: { allowlist: [], askFallback: { value: "deny", from: "host-file:defaults" } },
    };
    const outcomes = [
      judge("curl a", world.cwd, { ...layers, call: { fromChannel: true } }),
      judge("curl a", world.cwd, { ...layers, call: { fromChannel: false } }),
      judge("curl a", world.cwd, layers),
    ];
    expect(outcomes.map((decision) => decision.kind)).toEqual(["deny", "deny", "deny"]);
    expect(new Set(outcomes.map((decision) => JSON.stringify(codes(decision)))).size).toBe(1);
  });
});
