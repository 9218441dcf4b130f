/** Durations as people read them; the same words in core, every channel, CLI and web. */

/** `84ms`, `1.4s`, `12.3s`, `1m12s`, `3h02m`, `2d04h`. Negative and non-finite values count as 0. */
export function formatDuration(ms: number): string {
  const safe = Number.isFinite(ms) && ms > 0 ? ms : 0;
  if (safe < 999.5) return `${Math.round(safe)}ms`;
  if (safe < 59_950) return `${(Math.floor(safe / 100) / 10).toFixed(1)}s`;
  const seconds = Math.round(safe / 1000);
  if (seconds < 3600) return `${Math.floor(seconds / 60)}m${pad(seconds % 60)}s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 24 * 60) return `${Math.floor(minutes / 60)}h${pad(minutes % 60)}m`;
  const hours = Math.floor(minutes / 60);
  return `${Math.floor(hours / 24)}d${pad(hours % 24)}h`;
}

/** A running clock: `00:42`, `12:05`, `1:02:03`. */
export function formatClock(ms: number): string {
  const seconds = Math.max(0, Math.floor(Number.isFinite(ms) ? ms / 1000 : 0));
  const hours = Math.floor(seconds / 3600);
  const rest = `${pad(Math.floor((seconds % 3600) / 60))}:${pad(seconds % 60)}`;
  return hours === 0 ? rest : `${hours}:${rest}`;
}

function pad(value: number): string {
  return String(value).padStart(2, "0");
}
