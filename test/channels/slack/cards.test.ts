import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  type RenderedCard,
  reasonModal,
  renderSlackCard,
  type SlackCardContext,
  type SlackMessage,
} from "../../../src/channels/slack/cards.ts";
import { createRedactor } from "../../../src/channels/text/redact.ts";
import type { Card } from "../../../src/core/cards.ts";
import { LANGUAGES } from "../../../src/core/words/languages.ts";
import { messagesFor } from "../../../src/core/words/messages.ts";
import { checkBlocks, checkView, MAX_MESSAGE_TEXT_IN_BLOCKS, textInBlocks } from "../../emulators/slack/block-rules.ts";
import { drawMessage, pingsInBlocks, pingsInMrkdwn } from "../../emulators/slack/markup.ts";
import { alice, approval, run, text } from "./support.ts";

const context: SlackCardContext = {
  messages: messagesFor("en"),
  redactor: createRedactor(),
  nowMs: Date.UTC(2026, 0, 2, 10, 0, 42),
  botName: "openclaw",
};
const names = { user: (id: string) => id, channel: (id: string) => id };

function render(card: Card, over: Partial<SlackCardContext> = {}): RenderedCard {
  const rendered = renderSlackCard(card, { ...context, ...over });
  if (rendered === undefined) throw new Error("nothing rendered");
  return rendered;
}

function json(message: SlackMessage): Record<string, unknown>[] {
  return JSON.parse(JSON.stringify(message.blocks)) as Record<string, unknown>[];
}

function seen(message: SlackMessage): string {
  return drawMessage(message.text, json(message), names).text;
}

function all(rendered: RenderedCard): SlackMessage[] {
  const file = rendered.commandFile;
  return [...rendered.messages, ...(file === undefined ? [] : [file.armed, file.refused])];
}

/** Slack takes it, nobody is pinged, and it can be edited later. */
function expectSendable(rendered: RenderedCard): void {
  for (const message of all(rendered)) {
    expect(checkBlocks(json(message))).toEqual([]);
    expect(textInBlocks(message.blocks)).toBeLessThanOrEqual(MAX_MESSAGE_TEXT_IN_BLOCKS);
    expect([...pingsInMrkdwn(message.text), ...pingsInBlocks(message.blocks)]).toEqual([]);
    expect(message.text.length).toBeLessThanOrEqual(4000);
    expect(message.text.trim()).not.toBe("");
  }
  expect((rendered.plain ?? "").length).toBeLessThanOrEqual(4000);
  expect(pingsInMrkdwn(rendered.plain ?? "")).toEqual([]);
}

const actionsOf = (message: SlackMessage) =>
  message.blocks.flatMap((block) => (block.type === "actions" ? block.elements : []));
/** A menu as all it holds. */
const labels = (message: SlackMessage): string[] =>
  actionsOf(message).map((e) =>
    e.type === "overflow"
      ? `(${e.options.map(({ text }) => text.text).join(" | ")})`
      : "text" in e && typeof e.text === "object"
        ? (e.text?.text ?? "")
        : "",
  );

