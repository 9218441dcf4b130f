/** Whether anybody who may decide a request sees its card, so that whoever asked is told the truth (channels.md 5.1). Pure. */
import type { Route } from "../route.ts";
import type { ApprovalTargets } from "./approval-targets.ts";

export type ApprovalReach =
  /** An approver of the chat that asked, or of a chat it is forwarded to, sees a card with buttons. */
  | { readonly kind: "card" }
  /** The card is there, but where it is shown buttons are switched off: the decision is typed. */
  | { readonly kind: "typed" }
  /** Nobody in the chat that asked may decide; the card waits in the operator's web chat. */
  | { readonly kind: "operator" }
  /** No chat that should show the card can. */
  | { readonly kind: "none"; readonly chats: readonly string[] };

/** `shows`: what a card on this route is: nothing while its channel is not there. */
export function approvalReach(
  { cards, notice }: ApprovalTargets,
  shows: (route: Route) => "buttons" | "text" | "nothing",
): ApprovalReach {
  const shown = cards.filter((route) => shows(route) !== "nothing");
  if (shown.length === 0) {
    const chats = cards.map(({ channel, accountId }) =>
      accountId === "default" ? channel : `${channel}/${accountId}`,
    );
    return { kind: "none", chats: [...new Set(chats)] };
  }
  const isElsewhere = notice !== undefined && notice.channel !== "web";
  if (isElsewhere && shown.every(({ channel }) => channel === "web")) return { kind: "operator" };
  return { kind: shown.some((route) => shows(route) === "buttons") ? "card" : "typed" };
}
