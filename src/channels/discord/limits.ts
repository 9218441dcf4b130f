/** Numbers of Discord's API and our own budgets below them. Lengths are UTF-16 units of the Markdown source. */

/** discord.com/developers/docs/components/reference#component-object: all text of one message together. */
export const MAX_V2_TEXT = 4000;
/** All components of one message, nested ones included. */
export const MAX_COMPONENTS = 40;
export const MAX_BUTTONS_PER_ROW = 5;
/** discord.com/developers/docs/components/reference#string-select */
export const MAX_SELECT_OPTIONS = 25;
export const MAX_OPTION_TEXT = 100;
export const MAX_PLACEHOLDER = 150;
export const MAX_CUSTOM_ID = 100;
export const MAX_LABEL = 80;
export const MAX_MODAL_TITLE = 45;
export const MAX_REASON = 500;
/** discord.com/developers/docs/interactions/application-commands */
export const MAX_COMMANDS = 100;
export const MAX_COMMAND_OPTIONS = 25;
export const MAX_CHOICES = 25;
export const MAX_CHOICE = 100;
export const MAX_DESCRIPTION = 100;
export const COMMAND_NAME = /^[-_'\p{L}\p{N}]{1,32}$/u;

/** A card keeps this much below the limit. */
export const TEXT_BUDGET = 3900;
/** A message of plain text; longer text is split. */
export const MESSAGE_BUDGET = 2000;
/**
 * More lines than this of what people and models write are tiring to scroll past: the next message begins. Soft: it does
 * not hold for a card, whose lines belong together. The output on a run card is cut to 20 and 40 lines by itself, stands
 * in one box that Discord folds, and parting it would post several messages of which only one could be edited.
 */
export const MESSAGE_LINES = 17;
/** Code that would be parted over more messages than this is attached instead, and only its beginning is shown. */
export const CODE_MESSAGES = 3;
export const CODE_EXCERPT_LINES = 10;
export const MIN_COMMAND_BUDGET = 600;
export const RUN_COMMAND_BUDGET = 500;
export const LINE_BUDGET = 300;
export const RULES_BUDGET = 1000;

export const MIN_EDIT_MS = 1_500;
/** Running cards whose last live state is remembered. */
export const MAX_LIVE = 500;

/** An interaction's token dies after 15 minutes; from 14 on the bot's own is used. */
export const TOKEN_LIFETIME_MS = 14 * 60_000;
/** A command that got no answer by then gets none: its "thinking…" is taken away. */
export const PLACEHOLDER_MS = 60_000;
/** Older than its token: a replay. */
export const INTERACTION_MAX_AGE_MS = 15 * 60_000;
/** Autocomplete must be answered within 3 seconds. */
export const SUGGEST_DEADLINE_MS = 2_500;
export const MAX_OPEN_INTERACTIONS = 2_000;

/**
 * How long the first answer waits for the event to be durable: what the person has seen taken is not lost by a kill then.
 * Past that the answer goes first, since Discord waits 3 s for it.
 */
export const TAKE_FIRST_MS = 150;
/** Messages looked through for one whose sending was cut off: the most that Discord gives at once. */
export const RECONCILE_MESSAGES = 100;

/** Discord does not send an event twice: taking it is tried again at these distances. */
export const TAKE_RETRY_MS = [200, 800, 2_000, 5_000] as const;

/** What is said while what was missed is being read waits at most this long for its turn behind it. */
export const CATCH_UP_WAIT_MS = 5_000;

/**
 * Without any event for this long it is asked whether the connection is deaf: soon enough for what was said in between to
 * be answered still, and a handful of questions an hour for a bot that nobody needs.
 */
export const SILENT_MS = 2 * 60_000;
/** Places that are asked then. */
export const DEAF_PLACES = 3;
/** A message younger than this may still be on its way. */
export const DEAF_GRACE_MS = 10_000;
/** How long a connection may take to close before it is left to itself. */
export const CLOSE_MS = 3_000;
/** Attempts of the library to connect again, without ever getting there, after which it all starts over. */
export const MAX_TRIES = 20;

export const RETRY_MIN_MS = 1_000;
export const RETRY_MAX_MS = 30_000;
/** Logged in but never ready: start over. */
export const READY_TIMEOUT_MS = 60_000;
export const REST_TIMEOUT_MS = 15_000;
export const DEFAULT_RATE_LIMIT_MS = 2_000;

export const MAX_PARTIAL_SENDS = 1_000;

/** Approval and run cards, by what became of them. */
export const COLOURS = {
  pending: 0xffa500,
  "allowed-once": 0x57f287,
  "allowed-always": 0x5865f2,
  denied: 0xed4245,
  expired: 0x99aab5,
  cancelled: 0x99aab5,
  running: 0x5865f2,
  success: 0x57f287,
  failure: 0xed4245,
  neutral: 0x99aab5,
} as const;
