/**
 * Heartbeats: an agent that looks around by itself, every so often, within its hours. The schedule is the queue's, so it
 * survives restarts and ticks once however many gateways there are. A tick asks for a wake or is skipped with a reason;
 * completions are told either way (`every: "0m"` turns only the ticks off).
 */
import type { Clock } from "../clock.ts";
import type { Route } from "../route.ts";
import type { Job, Queue } from "./queue.ts";
import type { Wakes } from "./wakes.ts";

const HEARTBEAT_JOB = "heartbeat";
/** A tick that could not run for this long is worth nothing any more (channels.md 7.1). */
export const HEARTBEAT_MAX_AGE_MS = 10 * 60_000;

const DEFAULT_HEARTBEAT_PROMPT =
  "Read HEARTBEAT.md if it is there and follow it strictly. Do not repeat old tasks. If nothing needs attention, answer HEARTBEAT_OK.";

/** So much of HEARTBEAT.md is told. */
const MAX_CHECKLIST_CHARS = 6_000;

export type HeartbeatSkip = "disabled" | "quiet-hours" | "no-model" | "empty-heartbeat-file" | "alerts-disabled";

export interface ActiveHours {
  /** `08:00`: the first minute. */
  readonly start: string;
  /** `22:00`, `24:00`: the first minute after. Equal to `start`: never. */
  readonly end: string;
  /** Default the machine's. */
  readonly timezone?: string;
}

export interface HeartbeatAgent {
  readonly agentId: string;
  readonly sessionKey: string;
  /** 0: no heartbeats. */
  readonly everyMs: number;
  readonly activeHours?: ActiveHours;
  readonly prompt?: string;
}

export interface Heartbeats {
  /** Sets the schedules to what the configuration says and starts to work on ticks. */
  start(): Promise<void>;
}

export interface HeartbeatsOptions {
  readonly queue: Queue;
  readonly clock: Clock;
  readonly wakes: Pick<Wakes, "request">;
  /** As the configuration is now. */
  readonly agents: () => readonly HeartbeatAgent[];
  readonly hasModel: (agentId: string) => boolean;
  /** The text of the agent's HEARTBEAT.md; absent: there is none. */
  readonly checklist: (agentId: string) => Promise<string | undefined>;
  /** Where the agent speaks of its own accord; absent: nowhere. */
  readonly routeFor: (agentId: string) => Promise<Route | undefined>;
  /** False: nothing of a heartbeat would be seen there. */
  readonly isSeenAt?: (route: Route) => boolean;
  readonly onSkip?: (agentId: string, why: HeartbeatSkip) => void;
}

interface Tick {
  readonly agentId: string;
}

export function createHeartbeats(options: HeartbeatsOptions): Heartbeats {
  const { queue, clock } = options;

  async function tick({ data: { agentId }, enqueuedAtMs }: Job<Tick>): Promise<void> {
    const agent = options.agents().find((one) => one.agentId === agentId);
    const why = agent && clock.now() - enqueuedAtMs <= HEARTBEAT_MAX_AGE_MS ? await skip(agent) : "disabled";
    if (why !== undefined || !agent) {
      options.onSkip?.(agentId, why ?? "disabled");
      return;
    }
    const route = await options.routeFor(agentId);
    if (route && options.isSeenAt?.(route) === false) {
      options.onSkip?.(agentId, "alerts-disabled");
      return;
    }
    const checklist = (await options.checklist(agentId))?.trim();
    const prompt = agent.prompt ?? DEFAULT_HEARTBEAT_PROMPT;
    await options.wakes.request(
      { agentId, sessionKey: agent.sessionKey, ...(route ? { route } : {}) },
      "heartbeat",
      // Its text comes along: to read the file the agent would have to run a command, and somebody to allow it.
      checklist ? `${prompt}\n\nHEARTBEAT.md:\n${checklist.slice(0, MAX_CHECKLIST_CHARS)}` : prompt,
    );
  }

  async function skip(agent: HeartbeatAgent): Promise<HeartbeatSkip | undefined> {
    if (agent.everyMs <= 0) return "disabled";
    if (agent.activeHours && !isActive(agent.activeHours, clock.now())) return "quiet-hours";
    if (!options.hasModel(agent.agentId)) return "no-model";
    const checklist = await options.checklist(agent.agentId);
    return checklist !== undefined && isEffectivelyEmpty(checklist) ? "empty-heartbeat-file" : undefined;
  }

  return {
    async start() {
      const wanted = new Map(
        options.agents().flatMap((agent) => (agent.everyMs > 0 ? [[scheduleId(agent.agentId), agent] as const] : [])),
      );
      for (const { id } of await queue.schedules()) {
        if (id.startsWith(SCHEDULE) && !wanted.has(id)) await queue.unschedule(id);
      }
      for (const [id, agent] of wanted) {
        await queue.schedule<Tick>(
          id,
          { everyMs: agent.everyMs },
          { name: HEARTBEAT_JOB, data: { agentId: agent.agentId } },
        );
      }
      await queue.process<Tick>(HEARTBEAT_JOB, tick);
    },
  };
}

const SCHEDULE = "heartbeat/";
const scheduleId = (agentId: string) => `${SCHEDULE}${agentId}`;

/** Is this moment within the hours? They may span midnight; daylight saving is the time zone's business. */
export function isActive({ start, end, timezone }: ActiveHours, atMs: number): boolean {
  const parts = new Intl.DateTimeFormat("en-GB", {
    hour: "2-digit",
    minute: "2-digit",
    hourCycle: "h23",
    ...(timezone === undefined ? {} : { timeZone: timezone }),
  }).formatToParts(atMs);
  const part = (type: string) => Number(parts.find((one) => one.type === type)?.value ?? 0);
  const now = part("hour") * 60 + part("minute");
  const from = minutes(start);
  const to = minutes(end);
  if (from === to) return false;
  return from < to ? now >= from && now < to : now >= from || now < to;
}

function minutes(time: string): number {
  const [hours = 0, rest = 0] = time.split(":").map(Number);
  return hours * 60 + rest;
}

/** Nothing but blanks, headings, comments and empty list items: there is nothing to look after. */
export function isEffectivelyEmpty(markdown: string): boolean {
  return markdown
    .replace(/<!--[\s\S]*?-->/g, "")
    .split("\n")
    .every((line) => /^\s*(?:#{1,6}(?:\s.*)?|[-*+](?:\s+\[[ xX]?\])?|```.*)?\s*$/.test(line));
}
