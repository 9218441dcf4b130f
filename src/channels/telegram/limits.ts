/** Numbers of the Bot API and our own budgets below them. Lengths are UTF-16 units after entity parsing. */

/** core.telegram.org/bots/api#sendmessage */
export const MAX_TEXT = 4096;
/** core.telegram.org/bots/api#senddocument */
export const MAX_CAPTION = 1024;
/** core.telegram.org/bots/api#inlinekeyboardbutton: bytes, not characters. */
export const MAX_CALLBACK_DATA_BYTES = 64;
/** A keyboard holds a hundred buttons; more than this is a wall on a phone. The rest is typed. */
export const MAX_MENU_BUTTONS = 20;
/** Labels up to this length stand two in a row. */
export const SHORT_LABEL = 18;
export const MAX_BUTTON_LABEL = 60;
/** core.telegram.org/bots/api#answercallbackquery */
export const MAX_ALERT = 200;
/** core.telegram.org/bots/api#setmycommands */
export const MAX_MENU_COMMANDS = 100;
export const MAX_MENU_DESCRIPTION = 256;
export const MENU_NAME = /^[a-z0-9_]{1,32}$/;

/**
 * People's apps split what they type above {@link MAX_TEXT} and look for a good place in the second half of it, so a
 * message this long may be only the first part of what was meant.
 */
export const SPLIT_FROM = MAX_TEXT / 2;

/** What a message of ours holds at most: room for the "(2/5)" of a split message and for server surprises. */
export const TEXT_BUDGET = 4000;
/** The command on a pending card gets at least this much, whatever else the card says. */
export const MIN_COMMAND_BUDGET = 600;
/** The command on a card about a run: the output matters more there. */
export const RUN_COMMAND_BUDGET = 500;
/** One fact, reason or warning. */
export const LINE_BUDGET = 300;
/** Rules that "Allow always" would store must be readable in full, or it is not offered. */
export const RULES_BUDGET = 1000;

/** Live changes of one message; a group's rate spreads them further. */
export const MIN_EDIT_MS = 1_200;
/** Running cards whose last live state is remembered. */
export const MAX_LIVE = 500;
/** Groups with topics that are remembered as such. */
export const MAX_FORUMS = 1_000;

/** How long one getUpdates stays open, in seconds, and how much later it counts as dead. */
export const POLL_SECONDS = 30;
export const POLL_GRACE_MS = 15_000;
/** How often it is looked what waits behind an update that can not be taken. */
export const PEEK_MS = 1_000;
/** Presses that are known by their queries' ids. */
export const MAX_PRESSES = 1_000;
/** Until a connection stands; nothing has been sent before. */
export const CONNECT_TIMEOUT_MS = 10_000;
/** A send or an edit. */
export const CALL_TIMEOUT_MS = 30_000;
/** Everything, an open poll included. */
export const CLIENT_TIMEOUT_SECONDS = 60;

/** After a press: how long the platform's spinner may wait for a refusal to show as an alert. */
export const VERDICT_WAIT_MS = 1_000;

export const RETRY_MIN_MS = 1_000;
export const RETRY_MAX_MS = 30_000;
/** Another program polls with the same token: taking turns with it helps nobody. */
export const CONFLICT_RETRY_MS = 5_000;
export const CONFLICT_RETRY_MAX_MS = 60_000;

/**
 * Posts of Telegram at once. It keeps those of one chat in order by itself, each after the last was answered, and presses
 * of one person in a line of their own (grammy.dev/guide/deployment-types#ending-webhook-requests-in-time): with one
 * connection a press would wait behind every message.
 */
export const WEBHOOK_CONNECTIONS = 16;
/** A post whose update is not taken by then is answered as failed; it comes again and finds it taken, or on its way. */
export const WEBHOOK_ANSWER_MS = 1_500;
/** Updates known by their ids to have been taken. */
export const MAX_TAKEN = 10_000;

/** A webhook body; an update is a few kilobytes. */
export const MAX_WEBHOOK_BYTES = 1024 * 1024;

/** Splits of long messages that are remembered so that a retry resumes at the first part not sent. */
export const MAX_PARTIAL_SENDS = 1_000;
