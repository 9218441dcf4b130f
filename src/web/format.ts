/** Times and names as people read them, beyond the durations of core/duration.ts. Pure. */
import type { Actor } from "../core/route.ts";

const two = (value: number) => String(value).padStart(2, "0");

/** Long waits in minutes, the last two minutes in seconds: `in 29 minutes`, `in 42 seconds`, `now`. */
export function timeLeft(ms: number, locale?: string): string {
  const words = new Intl.RelativeTimeFormat(locale, { numeric: "auto" });
  const seconds = Math.max(0, Math.ceil(ms / 1000));
  return seconds > 120 ? words.format(Math.ceil(seconds / 60), "minute") : words.format(seconds, "second");
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

/** `Today`, `Yesterday`, `Friday 20 February`, in the words of the locale. */
export function dayName(atMs: number, nowMs: number, locale?: string): string {
  const yesterday = new Date(nowMs);
  yesterday.setDate(yesterday.getDate() - 1);
  const daysAgo = [nowMs, yesterday.getTime()].findIndex((day) => dayKey(day) === dayKey(atMs));
  if (daysAgo !== -1) {
    const name = new Intl.RelativeTimeFormat(locale, { numeric: "auto" }).format(-daysAgo, "day");
    return name.charAt(0).toLocaleUpperCase(locale) + name.slice(1);
  }
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

/** `842 byte`, `12 kB`, `3.4 MB`, in the words of the locale. */
export function fileSize(bytes: number, locale?: string): string {
  const [value, unit] =
    bytes < 1000 ? [bytes, "byte"] : bytes < 1e6 ? [bytes / 1e3, "kilobyte"] : [bytes / 1e6, "megabyte"];
  const maximumFractionDigits = value < 10 && unit !== "byte" ? 1 : 0;
  return value.toLocaleString(locale, { style: "unit", unit, unitDisplay: "short", maximumFractionDigits });
}