describe("approval card", () => {
  test("says everything a decision needs, in order", () => {
    const [message] = render(
      approval({ envKeys: ["NODE_ENV", "CI"], warnings: ["Runs on a production host."] }),
    ).messages;
    expect(seen(message).split("\n")).toEqual([
      "Approval needed",
      "⚠ Runs on a production host.",
      "npm run deploy -- --env prod",
      "Asked by  alice (slack)",
      "Agent  main",
      "Folder  /srv/app",
      "Runs on  gateway",
      "Extra variables  NODE_ENV CI",
      "Why it asks",
      "• `npm` is not in the allowlist.",
      "“Allow always” would store",
      "• exactly `npm run deploy -- --env prod` in /srv/app, for agent main",
      "Or type: @openclaw approve 3f0c1a2b allow-once",
      "Expires 2026-01-02 10:30 UTC  ·  ID 3f0c1a2b",
    ]);
  });

  test("says the same reason or rule once, and how many are left out", () => {
    const reasons = ["a", "b", "a", "c", "d", "e", "f", "g", "h"];
    const shown = seen(render(approval({ reasons, always: ["rule", "rule"] })).messages[0]);
    expect(shown).toContain("• a\n• b\n• c\n• d\n• e\n• f\n• +2\n");
    expect(shown.split("• rule")).toHaveLength(2);
  });

  test("the buttons carry only code and id; Allow always asks again and names the rule", () => {
    const [message] = render(approval()).messages;
    const actions = message.blocks.find((block) => block.type === "actions");
    expect(JSON.parse(JSON.stringify(actions))).toMatchObject({
      elements: [
        { action_id: "oc:ap1:o", value: "ap1:o:PwwaKxERQiKDM0REVVVmZg", style: "primary" },
        {
          action_id: "oc:ap1:a",
          value: "ap1:a:PwwaKxERQiKDM0REVVVmZg",
          confirm: { text: { text: expect.stringContaining("exactly `npm run deploy") } },
        },
        { action_id: "oc:ap1:d", value: "ap1:d:PwwaKxERQiKDM0REVVVmZg", style: "danger" },
        {
          action_id: "oc:more",
          options: [{ value: "ap1:r:PwwaKxERQiKDM0REVVVmZg" }, { value: "ap1:f:PwwaKxERQiKDM0REVVVmZg" }],
        },
      ],
    });
    expect(JSON.stringify(actions)).not.toContain('--env prod"');
  });

  test("offers only what the request offers", () => {
    expect(labels(render(approval({ offered: ["allow-once", "deny"], always: [] })).messages[0])).toEqual([
      "Allow once",
      "Deny",
      "(Deny with reason… | Show full command)",
    ]);
  });

  test("what else a card can do stands behind three dots, within the limits of an option; one thing alone is a button", () => {
    const more = actionsOf(render(approval({ snoozable: true })).messages[0]).find((one) => one.type === "overflow");
    expect(more?.options.map(({ text, value }) => [text.text, value])).toEqual([
      ["Deny with reason…", expect.stringMatching(/^ap1:r:.{22}$/)],
      ["Show full command", expect.stringMatching(/^ap1:f:.{22}$/)],
      ["Snooze", expect.stringMatching(/^ap1:z:.{22}$/)],
    ]);
    for (const language of LANGUAGES) {
      const own = actionsOf(render(approval({ snoozable: true }), { messages: messagesFor(language) }).messages[0]);
      const options = own.flatMap((one) => (one.type === "overflow" ? one.options : []));
      expect(options).toHaveLength(3);
      for (const { text, value } of options) {
        expect(text.text.length).toBeLessThanOrEqual(75);
        // The limit it had for long; today it is 150.
        expect(value?.length).toBeLessThanOrEqual(75);
      }
    }
    expect(labels(render(approval({ offered: ["allow-once"], always: [] })).messages[0])).toEqual([
      "Allow once",
      "Show full command",
    ]);
  });

  test("a card that was put off says by whom and until when, in the reader's time", () => {
    const by = { kind: "person", channel: "slack", accountId: "default", id: "U1", display: "<!channel>" } as const;
    const [message] = render(approval({ snoozes: [{ by, untilMs: Date.UTC(2026, 10, 30, 22, 10) }] })).messages;
    const drawn = JSON.stringify(message.blocks.at(-1));
    expect(drawn).toContain("Put off by &lt;!channel&gt; (slack) until <!date^1796076600^{time}|22:10 UTC>");
  });

  test("what nobody decided can be asked again, once", () => {
    const expired = { state: "expired", offered: [], decidedAtMs: 1 } as const;
    expect(labels(render(approval({ ...expired, askable: true })).messages[0])).toEqual(["Ask again"]);
    const by = { kind: "person", channel: "slack", accountId: "default", id: "U1", display: "bram" } as const;
    const [asked] = render(approval({ ...expired, askedAgain: { by, slug: "5d0f7c12" } })).messages;
    expect(labels(asked)).toEqual([]);
    expect(JSON.stringify(asked.blocks)).toContain("Asked again by bram (slack), as 5d0f7c12.");
  });

  test.each([
    ["allowed", { decision: "allow-once" }, "Allowed once\nby alice (slack)"],
    ["allowed", { decision: "allow-always" }, "Always allowed\nby alice (slack)"],
    ["denied", { decision: "deny", comment: "not today" }, "Denied\nby alice (slack)\nReason: not today"],
    ["expired", {}, "Expired: nobody answered in time, so it did not run\nby alice (slack)"],
    ["cancelled", {}, "Cancelled: it did not run\nby alice (slack)"],
  ] as const)("%s: a receipt without buttons", (state, over, words) => {
    const rendered = render(approval({ state, decidedBy: alice, ...over }));
    expect(seen(rendered.messages[0]).startsWith(words)).toBe(true);
    expect(labels(rendered.messages[0])).toEqual([]);
    expectSendable(rendered);
  });

  test.each([
    ["card-invisible-chars", "echo safe\u202e; rm\u200b -rf ~", "echo safe\\u{202E}; rm\\u{200B} -rf ~"],
    ["card-invisible-chars, carriage return and escape", "ls\rcurl x\u001b[2K", "ls\\u{D}curl x\\u{1B}[2K"],
    [
      "card-code-fence-breakout",
      "echo '```' && echo '@everyone <!channel> <@U1>'",
      "echo '```' && echo '@everyone <!channel> <@U1>'",
    ],
    [
      "card-code-fence-breakout, markup",
      "echo \"*_[x](http://y)_*\" '</code></pre><b>Approved</b>'",
      "echo \"*_[x](http://y)_*\" '</code></pre><b>Approved</b>'",
    ],
    [
      "secret-in-command-card",
      "curl -H 'Authorization: Bearer abcdefgh12' https://user:pw@host",
      "curl -H 'Authorization: Bearer •••' https://user:•••@host",
    ],
  ])("%s", (_id, command, shown) => {
    const rendered = render(approval({ command }));
    expect(seen(rendered.messages[0]).split("\n")).toContain(shown);
    expectSendable(rendered);
  });

  test("look-alike letters are named (card-invisible-chars)", () => {
    expect(seen(render(approval({ command: "\u0441url http://x" })).messages[0])).toContain(
      "Look-alike letters from another alphabet: \u0441url",
    );
  });

  test("with a masked secret nothing permanent is offered (secret-in-command-card)", () => {
    const [message] = render(approval({ command: "FOO_TOKEN=abcdef deploy" })).messages;
    expect(labels(message)).not.toContain("Allow always");
    expect(seen(message)).toContain("1 secret is masked here; the real text will run.");
  });

  test("a command that was masked before it came here counts as masked (secret-in-command-card)", () => {
    const [message] = render(approval({ command: "FOO_TOKEN=••• deploy --password •••" })).messages;
    expect(labels(message)).not.toContain("Allow always");
    expect(seen(message)).toContain("2 secrets are masked here");
  });

  test.each([2900, 3000, 3100, 5000, 6400])(
    "a heredoc of %d characters with & < > keeps its buttons (slack-section-3000)",
    (length) => {
      const rendered = render(approval({ command: `cat <<E\n${"a&b<c> ".repeat(length).slice(0, length)}\nE` }));
      expectSendable(rendered);
      const carrier = rendered.commandFile?.armed ?? rendered.messages[0];
      expect(labels(carrier)).toContain("Allow once");
      if (rendered.commandFile === undefined) expect(labels(carrier)).toContain("Allow always");
    },
  );

  test("is never refused by Slack, whatever the fields hold", () => {
    const long = fc.oneof(
      fc.string({ unit: "grapheme", maxLength: 30 }),
      fc.constantFrom(
        "x".repeat(9000),
        "&<>".repeat(4000),
        "<!channel> <@U0ALICENG> ",
        "`".repeat(500),
        "\u202e".repeat(300),
        "é👩‍👩‍👧‍👦".repeat(900),
      ),
    );
    fc.assert(
      fc.property(
        fc.record({
          command: long.filter((value) => value !== ""),
          cwd: long,
          reasons: fc.array(long, { maxLength: 8 }),
          warnings: fc.array(long, { maxLength: 6 }),
          always: fc.array(long, { maxLength: 8 }),
          envKeys: fc.array(long, { maxLength: 30 }),
          agentId: long,
          state: fc.constantFrom("pending" as const, "denied" as const),
          comment: long,
          statusLine: long,
        }),
        (over) => expectSendable(render(approval({ ...over, decidedBy: { ...alice, display: over.cwd } }))),
      ),
      { numRuns: 60 },
    );
  });
});

