/** When a conversation begins anew by itself (`session.reset`). Pure. */
import type { Config } from "../core/config/schema.ts";

const DAY_MS = 24 * 3_600_000;

/** `lastMs`: when a person last spoke, 0 for never. */
export function beginsAnew(reset: Config["session"]["reset"], lastMs: number, nowMs: number): boolean {
  if (lastMs === 0) return false;
  switch (reset.mode) {
    case "none":
      return false;
    case "idle":
      return nowMs - lastMs >= reset.idleMinutes * 60_000;
    case "daily": {
      const boundary = new Date(nowMs);
      boundary.setHours(reset.atHour, 0, 0, 0);
      const startMs = boundary.getTime() <= nowMs ? boundary.getTime() : boundary.getTime() - DAY_MS;
      return lastMs < startMs;
    }
  }
}
