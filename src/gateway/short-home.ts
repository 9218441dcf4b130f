/** Folders of this machine as people read them: the home of whoever runs the gateway is `~`. Pure. */
import { sep } from "node:path";
import type { UnspokenCard } from "../core/cards.ts";

/** Only the folder a command runs in: what a rule stores is shown to the letter. */
export function withShortHome(card: UnspokenCard, home: string): UnspokenCard {
  if ((card.kind !== "approval" && card.kind !== "run") || card.host !== "gateway" || home === sep) return card;
  if (card.cwd === home) return { ...card, cwd: "~" };
  return card.cwd.startsWith(`${home}${sep}`) ? { ...card, cwd: `~${card.cwd.slice(home.length)}` } : card;
}