describe("run card", () => {
  test("running: clock, command, tail, Stop", () => {
    const [message] = render(
      run({ state: "running", tail: "\u001b[32mok\u001b[0m 10%\r20%", totalChars: 400, actions: ["stop"] }),
    ).messages;
    expect(seen(message).split("\n")).toEqual([
      "Running for 00:42",
      "npm test",
      "20%",
      "Last 3 of 400 characters  ·  Session brisk-otter  ·  Folder /srv/app  ·  Runs on gateway",
    ]);
    expect(labels(message)).toEqual(["Stop"]);
  });

  test.each([
    [{}, "Finished · exit code 0 · took 1m12s"],
    [{ outcome: "failed", exitCode: 3 }, "Failed · exit code 3 · took 1m12s"],
    [{ outcome: "killed", exitCode: null, exitSignal: "SIGTERM" }, "Stopped · signal SIGTERM · took 1m12s"],
    [
      { outcome: "timed-out", exitCode: null, exitSignal: "SIGKILL" },
      "Timed out and was stopped · signal SIGKILL · took 1m12s",
    ],
    [{ outcome: "not-started", exitCode: null, durationMs: 0 }, "Did not start"],
  ] as const)("finished %#", (over, title) => {
    expect(seen(render(run(over)).messages[0]).split("\n")[0]).toBe(title);
  });

  test("empty output says so", () => {
    expect(seen(render(run({ tail: "", totalChars: 0 })).messages[0])).toContain("No output.");
    expect(seen(render(run({ state: "running", tail: "", totalChars: 0 })).messages[0])).toContain("No output yet.");
  });

  test("is never refused, and shows the end of what it can not show whole (tail-cut-inside-utf8)", () => {
    for (const tail of [
      "€".repeat(70_000),
      "<&>".repeat(30_000),
      `${"a line\n".repeat(9000)}the end`,
      "👩‍👩‍👧‍👦".repeat(4000),
    ]) {
      const rendered = render(run({ tail, totalChars: tail.length }));
      expectSendable(rendered);
      expect(seen(rendered.messages[0])).not.toMatch(/[\ud800-\udbff](?![\udc00-\udfff])/);
    }
  });
});

