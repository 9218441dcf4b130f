/**
 * What a button carries: a version, what it means, and the id. Never the command. At most 64 bytes, because that is
 * what Telegram's `callback_data` holds (core.telegram.org/bots/api#inlinekeyboardbutton); the same string serves as
 * Slack `value` and Discord `custom_id`. Stateless, so a button still works after a restart.
 *
 * `ap1:<o|a|d|r|v>:<id>` decides an approval (`r` asks for a reason first, `v` takes back what `a` stored); `ap1:<f|z|n|m>:<id>` shows its
 * full command, puts it off, asks it anew, opens what more there is; `ui1:<stop|log|again>:<id>` is a run's button;
 * `pr1:<a|d>:<id>` lets a person in or dismisses their request; `mn1:<a…cv>:<id>` is a menu's first to hundredth choice.
 * `<id>` is the UUID's 16 bytes in base64url, 22 characters.
 */
import { type ApprovalAction, MAX_MENU_CHOICES, type PressAction, type RunAction } from "../../core/cards.ts";
import { ExecError } from "../../core/errors.ts";
import type { ApprovalDecision } from "../../core/policy/types.ts";

/** A button that opens a form for the reason of a denial; the answer comes back as a `deny` with a comment. */
export interface ReasonRequest {
  readonly kind: "deny-reason";
  readonly approvalId: string;
}

/** A button that opens the rest of a card's buttons, for whoever pressed it; it comes to nobody's ears. */
export interface MoreRequest {
  readonly kind: "more";
  readonly approvalId: string;
}

type PairingPress = Extract<PressAction, { kind: "pairing" }>;

export type ButtonAction = PressAction | ReasonRequest | MoreRequest;

const DECISION_CODE = { "allow-once": "o", "allow-always": "a", deny: "d" } as const satisfies Record<
  ApprovalDecision,
  string
>;
const RUN_CODE = { stop: "stop", "full-log": "log", "run-again": "again" } as const satisfies Record<RunAction, string>;

const APPROVAL_ACTION_CODE = { "full-command": "f", snooze: "z", "ask-again": "n" } as const satisfies Record<
  ApprovalAction,
  string
>;

const PAIRING_CODE = { approve: "a", dismiss: "d" } as const satisfies Record<PairingPress["decision"], string>;

const DECISION_OF = new Map(
  Object.entries(DECISION_CODE).map(([name, code]) => [code as string, name as ApprovalDecision]),
);
const RUN_OF = new Map(Object.entries(RUN_CODE).map(([name, code]) => [code as string, name as RunAction]));

const APPROVAL_ACTION_OF = new Map(
  Object.entries(APPROVAL_ACTION_CODE).map(([name, code]) => [code as string, name as ApprovalAction]),
);

const PAIRING_OF = new Map(
  Object.entries(PAIRING_CODE).map(([name, code]) => [code as string, name as PairingPress["decision"]]),
);

const PICKER = "pick";
const LETTERS = 26;
const FIRST_LETTER = "a".charCodeAt(0);

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const ENCODED = /^(ap1|ui1|pr1|mn1):([a-z]{1,5}):([A-Za-z0-9_-]{22})$/;

/** A comment is not carried: it belongs to the answer, not to the button. @throws ExecError `internal` for a non-UUID id. */
export function encodeAction(action: ButtonAction): string {
  switch (action.kind) {
    case "approval":
      return `ap1:${DECISION_CODE[action.decision]}:${packId(action.approvalId)}`;
    case "deny-reason":
      return `ap1:r:${packId(action.approvalId)}`;
    case "more":
      return `ap1:m:${packId(action.approvalId)}`;
    case "approval-action":
      return `ap1:${APPROVAL_ACTION_CODE[action.action]}:${packId(action.approvalId)}`;
    case "revoke":
      return `ap1:v:${packId(action.approvalId)}`;
    case "pairing":
      return `pr1:${PAIRING_CODE[action.decision]}:${packId(action.requestId)}`;
    case "run":
      return `ui1:${RUN_CODE[action.action]}:${packId(action.runId)}`;
    case "menu":
      return `mn1:${choiceCode(action.choice)}:${packId(action.menuId)}`;
  }
}

/** Names a list that is picked from; what counts is the code of what was picked. */
export function encodePicker(menuId: string): string {
  return `mn1:${PICKER}:${packId(menuId)}`;
}

/** `undefined` for anything this version did not write: the press is answered with "this button is outdated". */
export function decodeAction(text: string): ButtonAction | undefined {
  const match = ENCODED.exec(text);
  if (match === null) return undefined;
  const [, prefix, verb, packed] = match as unknown as [string, string, string, string];
  const id = unpackId(packed);
  if (id === undefined) return undefined;
  if (prefix === "ui1") {
    const action = RUN_OF.get(verb);
    return action === undefined ? undefined : { kind: "run", action, runId: id };
  }
  if (prefix === "pr1") {
    const decision = PAIRING_OF.get(verb);
    return decision === undefined ? undefined : { kind: "pairing", requestId: id, decision };
  }
  if (prefix === "mn1") {
    const choice = choiceOf(verb);
    return choice === undefined ? undefined : { kind: "menu", menuId: id, choice };
  }
  if (verb === "r") return { kind: "deny-reason", approvalId: id };
  if (verb === "v") return { kind: "revoke", approvalId: id };
  if (verb === "m") return { kind: "more", approvalId: id };
  const action = APPROVAL_ACTION_OF.get(verb);
  if (action !== undefined) return { kind: "approval-action", action, approvalId: id };
  const decision = DECISION_OF.get(verb);
  return decision === undefined ? undefined : { kind: "approval", approvalId: id, decision };
}

/** True for text in this codec's reserved space, well-formed or not: it must never be passed on as something typed. */
export function isActionText(text: string): boolean {
  return /^(ap1|ui1|pr1|mn1):/.test(text);
}

/** As spreadsheets name columns: `a` to `z`, then `aa` to `cv`. */
function choiceCode(choice: number): string {
  if (!Number.isInteger(choice) || choice < 0 || choice >= MAX_MENU_CHOICES) {
    throw new ExecError("internal", `A menu has no choice ${choice}.`);
  }
  const letter = (of: number) => String.fromCharCode(FIRST_LETTER + of);
  return choice < LETTERS ? letter(choice) : letter(Math.floor(choice / LETTERS) - 1) + letter(choice % LETTERS);
}

function choiceOf(verb: string): number | undefined {
  if (verb.length > 2) return undefined;
  const [first = 0, second] = [...verb].map((letter) => letter.charCodeAt(0) - FIRST_LETTER);
  const choice = second === undefined ? first : (first + 1) * LETTERS + second;
  return choice < MAX_MENU_CHOICES ? choice : undefined;
}

function packId(id: string): string {
  if (!UUID.test(id)) throw new ExecError("internal", `A button needs a lower-case UUID, not "${id}".`);
  return Buffer.from(id.replaceAll("-", ""), "hex").toString("base64url");
}

function unpackId(packed: string): string | undefined {
  const bytes = Buffer.from(packed, "base64url");
  // 22 base64url characters hold 132 bits; only the one spelling whose last 4 bits are zero is ours.
  if (bytes.length !== 16 || bytes.toString("base64url") !== packed) return undefined;
  const hex = bytes.toString("hex");
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-");
}
