import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { chatMigrationEdits } from "../../../src/core/config/chat-migration.ts";
import { editConfigBy } from "../../../src/core/config/edit.ts";
import { loadConfig } from "../../../src/core/config/load.ts";

const OLD = "-123";
const NEW = "-100987";

/** Every place that can name a chat, with remarks that must survive. */
const FILE = `{
  // Who may talk to the bot.
  channels: {
    telegram: {
      botToken: "7000000001:AAE-test-token-test-token-test-token-0",
      groups: {
        "-123": { requireMention: false }, // the ops room
        "-456": {},
      },
      accounts: { second: { botToken: "7000000002:AAE-test-token-test-token-test-token-0", groups: { "-123": { allowFrom: ["7"] } } } },
    },
  },
  bindings: [
    { agentId: "main", match: { channel: "telegram", peer: { kind: "group", id: "-123" } } },
    { agentId: "main", match: { channel: "slack", peer: { kind: "group", id: "-123" } } },
  ],
  approvals: { exec: { targets: [{ channel: "telegram", to: "-123" }, { channel: "telegram", to: "-1234" }] } },
  agents: {
    defaults: { heartbeat: { target: "telegram", to: "-123:topic:7" } },
    list: [{ id: "main", heartbeat: { target: "telegram", to: "-456" } }],
  },
}
`;

describe("tg-supergroup-migration: the configuration follows a group to its new id", () => {
  it("in every place that names it, and in no other", async () => {
    const folder = await mkdtemp(join(tmpdir(), "openclaw-migrate-"));
    const path = join(folder, "openclaw.json");
    await writeFile(path, FILE, { mode: 0o600 });
    const loaded = await loadConfig({ env: { OPENCLAW_STATE_DIR: folder, HOME: folder }, workingDir: folder });
    expect(loaded.ok ? [] : loaded.problems).toEqual([]);
    const result = await editConfigBy(loaded, (document) => chatMigrationEdits(document, OLD, NEW));
    const after = await readFile(path, "utf8");
    expect(after.match(/"-123"/g)).toHaveLength(1);
    // Two lists of groups, a binding, a target of approvals, a heartbeat in one of its topics.
    expect(after.match(/"-100987(?:"|:topic:7")/g)).toHaveLength(5);
    expect(after).toContain('to: "-1234"');
    expect(after).toContain("// Who may talk to the bot.");
    expect(after).toContain('channel: "slack", peer: { kind: "group", id: "-123" }');
    expect(result).toMatchObject({ written: true, commentsLost: false });
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    const again = await loadConfig({ env: { OPENCLAW_STATE_DIR: folder, HOME: folder }, workingDir: folder });
    expect(again.ok && again.config.channels.telegram?.accounts.default?.groups?.[NEW]).toMatchObject({
      requireMention: false,
    });
    expect(await editConfigBy(again, (document) => chatMigrationEdits(document, OLD, NEW))).toMatchObject({
      written: false,
      changed: false,
    });
    await rm(folder, { recursive: true });
  });

  it("keeps what the file already says about the new id", () => {
    const document = { channels: { telegram: { groups: { [OLD]: { requireMention: false }, [NEW]: {} } } } };
    expect(chatMigrationEdits(document, OLD, NEW)).toEqual([
      { kind: "unset", path: ["channels", "telegram", "groups", OLD] },
    ]);
  });

  it("says nothing about files that do not name the group, whatever they hold", () => {
    for (const document of [undefined, null, 7, [], {}, { channels: 1, bindings: {}, agents: null }]) {
      expect(chatMigrationEdits(document, OLD, NEW)).toEqual([]);
    }
  });
});
