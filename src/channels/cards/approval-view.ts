/**
 * What an approval card says, in order, before any platform's markup. Strings are untrusted text to be escaped; a
 * platform decides only how a title, a list or a button looks.
 */
import type { ApprovalAction, ApprovalCard } from "../../core/cards.ts";
import { actorLabel } from "../../core/route.ts";
import type { Messages } from "../../core/words/messages.ts";
import type { Redactor } from "../text/redact.ts";
import { showInvisible } from "../text/visible.ts";
import { type ButtonAction, encodeAction } from "./action-codec.ts";
import type { CommandDisplay } from "./command-display.ts";

export type ApprovalTone = "pending" | "allowed-once" | "allowed-always" | "denied" | "expired" | "cancelled";

export interface CardButton {
  readonly label: string;
  readonly style: "primary" | "success" | "danger" | "plain";
  readonly action: ButtonAction;
  /** The encoded action: Slack `value`, Discord `custom_id`, Telegram `callback_data`. */
  readonly code: string;
  /** Ask before sending, where the platform can. */
  readonly confirm?: { readonly title: string; readonly text: string };
}

export interface Fact {
  readonly label: string;
  readonly value: string;
  /** Show in a monospace font. */
  readonly code?: boolean;
}

export interface ApprovalView {
  readonly tone: ApprovalTone;
  readonly title: string;
  /** Who decided, for a settled card. */
  readonly decidedBy?: string;
  readonly comment?: string;
  readonly statusLine?: string;
  readonly warnings: readonly string[];
  readonly facts: readonly Fact[];
  readonly reasonsLabel: string;
  readonly reasons: readonly string[];
  readonly always?: { readonly label: string; readonly rules: readonly string[] };
  /** Small print: what is masked or missing. */
  readonly notes: readonly string[];
  /** Those that decide. Once settled, at most one: it takes back a stored rule, or asks the same again. */
  readonly buttons: readonly CardButton[];
  /** What else can be done while it waits, for a menu or for rows of their own. */
  readonly more: readonly CardButton[];
  /** Who put it off; with `atMs` until when, which stands behind the text. */
  readonly snoozes: readonly { readonly text: string; readonly atMs?: number }[];
  /** Set while pending. */
  readonly expires?: { readonly label: string; readonly atMs: number };
  readonly id: Fact;
  /** One line of plain text for notifications and screen readers. Shows no secret; may be cut by the platform. */
  readonly fallback: string;
}

export interface ApprovalViewOptions {
  readonly messages: Messages;
  readonly redactor: Redactor;
  readonly display: CommandDisplay;
  /** False when the card itself shows only part of the command. Then a permanent rule is not offered. */
  readonly shownInFull: boolean;
  /**
   * When the full command is offered on a card that shows all of it. In a menu it is in nobody's way, and it tells what the
   * card does not: the fingerprint to compare with. As a button on the card itself it would be noise under a short command.
   */
  readonly offersCommand: "always" | "when-long";
  /** What a person can type where buttons do not work, for example `@openclaw approve 1a2b3c4d allow-once`. */
  readonly typedForm?: string;
}

/** A command above either is hard to read on a card that a phone shows. */
const LONG_COMMAND = { characters: 400, lines: 8 } as const;
const REASON_LINES = 6;
const ENV_KEYS = 20;

export function approvalView(card: ApprovalCard, options: ApprovalViewOptions): ApprovalView {
  const { messages, display } = options;
  const m = messages.approval;
  const tone = toneOf(card);
  const clean = (text: string): string => showInvisible(options.redactor.redact(text).text);
  const pending = card.state === "pending";
  const alwaysBlocked = !options.shownInFull
    ? m.alwaysUnavailableHidden
    : display.masked > 0
      ? m.alwaysUnavailableMasked
      : undefined;
  const offersAlways = pending && card.offered.includes("allow-always") && alwaysBlocked === undefined;
  const title = titleOf(tone, messages);
  const decidedBy = card.decidedBy === undefined ? undefined : m.decidedBy(clean(actorLabel(card.decidedBy)));
  const always = [...new Set(card.always.map(clean))];
  const notes = [
    ...(display.masked > 0 ? [m.masked(display.masked)] : []),
    ...(pending && card.offered.includes("allow-always") && alwaysBlocked !== undefined ? [alwaysBlocked] : []),
    ...(pending && !card.offered.includes("allow-always") ? [m.alwaysNotOffered] : []),
    ...(pending && options.typedForm !== undefined ? [m.typeInstead(options.typedForm)] : []),
    ...(card.revokedBy === undefined ? [] : [m.takenBack(clean(actorLabel(card.revokedBy)))]),
    ...(card.askedAgain === undefined
      ? []
      : [m.askedAgain(clean(actorLabel(card.askedAgain.by)), card.askedAgain.slug)]),
  ];
  const offersCommand = options.offersCommand === "always" || !options.shownInFull || isLong(display.text);
  return {
    tone,
    title,
    ...(decidedBy === undefined ? {} : { decidedBy }),
    ...(card.comment === undefined ? {} : { comment: m.comment(clean(card.comment)) }),
    ...(card.statusLine === undefined ? {} : { statusLine: clean(card.statusLine) }),
    warnings: [
      ...card.warnings.map(clean),
      ...(display.disguised.length > 0 ? [m.disguised(display.disguised.map((word) => clean(word)).join(", "))] : []),
    ],
    facts: [
      ...(card.inner ?? []).map((inner) => ({ label: m.inner, value: clean(inner), code: true })),
      { label: m.requester, value: clean(actorLabel(card.requester)) },
      { label: m.agent, value: clean(card.agentId) },
      { label: m.folder, value: clean(card.cwd), code: true },
      { label: m.host, value: card.node ? `node ${card.node}` : card.host },
      ...(card.envKeys.length === 0 ? [] : [{ label: m.environment, value: envKeys(card.envKeys, clean), code: true }]),
    ],
    reasonsLabel: m.why,
    reasons: firstOf(card.reasons.map(clean), REASON_LINES),
    ...(offersAlways && always.length > 0 ? { always: { label: m.alwaysStores, rules: always } } : {}),
    ...(card.revocable && always.length > 0 ? { always: { label: m.alwaysStored, rules: always } } : {}),
    notes,
    buttons: pending ? decisionButtons(card, messages, offersAlways, always) : receiptButtons(card, messages, always),
    more: pending
      ? moreButtons(card.approvalId, messages, {
          deny: card.offered.includes("deny"),
          command: offersCommand,
          snooze: card.snoozable === true,
        })
      : [],
    snoozes: (card.snoozes ?? []).map(({ by, untilMs, over }) => {
      const who = clean(actorLabel(by));
      return over ? { text: m.snoozeOver(who) } : { text: m.snoozedUntil(who), atMs: untilMs };
    }),
    ...(pending ? { expires: { label: m.expires, atMs: card.expiresAtMs } } : {}),
    id: { label: m.id, value: card.slug, code: true },
    fallback: [title, decidedBy, display.text.split("\n", 1)[0]].filter((part) => part !== undefined).join(" · "),
  };
}

