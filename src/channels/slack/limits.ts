/** Slack's limits and ours for it. Sources: docs.slack.dev unless said. */

/** reference/block-kit/blocks */
export const MAX_HEADER = 150;
/** reference/block-kit/block-elements/button-element */
export const MAX_BUTTON_TEXT = 75;
/** The spec of our channels: up to five choices are buttons, more are a list. */
export const MAX_MENU_BUTTONS = 5;
/** reference/block-kit/block-elements/select-menu-element#static_select */
export const MAX_OPTIONS = 100;
export const MAX_PLACEHOLDER = 150;
/** reference/block-kit/block-elements/overflow-menu-element; an option's value holds 150 characters, our codes have 28 */
export const MIN_OVERFLOW_OPTIONS = 2;
export const MAX_OVERFLOW_OPTIONS = 5;
/** reference/block-kit/composition-objects/option-object */
export const MAX_OPTION_TEXT = 75;
/** reference/block-kit/composition-objects/confirmation-dialog-object */
export const MAX_CONFIRM_TITLE = 100;
export const MAX_CONFIRM_TEXT = 300;
export const MAX_CONFIRM_BUTTON = 30;
/** surfaces/modals */
export const MAX_MODAL_TITLE = 24;
export const MAX_REASON = 500;

/**
 * All text of a message's blocks. Above 13,200 Slack answers `msg_blocks_too_long` (undocumented; bolt-js 2509); the rest
 * is kept free for what Slack may count that we do not.
 */
export const BLOCK_TEXT_BUDGET = 12_500;
/** Longest rich text element we send; sections have this limit, rich text documents none. */
export const MAX_RICH_TEXT = 3000;
/** `chat.update` takes 4,000 bytes of `text`; the fallback stays below it so that every card can be edited. */
export const MAX_FALLBACK_TEXT = 3000;

/** How much of one message each part of a card may take, in characters after escaping. Their sum fits the budget. */
export const COMMAND_BUDGET = 6500;
export const RUN_COMMAND_BUDGET = 700;
export const OUTPUT_BUDGET = 6000;
export const TEXT_BUDGET = 9000;
export const CODE_BUDGET = 6000;
export const FIELDS_BUDGET = 6000;
export const LINE_BUDGET = 240;
export const ALWAYS_BUDGET = 1200;
export const COMMENT_BUDGET = 500;
export const MAX_WARNINGS = 4;
export const MAX_SNOOZES = 4;
export const MAX_FIELDS = 40;
/** A longer text or page of output goes out as its start and end, with how much is left out. */
export const MAX_TEXT_MESSAGES = 12;

/** About one message per second and channel, apis/web-api/rate-limits; `chat.update` is Tier 3, 50 a minute. */
export const MIN_EDIT_MS = 1200;

/** Slack waits 3 s for an acknowledgement. A message event is acknowledged once it is stored, at the latest after this. */
export const INGRESS_MS = 1500;
/** Names, locales and thread membership are looked up this long at most before an event goes on without them. */
export const LOOKUP_MS = 700;
/** The same for presses and commands, which carry a name already and should be felt at once. */
export const QUICK_LOOKUP_MS = 150;

/** interactivity/handling-user-interaction: a response URL takes 5 posts within 30 minutes. */
export const RESPONSE_URL_MS = 30 * 60_000;
export const RESPONSE_URL_USES = 5;

/** authentication/verifying-requests-from-slack */
export const SIGNATURE_WINDOW_S = 300;

/** Largest request body in HTTP mode. A press carries its whole message, which stays far below. */
export const MAX_BODY_BYTES = 1_048_576;

/** The SDK's own default of 5 s drops sockets on a busy machine. */
export const PING_TIMEOUT_MS = 15_000;
export const CONNECT_MS = 15_000;
export const WEB_API_TIMEOUT_MS = 15_000;

/**
 * Without any event for this long it is asked whether the socket is deaf: soon enough for what was said in between to be
 * answered still. `conversations.history` takes fifty questions a minute (tier 3).
 */
export const SILENT_MS = 2 * 60_000;
/** Channels that are asked then, and messages read of each. */
export const DEAF_PLACES = 3;
export const DEAF_READ = 15;
/** A message younger than this may still be on its way. */
export const DEAF_GRACE_MS = 10_000;
/** Older words have been given up by whoever said them. */
export const CATCH_UP_MS = 5 * 60_000;

/** Reconciliation reads this far back, and at most this many pages. */
export const RECONCILE_WINDOW_MS = 60 * 60_000;
export const RECONCILE_PAGES = 5;
export const RECONCILE_PAGE_SIZE = 200;

/** A larger log is attached as its last part. */
export const MAX_LOG_BYTES = 10 * 1024 * 1024;

export const MAX_REMEMBERED_SENDS = 5000;

/** UTF-8 bytes of a UTF-16 unit after escaping; half of a pair counts two of the pair's four. */
export function slackBytes(unit: number): number {
  if (unit < 0x80) return slackCost(unit);
  return unit < 0x800 || (unit & 0xf800) === 0xd800 ? 2 : 3;
}

/** UTF-16 units as Slack counts them after escaping. */
export function slackCost(unit: number): number {
  return unit === 0x26 ? 5 : unit === 0x3c || unit === 0x3e ? 4 : 1;
}
