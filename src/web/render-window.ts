/** Which messages are drawn: a stretch of the conversation, so that thousands of messages stay smooth. Pure. */

/** Drawn at the start, and added at either end when a person scrolls there. */
export const WINDOW_STEP = 100;
/** Never more than this are drawn. */
export const WINDOW_MAX = 400;

/** By `order` of messages, which does not move when older ones are loaded. `to` absent: up to the newest. */
export interface RenderWindow {
  readonly from: number;
  readonly to?: number;
}

/** Indices of the drawn stretch in `orders` (ascending), end exclusive. */
export function stretch(window: RenderWindow | undefined, orders: readonly number[]): { start: number; end: number } {
  const count = orders.length;
  if (window === undefined) return { start: Math.max(0, count - WINDOW_STEP), end: count };
  const below = orders.findIndex((order) => order >= window.from);
  const start = below === -1 ? Math.max(0, count - WINDOW_STEP) : below;
  const to = window.to;
  if (to === undefined) return { start: Math.max(start, count - WINDOW_MAX), end: count };
  const above = orders.findIndex((order) => order > to);
  return { start, end: above === -1 ? count : above };
}

/** One step towards older messages; what falls out at the new end comes back by scrolling down. */
export function earlier(current: { start: number; end: number }, orders: readonly number[]): RenderWindow {
  const start = Math.max(0, current.start - WINDOW_STEP);
  const end = Math.min(current.end, start + WINDOW_MAX);
  const to = end === orders.length ? undefined : orders[end - 1];
  return { from: orders[start] ?? 0, ...(to === undefined ? {} : { to }) };
}

export function later(current: { start: number; end: number }, orders: readonly number[]): RenderWindow {
  const end = Math.min(orders.length, current.end + WINDOW_STEP);
  const start = Math.max(current.start, end - WINDOW_MAX);
  const to = end === orders.length ? undefined : orders[end - 1];
  return { from: orders[start] ?? 0, ...(to === undefined ? {} : { to }) };
}
