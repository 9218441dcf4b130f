/** Limits of the built-in web chat. */

/** Changes kept per chat for clients that come back: a day of busy use. Beyond it they get the newest page anew. */
export const LOG_MAX_ENTRIES = 2_000;
/** Changes a returning client gets one by one; more than that is a new page. */
export const MAX_CATCH_UP = 1_000;
/** Messages whose first entry lies further back than this many changes are dropped from the history. */
export const HISTORY_SPAN = 50_000;
/** How often old messages are looked for, in changes; also how many are dropped at most each time. */
export const TRIM_EVERY = 64;
/** UTF-16 units of one page of messages as JSON, so that a slow phone can take it in one frame. */
export const PAGE_MAX_CHARS = 512 * 1024;
/** Newest changes that are laid over the history, in case the writer died between the two. */
export const OVERLAY_ENTRIES = 64;
/** How long a message's idempotency key and place are remembered. */
export const MESSAGE_TTL_MS = 30 * 24 * 3_600_000;
/** A claim by another gateway that is older than this was left behind by one that died. */
export const CLAIM_MS = 10_000;
/** A watched chat is looked at this often even when no nudge came: nudges are sent at most once. */
export const RECHECK_MS = 15_000;
/** UTF-16 units of one outbound text. */
export const MAX_TEXT = 200_000;
/** At most ten live tails a second and message. */
export const MIN_LIVE_MS = 100;
