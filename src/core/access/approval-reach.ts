/** Whether anybody who may decide a request sees its card, so that whoever asked is told the truth (channels.md 5.1). Pure. */
import type { Route } from "../route.ts";
import type { ApprovalTargets } from "./approval-targets.ts";

export type ApprovalReach =
  /** An approver of the chat that asked, or of a chat it is forwarded to, sees a card with buttons. */
  | { readonly kind: "card" }
  /** Nobody in the chat that asked may decide; the card waits in the operator's web chat. */
  | { readonly kind: "operator" }
  /** No chat that should show the card can. */
  | { readonly kind: "none"; readonly chats: readonly string[] };

/** `canShow`: this route's channel is there and takes cards with buttons. */
export function approvalReach({ cards, notice }: ApprovalTargets, canShow: (route: Route) => boolean): ApprovalReach {
  const shown = cards.filter(canShow);
  if (shown.length === 0) {
    const chats = cards.map(({ channel, accountId }) =>
      accountId === "default" ? channel : `${channel}/${accountId}`,
    );
    return { kind: "none", chats: [...new Set(chats)] };
  }
  const isElsewhere = notice !== undefined && notice.channel !== "web";
  return isElsewhere && shown.every(({ channel }) => channel === "web") ? { kind: "operator" } : { kind: "card" };
}
