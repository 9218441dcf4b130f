import { readdirSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { roomOf, wallsCrossed } from "./support/import-walls.ts";

const SRC = fileURLToPath(new URL("../src", import.meta.url));
const files = readdirSync(SRC, { recursive: true, encoding: "utf8" }).filter((file) => /\.tsx?$/.test(file));

describe("architecture", () => {
  test("no source file imports over a wall", () => {
    expect(files.length).toBeGreaterThan(100);
    expect(files.flatMap((file) => wallsCrossed(file, readFileSync(join(SRC, file), "utf8")))).toEqual([]);
  });

  test("each folder of core and channels is a room of its own", () => {
    const folders = files.map((file) => dirname(file)).filter((folder) => /^(core|channels)\/[^/]+$/.test(folder));
    expect([...new Set(folders)].filter((folder) => roomOf(`${folder}/a.ts`)?.path !== folder)).toEqual([]);
  });

  test("no file is a drawer for leftovers", () => {
    expect(files.filter((file) => /^(utils?|helpers?|common|misc)\.tsx?$/.test(basename(file)))).toEqual([]);
  });

  test.each([
    ["core/exec/a.ts", 'import { x } from "../../channels/channel.ts"'],
    ["core/exec/a.ts", 'import type { x } from "../../commands/command.ts"'],
    ["core/exec/deep/er/a.ts", 'export * from "../../../../gateway/gateway.ts"'],
    ["core/exec/a.ts", 'const x = await import("../../cli/program.ts")'],
    ["core/exec/a.ts", 'import "../../agents/turn.ts"'],
    ["core/policy/a.ts", 'import { readFileSync } from "node:fs"'],
    ["core/policy/a.ts", 'import { readFileSync } from "fs"'],
    ["core/policy/shell/a.ts", 'import { spawn } from "node:child_process"'],
    ["core/policy/a.ts", 'import net from "node:net"'],
    ["core/policy/a.ts", 'import type { Store } from "../store/store.ts"'],
    ["core/policy/shell/a.ts", 'import { x } from "../../exec/env.ts"'],
    ["core/store/a.ts", 'import { x } from "../exec/exec-tool.ts"'],
    ["core/process/a.ts", 'import { x } from "../approvals/approvals.ts"'],
    ["core/config/a.ts", 'import { x } from "../store/store.ts"'],
    ["channels/slack/a.ts", 'import { x } from "../discord/cards.ts"'],
    ["channels/telegram/a.ts", 'import { x } from "../../commands/registry.ts"'],
    ["channels/discord/a.ts", 'import { x } from "../../gateway/server.ts"'],
    ["channels/slack/a.ts", 'import { x } from "../../core/policy/decide.ts"'],
    ["channels/telegram/a.ts", 'import { x } from "../../core/store/store.ts"'],
    ["channels/a.ts", 'import { x } from "./slack/cards.ts"'],
    ["channels/pacing/a.ts", 'import { x } from "../slack/limits.ts"'],
    ["channels/pacing/a.ts", 'import { readFile } from "node:fs/promises"'],
    ["core/a.ts", 'import { x } from "./exec/env.ts"'],
    ["core/words/a.ts", 'import { x } from "../route.ts"'],
    ["core/exec/a.ts", 'import { x } from "../events/queue.ts"'],
    ["core/audit/a.ts", 'import { x } from "../exec/runs.ts"'],
    ["core/sessions/a.ts", 'import { x } from "../approvals/approvals.ts"'],
    ["core/access/a.ts", 'import { x } from "../exec/runs.ts"'],
    ["core/approvals/a.ts", 'import { x } from "../exec/exec-tool.ts"'],
    ["core/hosts/a.ts", 'import { x } from "../approvals/approvals.ts"'],
    ["agents/a.ts", 'import { x } from "../core/process/supervisor.ts"'],
    ["agents/a.ts", 'import { x } from "../core/approvals/approvals.ts"'],
    ["agents/a.ts", 'import { x } from "../gateway/tools.ts"'],
    ["commands/a.ts", 'import { x } from "../channels/text/chunk.ts"'],
    ["channels/text/a.ts", 'import { x } from "../slack/markup.ts"'],
    ["commands/a.ts", 'import { x } from "../gateway/server.ts"'],
    ["commands/a.ts", 'import { x } from "../channels/slack/cards.ts"'],
    ["gateway/a.ts", 'import { x } from "../cli/program.ts"'],
    ["protocol/a.ts", 'import { x } from "../gateway/server.ts"'],
    ["web/a.ts", 'import { x } from "../core/store/store.ts"'],
    ["web/a.ts", 'import { x } from "../gateway/server.ts"'],
    ["web/a.ts", 'import { readFileSync } from "node:fs"'],
    ["core/exec/a.ts", 'import { App } from "@slack/bolt"'],
    ["channels/discord/a.ts", 'import { Bot } from "grammy"'],
    ["channels/slack/a.ts", 'import { Client } from "discord.js"'],
    ["gateway/a.ts", 'import { Queue } from "bullmq"'],
    ["core/exec/a.ts", 'import { Redis } from "ioredis"'],
    ["core/exec/a.ts", 'const pty = createRequire(import.meta.url); const x = require("node-pty")'],
    ["core/events/a.ts", 'import Database from "libsql"'],
    ["core/policy/a.ts", 'import { parse } from "unbash"'],
    ["gateway/a.ts", 'import { generateText } from "ai"'],
    ["cli/a.ts", 'import { Server } from "@modelcontextprotocol/sdk/server/index.js"'],
    ["mcp/a.ts", 'import { x } from "../gateway/server.ts"'],
    ["core/exec/a.ts", 'import { x } from "../../../test/support/redis.ts"'],
    ["attic/a.ts", ""],
  ])("%s must not: %s", (file, source) => {
    expect(wallsCrossed(file, source)).toHaveLength(1);
  });

  test.each([
    ["core/exec/a.ts", 'import { x } from "../policy/decide.ts"'],
    ["core/policy/a.ts", 'import { createHash } from "node:crypto"'],
    ["core/policy/shell/parse.ts", 'import { parse } from "unbash"'],
    ["core/process/pty.ts", 'const { spawn } = await import("node-pty")'],
    ["core/events/a.ts", 'import type { Redis } from "ioredis"'],
    ["channels/slack/a.ts", 'import { x } from "../text/chunk.ts"'],
    ["gateway/gateway.ts", 'await import("../channels/slack/adapter.ts")'],
    ["web/ui/a.tsx", 'import type { Card } from "../../core/cards.ts"'],
  ])("%s may: %s", (file, source) => {
    expect(wallsCrossed(file, source)).toEqual([]);
  });
});
