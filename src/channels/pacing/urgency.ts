import type { Card } from "../../core/cards.ts";
import type { Urgency } from "./send-budget.ts";

/** Somebody is waited for, or waits for this: a request, what became of it, the end of a command. */
export function urgencyOf(card: Card): Urgency {
  switch (card.kind) {
    case "approval":
      return "decision";
    case "run":
      return card.state === "finished" ? "decision" : "progress";
    case "text":
    case "menu":
    case "said":
      return "answer";
  }
}
