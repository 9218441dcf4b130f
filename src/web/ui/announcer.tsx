import type { Card } from "../../core/cards.ts";
import type { Messages } from "../../core/words/messages.ts";
import type { Chat } from "../chat.ts";
import { useReader } from "../words/reader.ts";
import { approvalTitle } from "./approval-card.tsx";

function announcement(card: Card, { approval, run }: Messages): string {
  switch (card.kind) {
    case "approval":
      return `${approvalTitle(card, approval)}: ${card.command}`;
    case "run": {
      if (card.state === "running") return `${run.started}: ${card.command}`;
      const code = typeof card.exitCode === "number" ? `, ${run.exitCode(card.exitCode)}` : "";
      return `${run.outcome[card.outcome ?? "lost"]}${code}: ${card.command}`;
    }
    case "text":
      return [card.title, card.text].filter((part) => part !== undefined).join(". ");
    case "menu":
      return [card.title, card.chosen].filter((part) => part !== undefined).join(". ");
    case "said":
      return "";
  }
}

/** Tells a screen reader what came, in one short line; the cards themselves stay silent while output streams. */
export function Announcer({ chat }: { readonly chat: Chat }) {
  const news = chat.news.value;
  const { messages } = useReader();
  return (
    <div class="off-screen" aria-live="polite" role="status">
      {news === undefined ? "" : announcement(news.card, messages)}
    </div>
  );
}
