/**
 * Which room may use which, as a table, and a check of source text against it. Resolves paths, so
 * that a wall holds however many `../` lead over it.
 */
import { builtinModules } from "node:module";
import { posix } from "node:path";
import ts from "typescript";

interface Room {
  /** Path under src/; the longest match applies: what has a room of its own is not in the room around it. */
  readonly path: string;
  /** Other rooms, or single files of them, that it may use. */
  readonly may: readonly string[];
  /** Node's own modules it may use. Left out: any. */
  readonly builtins?: readonly string[];
}

/** Computing is allowed, touching the world is not. */
const PURE = ["node:crypto", "node:path", "node:util", "node:buffer"];
/** So is letting others have a turn in between. */
const PURE_IN_TURNS = [...PURE, "node:timers/promises"];

const NEUTRAL = [
  "core/route.ts",
  "core/cards.ts",
  "core/outbound.ts",
  "core/errors.ts",
  "core/clock.ts",
  "core/lanes.ts",
  "core/nearest.ts",
  "core/pause.ts",
  "core/time-limit.ts",
  "core/duration.ts",
  "core/words",
];
const CHANNEL_PORT = [
  "channels/channel.ts",
  "channels/adapter-deps.ts",
  "channels/turns.ts",
  "channels/pacing",
  "channels/newer-messages.ts",
  "channels/recent.ts",
  "channels/log-file.ts",
  "channels/text",
  "channels/cards",
];

/** What of core is a platform's business: cards, routes and words, never who may do what. */
const OF_A_PLATFORM = [...NEUTRAL, ...CHANNEL_PORT];

export const ROOMS: readonly Room[] = [
  { path: "main.ts", may: ["cli"] },
  { path: "cli", may: ["core", "gateway", "commands", "channels", "mcp", "node-host", "protocol"] },
  { path: "gateway", may: ["core", "channels", "commands", "agents", "mcp", "protocol"] },
  { path: "commands", may: ["core"] },
  {
    path: "agents",
    may: [...NEUTRAL, "core/config", "core/events", "core/exec", "core/policy", "core/store"],
  },
  { path: "mcp", may: NEUTRAL },
  { path: "node-host", may: ["core", "protocol"] },
  { path: "protocol", may: ["core"] },
  { path: "web", may: ["protocol", ...NEUTRAL, "core/policy"], builtins: [] },
  { path: "web/vite.config.ts", may: [] },

  { path: "core", may: ["core/policy", "core/words"] },
  { path: "core/words", may: ["core/cards.ts"], builtins: [] },
  { path: "core/policy", may: ["core/errors.ts", "core/route.ts", "core/words"], builtins: PURE },
  { path: "core/config", may: [...NEUTRAL, "core/policy"] },
  { path: "core/store", may: [...NEUTRAL, "core/events"] },
  { path: "core/process", may: [...NEUTRAL, "core/policy"] },
  { path: "core/sessions", may: [...NEUTRAL, "core/policy", "core/store"] },
  { path: "core/audit", may: [...NEUTRAL, "core/policy", "core/store"] },
  { path: "core/access", may: [...NEUTRAL, "core/approvals", "core/config", "core/events", "core/store"] },
  {
    path: "core/approvals",
    may: [...NEUTRAL, "core/audit", "core/config", "core/events", "core/policy", "core/store"],
  },
  {
    path: "core/hosts/node",
    may: [...NEUTRAL, "core/hosts", "core/exec", "core/policy", "core/process", "core/store"],
  },
  { path: "core/hosts", may: [...NEUTRAL, "core/exec", "core/policy", "core/process"] },
  {
    path: "core/exec",
    may: [
      ...NEUTRAL,
      "core/access",
      "core/approvals",
      "core/audit",
      "core/config",
      "core/hosts",
      "core/policy",
      "core/process",
      "core/sessions",
      "core/store",
    ],
  },
  {
    path: "core/events",
    may: [...NEUTRAL, "core/access", "core/approvals", "core/config", "core/exec", "core/process", "core/store"],
  },

  { path: "channels", may: [...NEUTRAL, "channels/text"] },
  { path: "channels/text", may: NEUTRAL, builtins: PURE_IN_TURNS },
  { path: "channels/cards", may: [...NEUTRAL, "core/policy/types.ts", "channels/text"], builtins: PURE },
  { path: "channels/pacing", may: NEUTRAL, builtins: PURE },
  { path: "channels/web", may: [...OF_A_PLATFORM, "core/store", "protocol"] },
  { path: "channels/slack", may: OF_A_PLATFORM },
  { path: "channels/discord", may: OF_A_PLATFORM },
  { path: "channels/telegram", may: OF_A_PLATFORM },
];

/** A library that talks to the world is known to one room only. */
export const SDK_ROOMS: Readonly<Record<string, readonly string[]>> = {
  "@slack/": ["channels/slack"],
  "discord.js": ["channels/discord"],
  "@discordjs/": ["channels/discord"],
  "discord-api-types": ["channels/discord"],
  grammy: ["channels/telegram"],
  "@grammyjs/": ["channels/telegram"],
  bullmq: ["core/events"],
  "@bull-board/": ["core/events", "gateway"],
  ioredis: ["core/store", "core/events"],
  libsql: ["core/store"],
  "node-pty": ["core/process"],
  commander: ["cli"],
  hono: ["gateway"],
  "@hono/": ["gateway"],
  unbash: ["core/policy/shell"],
  preact: ["web"],
  "@xterm/": ["web/replay"],
  ai: ["agents"],
  "@modelcontextprotocol/": ["mcp"],
  "@ai-sdk/": ["agents"],
};

/** What is wrong with a file's imports, one sentence each. `file` is a path under src/. */
export function wallsCrossed(file: string, source: string): string[] {
  const room = roomOf(file);
  if (!room) return [`src/${file} is in no room of the table`];
  return specifiers(source).flatMap((specifier) => {
    const why = problem(file, room, specifier);
    return why === undefined ? [] : [`src/${file} imports ${specifier}: ${why}`];
  });
}

function problem(file: string, room: Room, specifier: string): string | undefined {
  if (specifier.startsWith(".")) {
    const target = posix.join(posix.dirname(file), specifier);
    if (target.startsWith("..")) return specifier.endsWith("package.json") ? undefined : "it is outside of src";
    const allowed = roomOf(target) === room || room.may.some((path) => isInside(target, path));
    return allowed ? undefined : `${room.path} may only use ${[...room.may].join(", ") || "nothing"}`;
  }
  const name = specifier.replace(/^node:/, "");
  if (builtinModules.includes(name)) {
    const banned = room.builtins !== undefined && !room.builtins.includes(`node:${name}`);
    return banned ? `${room.path} does no I/O` : undefined;
  }
  for (const [sdk, rooms] of Object.entries(SDK_ROOMS)) {
    const used = sdk.endsWith("/") ? specifier.startsWith(sdk) : specifier === sdk || specifier.startsWith(`${sdk}/`);
    if (used && !rooms.some((path) => isInside(file, path))) return `only ${rooms.join(" and ")} may use it`;
  }
  return undefined;
}

/** The room that a file under src/ is in. */
export function roomOf(file: string): Room | undefined {
  return ROOMS.filter(({ path }) => isInside(file, path)).toSorted((a, b) => b.path.length - a.path.length)[0];
}

function isInside(file: string, path: string): boolean {
  return file === path || file.startsWith(`${path}/`);
}

/** Static, dynamic, type-only and re-export alike, and `require`. */
function specifiers(source: string): string[] {
  return ts.preProcessFile(source, true, true).importedFiles.map(({ fileName }) => fileName);
}
