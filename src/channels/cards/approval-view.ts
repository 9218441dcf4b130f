/**
 * What an approval card says, in order, before any platform's markup. Strings are untrusted text to be escaped; a
 * platform decides only how a title, a list or a button looks.
 */
import type { ApprovalCard } from "../../core/cards.ts";
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
  /** Once settled, at most the one that takes back a stored rule. */
  readonly buttons: readonly CardButton[];
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
  /** What a person can type where buttons do not work, for example `@openclaw approve 1a2b3c4d allow-once`. */
  readonly typedForm?: string;
}

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
  ];
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
      { label: m.requester, value: clean(actorLabel(card.requester)) },
      { label: m.agent, value: clean(card.agentId) },
      { label: m.folder, value: clean(card.cwd), code: true },
      { label: m.host, value: card.host },
      ...(card.envKeys.length === 0 ? [] : [{ label: m.environment, value: envKeys(card.envKeys, clean), code: true }]),
    ],
    reasonsLabel: m.why,
    reasons: firstOf(card.reasons.map(clean), REASON_LINES),
    ...(offersAlways && always.length > 0 ? { always: { label: m.alwaysStores, rules: always } } : {}),
    ...(card.revocable && always.length > 0 ? { always: { label: m.alwaysStored, rules: always } } : {}),
    notes,
    buttons: pending ? buttonsOf(card, messages, offersAlways, always) : receiptButtons(card, messages, always),
    ...(pending ? { expires: { label: m.expires, atMs: card.expiresAtMs } } : {}),
    id: { label: m.id, value: card.slug, code: true },
    fallback: [title, decidedBy, display.text.split("\n", 1)[0]].filter((part) => part !== undefined).join(" · "),
  };
}

function buttonsOf(
  card: ApprovalCard,
  messages: Messages,
  offersAlways: boolean,
  always: readonly string[],
): CardButton[] {
  const m = messages.approval;
  const button = (
    label: string,
    style: CardButton["style"],
    action: ButtonAction,
    confirm?: CardButton["confirm"],
  ): CardButton => ({
    label,
    style,
    action,
    code: encodeAction(action),
    ...(confirm === undefined ? {} : { confirm }),
  });
  const { approvalId } = card;
  const buttons: CardButton[] = [];
  if (card.offered.includes("allow-once")) {
    buttons.push(button(m.allowOnce, "success", { kind: "approval", approvalId, decision: "allow-once" }));
  }
  if (offersAlways) {
    buttons.push(
      button(
        m.allowAlways,
        "primary",
        { kind: "approval", approvalId, decision: "allow-always" },
        { title: m.alwaysConfirmTitle, text: [`${m.alwaysStores}:`, ...always].join("\n") },
      ),
    );
  }
  if (card.offered.includes("deny")) {
    buttons.push(button(m.deny, "danger", { kind: "approval", approvalId, decision: "deny" }));
    buttons.push(button(m.denyWithReason, "plain", { kind: "deny-reason", approvalId }));
  }
  return buttons;
}

/** A receipt decides nothing any more; what it stored can still be taken back. */
function receiptButtons(card: ApprovalCard, { approval: m }: Messages, always: readonly string[]): CardButton[] {
  if (!card.revocable) return [];
  const action: ButtonAction = { kind: "revoke", approvalId: card.approvalId };
  return [
    {
      label: m.takeBack,
      style: "plain",
      action,
      code: encodeAction(action),
      confirm: { title: m.takeBackTitle, text: [`${m.alwaysStored}:`, ...always].join("\n") },
    },
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
