/**
 * Which runs this node has taken, on disk before anything is started: a run is taken once, whatever is sent again and
 * whatever is killed in between. Also keeps how a run ended until its gateway has it.
 */
import { createHash } from "node:crypto";
import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import type { Clock } from "../core/clock.ts";
import type { NodeRunEnd } from "../core/hosts/node/types.ts";
import { runEnd } from "../protocol/node-frames.ts";
import { createPrivate, privateFolder, readPrivate, writePrivate } from "./private-file.ts";

/** Longer than any decision can be acted on, so that a forgotten marker can not let a run happen twice. */
export const MARKER_TTL_MS = 7 * 24 * 3_600_000;

const entrySchema = z.object({
  runId: z.string(),
  gatewayId: z.string(),
  takenAtMs: z.number(),
  /** `settled`: the gateway knows the end; only the marker is left. */
  state: z.enum(["taken", "ended", "settled"]),
  end: runEnd.optional(),
});

export interface JournalEntry {
  readonly runId: string;
  readonly gatewayId: string;
  readonly takenAtMs: number;
  readonly state: "taken" | "ended" | "settled";
  readonly end?: NodeRunEnd;
}

export class RunJournal {
  readonly #folder: string;
  readonly #clock: Clock;
  readonly #newId: () => string;

  constructor(folder: string, clock: Clock, newId: () => string) {
    this.#folder = privateFolder(join(folder, "runs"));
    this.#clock = clock;
    this.#newId = newId;
  }

  /** False: it was taken before. */
  take(runId: string, gatewayId: string): boolean {
    const entry: JournalEntry = { runId, gatewayId, takenAtMs: this.#clock.now(), state: "taken" };
    return createPrivate(this.#path(runId), JSON.stringify(entry), this.#newId());
  }

  ended(runId: string, end: NodeRunEnd): void {
    const entry = this.get(runId);
    if (entry) this.#write({ ...entry, state: "ended", end });
  }

  settled(runId: string): void {
    const entry = this.get(runId);
    if (entry?.state !== "ended") return;
    const { end: _, ...rest } = entry;
    this.#write({ ...rest, state: "settled" });
  }

  get(runId: string): JournalEntry | undefined {
    return this.#read(this.#path(runId));
  }

  /** Those whose end the gateway does not know; markers that are too old to matter are dropped. */
  open(): readonly JournalEntry[] {
    const open: JournalEntry[] = [];
    for (const name of readdirSync(this.#folder)) {
      const path = join(this.#folder, name);
      if (!name.endsWith(".json")) {
        rmSync(path, { force: true });
        continue;
      }
      const entry = this.#read(path);
      // One that can not be read is still a marker: what it stood for is never started again.
      if (!entry) continue;
      if (this.#clock.now() - entry.takenAtMs > MARKER_TTL_MS) rmSync(path, { force: true });
      else if (entry.state !== "settled") open.push(entry);
    }
    return open;
  }

  #read(path: string): JournalEntry | undefined {
    const text = readPrivate(path);
    if (text === undefined) return undefined;
    try {
      return entrySchema.parse(JSON.parse(text)) as JournalEntry;
    } catch {
      return undefined;
    }
  }

  #write(entry: JournalEntry): void {
    writePrivate(this.#path(entry.runId), JSON.stringify(entry), this.#newId());
  }

  /** Run ids come from outside: never a part of a path. */
  #path(runId: string): string {
    return join(this.#folder, `${createHash("sha256").update(runId).digest("hex")}.json`);
  }
}
