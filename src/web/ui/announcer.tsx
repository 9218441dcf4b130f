import type { Card } from "../../core/cards.ts";
import type { Chat } from "../chat.ts";

function announcement(card: Card): string {
  switch (card.kind) {
    case "approval":
      return card.state === "pending" ? `Approval needed: ${card.command}` : `${card.state}: ${card.command}`;
    case "run":
      if (card.state === "running") return `Running: ${card.command}`;
      return `${card.outcome ?? "ended"}${typeof card.exitCode === "number" ? `, exit ${card.exitCode}` : ""}: ${card.command}`;
    case "text":
      return [card.title, card.text].filter((part) => part !== undefined).join(". ");
    case "said":
      return "";
  }
}

/** Tells a screen reader what came, in one short line; the cards themselves stay silent while output streams. */
export function Announcer({ chat }: { readonly chat: Chat }) {
  const news = chat.news.value;
  return (
    <div class="off-screen" aria-live="polite" role="status">
      {news === undefined ? "" : announcement(news.card)}
    </div>
  );
}
