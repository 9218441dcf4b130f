/** Times and names as people read them. Pure. */
import type { Actor } from "../core/route.ts";

const two = (value: number) => String(value).padStart(2, "0");

/** A clock that ticks: `00:42`, `12:03`, `1:02:03`. Never negative. */
export function elapsed(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  const [h, m, s] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
  return h > 0 ? `${h}:${two(m)}:${two(s)}` : `${two(m)}:${two(s)}`;
}

/** How long something took: `84ms`, `3.2s`, `42s`, `1m12s`, `2h05m`, `3d04h`. */
export function duration(ms: number): string {
  if (ms < 1000) return `${Math.max(0, Math.round(ms))}ms`;
  // Rounded down to a tenth, so that 9.96 s never reads as 10.0s.
  if (ms < 10_000) return `${(Math.floor(ms / 100) / 10).toFixed(1)}s`;
  const seconds = Math.floor(ms / 1000);
  if (seconds < 60) return `${seconds}s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes}m${two(seconds % 60)}s`;
  const hours = Math.floor(minutes / 60);
  if (hours < 24) return `${hours}h${two(minutes % 60)}m`;
  return `${Math.floor(hours / 24)}d${two(hours % 24)}h`;
}

/** Long waits in minutes, the last ones in seconds: `29 min`, `4:59`. */
export function countdown(ms: number): string {
  const seconds = Math.max(0, Math.ceil(ms / 1000));
  if (seconds >= 600) return `${Math.ceil(seconds / 60)} min`;
  return `${Math.floor(seconds / 60)}:${two(seconds % 60)}`;
}

/** `2,048 characters`. */
export function amount(value: number, singular: string, plural = `${singular}s`): string {
  return `${value.toLocaleString("en-US")} ${value === 1 ? singular : plural}`;
}

/** The name alone inside the web chat, with the channel when it came from elsewhere. */
export function actorName(actor: Actor): string {
  const name = actor.display ?? actor.id;
  return actor.channel === "web" || actor.channel === "gateway" ? name : `${name} (${actor.channel})`;
}

/** Local calendar day, for day separators. */
export function dayKey(atMs: number): string {
  const date = new Date(atMs);
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
}

export function dayName(atMs: number, nowMs: number, locale?: string): string {
  if (dayKey(atMs) === dayKey(nowMs)) return "Today";
  const yesterday = new Date(nowMs);
  yesterday.setDate(yesterday.getDate() - 1);
  if (dayKey(atMs) === dayKey(yesterday.getTime())) return "Yesterday";
  const sameYear = new Date(atMs).getFullYear() === new Date(nowMs).getFullYear();
  return new Date(atMs).toLocaleDateString(locale, {
    weekday: "long",
    day: "numeric",
    month: "long",
    ...(sameYear ? {} : { year: "numeric" }),
  });
}

export function timeOfDay(atMs: number, locale?: string): string {
  return new Date(atMs).toLocaleTimeString(locale, { hour: "2-digit", minute: "2-digit" });
}
