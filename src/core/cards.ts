/**
 * What the product says, free of any platform. A channel adapter turns a card into its own payload; core never
 * knows how. Text fields are untrusted data (commands, output, names): adapters escape them, never interpret them.
 *
 * `W` is what sentences are made of: phrases while a card is on its way, plain text once it is in the language of
 * whoever reads it, which is all that a channel sees.
 */

import type { ApprovalDecision, EffectiveHost } from "./policy/types.ts";
import type { Actor } from "./route.ts";
import type { Wording } from "./words/phrase.ts";

export type ApprovalState = "pending" | "allowed" | "denied" | "expired" | "cancelled";

export interface ApprovalCard<W extends Wording = string> {
  readonly kind: "approval";
  readonly state: ApprovalState;
  readonly approvalId: string;
  /** First 8 characters of the id: what a person types. */
  readonly slug: string;
  /** The whole command, unchanged. Adapters show invisible characters as `\u{…}`. */
  readonly command: string;
  /** What shells inside it would run, where quoting hides how that reads. */
  readonly inner?: readonly string[];
  readonly cwd: string;
  readonly host: EffectiveHost;
  /** Name of the node, with `host: "node"`. */
  readonly node?: string;
  readonly agentId: string;
  readonly requester: Actor;
  /** Names only, never values. */
  readonly envKeys: readonly string[];
  /** Sentences: why it asks. */
  readonly reasons: readonly W[];
  readonly warnings: readonly W[];
  /** UTF-16 spans of the executable words, when `commandHighlighting` is on. */
  readonly highlights: readonly { readonly start: number; readonly end: number }[];
  /** Sentences: exactly what "Allow always" would store or has stored. Empty when it is not offered. */
  readonly always: readonly W[];
  readonly offered: readonly ApprovalDecision[];
  readonly createdAtMs: number;
  readonly expiresAtMs: number;
  readonly decision?: ApprovalDecision;
  readonly decidedBy?: Actor;
  readonly decidedAtMs?: number;
  /** What "Allow always" stored is still there and can be taken back here. */
  readonly revocable?: true;
  /** Who took back what "Allow always" had stored. */
  readonly revokedBy?: Actor;
  /** Given with a denial. */
  readonly comment?: string;
  /** It waits long enough to be put off: asked again later, in the same place. */
  readonly snoozable?: true;
  /** Who put it off until when; `over`: it has been asked again since. */
  readonly snoozes?: readonly { readonly by: Actor; readonly untilMs: number; readonly over?: true }[];
  /** Nobody decided it: the same can be asked once more from here. */
  readonly askable?: true;
  /** Who asked the same once more; `slug` of the new request, when there had to be one. */
  readonly askedAgain?: { readonly by: Actor; readonly slug?: string };
  /** What became of it: `running for 00:42`, `exit 0 in 1m12s`, `The gateway restarted; still waiting for you.` */
  readonly statusLine?: W;
}

export type RunOutcome = "completed" | "failed" | "timed-out" | "killed" | "lost" | "not-started";

/** What a request's card can do besides being decided. */
export type ApprovalAction = "full-command" | "snooze" | "ask-again";

export type RunAction = "stop" | "full-log" | "run-again";

export interface RunCard<W extends Wording = string> {
  readonly kind: "run";
  readonly state: "running" | "finished";
  /** It waits for a place and has not been started; `startedAtMs` is since when. */
  readonly queued?: true;
  readonly runId: string;
  readonly sessionId: string;
  readonly approvalId?: string;
  readonly command: string;
  readonly cwd: string;
  readonly host: EffectiveHost;
  /** Name of the node, with `host: "node"`. */
  readonly node?: string;
  readonly startedAtMs: number;
  /** Tail of the output, ANSI colours kept; adapters that can not show them strip them. */
  readonly tail: string;
  /** Characters produced in all; more than `tail` holds means there is more to see. */
  readonly totalChars: number;
  /** The beginning of the output, when it has ended and `tail` does not reach back to it. */
  readonly head?: string;
  /** Lines of output in all, when that is known. */
  readonly totalLines?: number;
  readonly endedAtMs?: number;
  readonly durationMs?: number;
  readonly outcome?: RunOutcome;
  readonly exitCode?: number | null;
  readonly exitSignal?: string | null;
  readonly notes: readonly W[];
  /** A finished run that can be watched again. */
  readonly recorded?: true;
  readonly actions: readonly RunAction[];
}

export interface TextCard<W extends Wording = string> {
  readonly kind: "text";
  readonly tone: "info" | "success" | "warning" | "error";
  readonly title?: W;
  readonly text?: W;
  /** Shown as a two-column list. `note` is small print, for example where a value comes from. */
  readonly fields?: readonly { readonly label: W; readonly value: W; readonly note?: W }[];
  /** Monospace block. */
  readonly code?: W;
  /** One short line: what to do next. */
  readonly hint?: W;
  /** A question and its buttons. Empty once it was answered; absent for what asks nothing. */
  readonly actions?: readonly TextAction<W>[];
}

export interface TextAction<W extends Wording = string> {
  readonly label: W;
  readonly style: "success" | "danger" | "plain";
  readonly press: PressAction;
}

/**
 * A question with a known set of answers. One answer does what the completed command would do for whoever gives it; which
 * command that is stands in the stored menu, never in a button.
 */
export interface MenuCard<W extends Wording = string> extends Pick<TextCard<W>, "text" | "fields"> {
  readonly kind: "menu";
  readonly menuId: string;
  readonly title: W;
  /** The command that is decided about, unchanged: masked and made visible as on its own card. */
  readonly command?: string;
  /** Best first; a button names its choice by its place here. Empty once one was chosen. */
  readonly choices: readonly MenuChoice<W>[];
  /** What a person can type instead: `/process log <session>`. */
  readonly form: string;
  /** The answer that was given. */
  readonly chosen?: W;
}

/** What the largest list of a platform holds (Slack's `static_select`). */
export const MAX_MENU_CHOICES = 100;

export interface MenuChoice<W extends Wording = string> {
  readonly label: W;
  readonly detail?: W;
  readonly style: "success" | "primary" | "danger" | "plain";
  /** Only where all of `command` is shown; `unmasked`: and none of it is masked. */
  readonly needs?: "whole" | "unmasked";
}

/** What a person typed, echoed so that every device shows the same conversation (web chat only). */
export interface SaidCard {
  readonly kind: "said";
  readonly actor: Actor;
  readonly text: string;
}

export type Card<W extends Wording = string> = ApprovalCard<W> | RunCard<W> | TextCard<W> | MenuCard<W> | SaidCard;

/** A card whose sentences are not in anybody's language yet. */
export type UnspokenCard = Card<Wording>;

/** What a button stands for. Stateless, so that buttons survive restarts. */
export type PressAction =
  | {
      readonly kind: "approval";
      readonly approvalId: string;
      readonly decision: ApprovalDecision;
      readonly comment?: string;
    }
  | { readonly kind: "revoke"; readonly approvalId: string }
  | { readonly kind: "approval-action"; readonly action: ApprovalAction; readonly approvalId: string }
  | { readonly kind: "pairing"; readonly requestId: string; readonly decision: "approve" | "dismiss" }
  /** `choice`: a place in the menu's list. */
  | { readonly kind: "menu"; readonly menuId: string; readonly choice: number }
  | { readonly kind: "run"; readonly action: RunAction; readonly runId: string };
