import { useMemo } from "preact/hooks";
import type { Message } from "../conversation.ts";
import { ApprovalView } from "./approval-card.tsx";
import { CardBoundary } from "./card-boundary.tsx";
import { MenuCardView } from "./menu-card.tsx";
import { RunView } from "./run-card.tsx";
import { SaidView } from "./said.tsx";
import { TextView } from "./text-card.tsx";

function View({ message }: { readonly message: Message }) {
  const { card, messageId } = message;
  const titleId = `title-${messageId}`;
  switch (card.kind) {
    case "approval":
      return <ApprovalView card={card} titleId={titleId} />;
    case "run":
      return <RunView card={card} titleId={titleId} />;
    case "text":
      return <TextView card={card} titleId={titleId} />;
    case "menu":
      return <MenuCardView card={card} titleId={titleId} />;
    case "said":
      return <SaidView card={card} atMs={message.atMs} />;
  }
}

/** Messages are immutable: one that did not change is not drawn again. */
export function CardView({ message }: { readonly message: Message }) {
  return useMemo(
    () => (
      <CardBoundary key={message.seq}>
        <View message={message} />
      </CardBoundary>
    ),
    [message],
  );
}
