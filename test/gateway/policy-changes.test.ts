/** Who is told of a changed policy, when, and once: with a real store and queue and a clock of its own. */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { readDocument } from "../../src/core/approvals/approvals-document.ts";
import { changesBetween, changeText, type PolicyChange } from "../../src/core/audit/policy-change.ts";
import { buildConfig } from "../../src/core/config/load.ts";
import type { Config } from "../../src/core/config/schema.ts";
import type { Post } from "../../src/core/events/deliveries.ts";
import type { Actor } from "../../src/core/route.ts";
import { createPolicyChanges, type PolicyChanges, whoHears } from "../../src/gateway/policy-changes.ts";
import { readingOfConfig, readingOfFile } from "../../src/gateway/policy-readings.ts";
import { eventually, type ManualClock, manualClock, openTestState, type TestState } from "../support/state.ts";

const person = (channel: "slack" | "web" | "telegram", id: string): Actor => ({
  kind: "person",
  channel,
  accountId: "default",
  id,
});

function configOf(more: object = {}): Config {
  const built = buildConfig(
    {
      commands: { ownerAllowFrom: ["slack:UOWNER", "slack:USECOND", "telegram:7"] },
      channels: { slack: { botToken: "x", appToken: "x" } },
      ...more,
    },
    "/home/x",
  );
  if (!built.ok) throw new Error(JSON.stringify(built));
  return built.config;
}

describe("who hears of a change", () => {
  const ids = (config: Config, actor: Actor) =>
    whoHears(config, actor).map((route) => `${route.channel}:${route.chatId}`);

  it("is every owner on a configured platform but who did it", () => {
    expect(ids(configOf(), person("slack", "UOWNER"))).toEqual(["slack:USECOND"]);
    expect(ids(configOf(), person("slack", "UGUEST"))).toEqual(["slack:UOWNER", "slack:USECOND"]);
    expect(ids(configOf(), person("web", "operator"))).toEqual(["slack:UOWNER", "slack:USECOND"]);
  });

  it("is the operator when that is nobody else, and nobody when the operator did it", () => {
    const alone = configOf({ commands: { ownerAllowFrom: ["slack:UOWNER"] } });
    expect(ids(alone, person("slack", "UOWNER"))).toEqual(["web:main"]);
    expect(ids(configOf({ commands: { ownerAllowFrom: [] } }), person("web", "operator"))).toEqual([]);
  });
});

/** They wait a few seconds for each other. */
const TOLD_MS = 20_000;

describe("telling", { timeout: 3 * TOLD_MS }, () => {
  let clock: ManualClock;
  let state: TestState;
  let posts: Post[];
  let config: Config;
  let changes: PolicyChanges;
  const document = (() => {
    const read = readDocument('{"version":1}');
    if (!read.ok) throw new Error(read.problem);
    return read.document;
  })();

  async function open(): Promise<void> {
    changes = createPolicyChanges({
      store: state.store,
      queue: state.queue,
      clock,
      gatewayId: "gw",
      config: () => config,
      audit: { record: async () => ({}) as never },
      approvalsFile: () => ({
        damage: () => undefined,
        snapshot: () => ({ path: "x", exists: false, hash: "missing", document }),
      }),
      deliveries: () => ({
        post: async (post) => {
          if (!posts.some(({ key, route }) => key === post.key && route.chatId === post.route.chatId)) posts.push(post);
        },
      }),
      onError: (error) => {
        throw error;
      },
    });
    await changes.start();
  }

  beforeEach(async () => {
    clock = manualClock();
    state = await openTestState(clock);
    posts = [];
    config = configOf();
    await open();
  });
  afterEach(async () => {
    changes.stop();
    await state.dispose();
  });

  const change = (id: string): PolicyChange => ({
    id,
    source: "/allowlist",
    actor: person("slack", "UOWNER"),
    changes: [{ key: "every agent: rule 1", after: id }],
  });

  it("changes that come together are one message, and one that is told again is not", async () => {
    for (let at = 0; at < 14; at++) await changes.tell(change(`rule-${at}`));
    await eventually(() => posts.length === 1, TOLD_MS);
    const [post] = posts;
    expect(post?.route.chatId).toBe("USECOND");
    expect(post?.card).toMatchObject({ fields: { length: 10 }, text: { values: { count: 4 } } });
    await changes.tell(change("rule-3"));
    await changes.tell(change("rule-new"));
    await eventually(() => posts.length === 2, TOLD_MS);
    expect(JSON.stringify(posts[1]?.card)).toContain("rule-new");
    expect(JSON.stringify(posts[1]?.card)).not.toContain("rule-3");
  });

  it("with tellOwners off nothing is queued", async () => {
    config = configOf({ approvals: { tellOwners: false } });
    await changes.tell(change("quiet"));
    expect(await state.store.list("policy-notice")).toEqual([]);
    config = configOf();
    await changes.tell(change("loud"));
    await eventually(() => posts.length === 1, TOLD_MS);
    expect(JSON.stringify(posts)).not.toContain("quiet");
  });
});

describe("readings", () => {
  it("name what may run and who decides, and nothing that is a secret", () => {
    const reading = readingOfConfig(
      configOf({
        tools: { exec: { mode: "ask", safeBins: ["jq"] } },
        channels: { slack: { botToken: "xoxb-secret-token", appToken: "x", execApprovals: { approvers: ["U1"] } } },
      }),
    );
    expect(reading).toMatchObject({
      "tools.exec.mode": "ask",
      "tools.exec.safeBins": "jq",
      "commands.ownerAllowFrom": "slack:UOWNER, slack:USECOND, telegram:7",
      "channels.slack.default.execApprovals.approvers": "U1",
    });
    expect(JSON.stringify(reading)).not.toContain("xoxb");
  });

  it("a rule that was only used is no change; one that is another is", () => {
    const of = (rule: object) => {
      const read = readDocument(
        JSON.stringify({ version: 1, defaults: { security: "allowlist" }, agents: { main: { allowlist: [rule] } } }),
      );
      if (!read.ok) throw new Error(read.problem);
      return readingOfFile(read.document);
    };
    const id = "0a1b2c3d-4e5f-4a6b-8c7d-9e0f1a2b3c4d";
    const before = of({ id, pattern: "git" });
    expect(changesBetween(before, of({ id, pattern: "git", lastUsedAt: 5, lastUsedCommand: "git push" }))).toEqual([]);
    const changed = changesBetween(before, of({ id, pattern: "git", argPattern: "^status$" }));
    expect(changed.map(changeText)).toEqual(["agent main: rule 0a1b2c3d: git → git with arguments matching ^status$"]);
    expect(before["defaults: security"]).toBe("allowlist");
  });
});
