/** The buttons of a text card. Pure. */
import type { TextCard } from "../../core/cards.ts";
import { encodeAction } from "./action-codec.ts";
import type { CardButton } from "./approval-view.ts";

export function textButtons(card: TextCard): readonly CardButton[] {
  return (card.actions ?? []).map(({ label, style, press }) => ({
    label,
    style,
    action: press,
    code: encodeAction(press),
  }));
}