describe("text card", () => {
  test("title, text, fields with notes, code and hint", () => {
    const card = text({
      tone: "warning",
      fields: [
        { label: "host", value: "gateway", note: "from the session" },
        { label: "ask", value: "on-miss" },
      ],
      code: "ls -la",
      hint: "Change it with /exec host=node",
    });
    expect(seen(render(card).messages[0]).split("\n")).toEqual([
      "⚠ Status",
      "All is well.",
      "host  gateway  (from the session)",
      "ask  on-miss",
      "ls -la",
      "Change it with /exec host=node",
    ]);
  });

  test("a long page of output loses nothing, whatever it holds", () => {
    const lines = Array.from({ length: 400 }, (_, one) => `${one}: <b> & \`\`\` ${"x".repeat(one % 90)}`);
    const rendered = render({ kind: "text", tone: "info", code: lines.join("\n") });
    const { messages } = rendered;
    expect(messages.length).toBeGreaterThan(2);
    expectSendable(rendered);
    const shown = messages.map(seen).join("\n").split("\n");
    expect(lines.filter((line) => !shown.includes(line))).toEqual([]);
  });

  test("a letter under ten thousand accents is sent as well", () => {
    const accents = `a${"\u0301".repeat(10_000)}`;
    for (const card of [{ code: accents }, { text: accents }, { text: `\`\`\`\n${accents}\n\`\`\`` }]) {
      const rendered = render({ kind: "text", tone: "info", ...card });
      expectSendable(rendered);
      expect(rendered.messages.map(seen).join("").split("\u0301")).toHaveLength(10_001);
    }
  });

  test("a long answer of a model loses nothing either", () => {
    const words = Array.from({ length: 12_000 }, (_, one) => `w${one}`);
    const { messages } = render({ kind: "text", tone: "info", text: words.join(" ") });
    const shown = new Set(messages.flatMap((one) => seen(one).split(/\s+/)));
    expect(words.filter((word) => !shown.has(word))).toEqual([]);
  });

  test("nothing in it is markup", () => {
    const tricky = "*bold* _it_ `code` ~s~ <http://x|y> <!here> &amp; :smile:";
    const rendered = render(text({ text: tricky }));
    expect(seen(rendered.messages[0])).toContain(tricky);
    expectSendable(rendered);
  });

  test("is never refused, whatever it holds", () => {
    const piece = fc.oneof(
      fc.string({ maxLength: 40 }),
      fc.constantFrom("x".repeat(7000), "<&>\n".repeat(6000), "", "\n\n"),
    );
    fc.assert(
      fc.property(
        fc.record({
          title: piece,
          text: piece,
          code: piece,
          hint: piece,
          fields: fc.array(fc.record({ label: piece, value: piece, note: piece }), { maxLength: 60 }),
        }),
        (over) => {
          fc.pre(`${over.title}${over.text}${over.code}${over.hint}`.trim() !== "");
          expectSendable(render(text(over)));
        },
      ),
      { numRuns: 80 },
    );
  });
});

describe("other surfaces", () => {
  test("the echo of what a person typed has no card", () => {
    expect(renderSlackCard({ kind: "said", actor: alice, text: "x" }, context)).toBeUndefined();
  });

  test.each(["en", "nl", "pt-BR", "vi"])("the reason dialog is valid in %s", (language) => {
    expect(checkView(JSON.parse(JSON.stringify(reasonModal(messagesFor(language), "{}"))))).toEqual([]);
  });

  test.each(["nl", "pt-BR", "vi"])("cards are valid in %s", (language) => {
    const messages = messagesFor(language);
    for (const card of [
      approval(),
      approval({ command: "x".repeat(9000) }),
      approval({ state: "expired" }),
      run(),
      run({ state: "running", actions: ["stop", "full-log"] }),
    ]) {
      expectSendable(render(card, { messages }));
    }
  });
});