const ALL = { deny: true, command: true, snooze: true } as const;

function isLong(text: string): boolean {
  return text.length > LONG_COMMAND.characters || text.split("\n").length > LONG_COMMAND.lines;
}

function buttonFor(
  label: string,
  style: CardButton["style"],
  action: ButtonAction,
  confirm?: CardButton["confirm"],
): CardButton {
  return { label, style, action, code: encodeAction(action), ...(confirm === undefined ? {} : { confirm }) };
}

function decisionButtons(
  card: ApprovalCard,
  messages: Messages,
  offersAlways: boolean,
  always: readonly string[],
): CardButton[] {
  const m = messages.approval;
  const { approvalId } = card;
  const buttons: CardButton[] = [];
  if (card.offered.includes("allow-once")) {
    buttons.push(buttonFor(m.allowOnce, "success", { kind: "approval", approvalId, decision: "allow-once" }));
  }
  if (offersAlways) {
    buttons.push(
      buttonFor(
        m.allowAlways,
        "primary",
        { kind: "approval", approvalId, decision: "allow-always" },
        { title: m.alwaysConfirmTitle, text: [`${m.alwaysStores}:`, ...always].join("\n") },
      ),
    );
  }
  if (card.offered.includes("deny")) {
    buttons.push(buttonFor(m.deny, "danger", { kind: "approval", approvalId, decision: "deny" }));
  }
  return buttons;
}

/** Everything that a waiting request's card can do besides the decisions; where `offers` is left out, all of it. */
export function moreButtons(
  approvalId: string,
  { approval: m }: Messages,
  offers: { readonly deny: boolean; readonly command: boolean; readonly snooze: boolean } = ALL,
): CardButton[] {
  const action = (one: ApprovalAction): ButtonAction => ({ kind: "approval-action", action: one, approvalId });
  return [
    ...(offers.deny ? [buttonFor(m.denyWithReason, "plain", { kind: "deny-reason", approvalId })] : []),
    ...(offers.command ? [buttonFor(m.fullCommand, "plain", action("full-command"))] : []),
    ...(offers.snooze ? [buttonFor(m.snooze, "plain", action("snooze"))] : []),
  ];
}

/** A receipt decides nothing any more; what it stored can still be taken back, and what nobody decided can be asked again. */
function receiptButtons(card: ApprovalCard, { approval: m }: Messages, always: readonly string[]): CardButton[] {
  const { approvalId } = card;
  const confirm = { title: m.takeBackTitle, text: [`${m.alwaysStored}:`, ...always].join("\n") };
  return [
    ...(card.revocable ? [buttonFor(m.takeBack, "plain", { kind: "revoke", approvalId }, confirm)] : []),
    ...(card.askable
      ? [buttonFor(m.askAgain, "plain", { kind: "approval-action", action: "ask-again", approvalId })]
      : []),
  ];
}

function toneOf(card: ApprovalCard): ApprovalTone {
  switch (card.state) {
    case "pending":
    case "denied":
    case "expired":
    case "cancelled":
      return card.state;
    case "allowed":
      return card.decision === "allow-always" ? "allowed-always" : "allowed-once";
  }
}

function titleOf(tone: ApprovalTone, { approval: m }: Messages): string {
  switch (tone) {
    case "pending":
      return m.titlePending;
    case "allowed-once":
      return m.titleAllowedOnce;
    case "allowed-always":
      return m.titleAllowedAlways;
    case "denied":
      return m.titleDenied;
    case "expired":
      return m.titleExpired;
    case "cancelled":
      return m.titleCancelled;
  }
}

/** A chain names the same program more than once; its reader needs it once. */
function firstOf(lines: readonly string[], limit: number): string[] {
  const distinct = [...new Set(lines)];
  return distinct.length <= limit ? distinct : [...distinct.slice(0, limit), `+${distinct.length - limit}`];
}

function envKeys(keys: readonly string[], clean: (text: string) => string): string {
  const shown = keys.slice(0, ENV_KEYS).map(clean).join(" ");
  return keys.length > ENV_KEYS ? `${shown} +${keys.length - ENV_KEYS}` : shown;
}
