import type { SaidCard } from "../../core/cards.ts";
import { actorName, timeOfDay } from "../format.ts";
import type { OutgoingMessage } from "../outbox.ts";

/** Commands are set in monospace, like where they will run. */
function bubbleClass(text: string): string {
  return /^[/!]\S/.test(text) ? "bubble bubble-command" : "bubble";
}

export function SaidView({ card, atMs }: { readonly card: SaidCard; readonly atMs: number }) {
  return (
    <div class="said">
      <p class={bubbleClass(card.text)}>{card.text}</p>
      <p class="said-by">
        <span>{actorName(card.actor)}</span> {timeOfDay(atMs)}
      </p>
    </div>
  );
}

export interface OutgoingProps {
  readonly message: OutgoingMessage;
  readonly connected: boolean;
  resend(): void;
  discard(): void;
}

export function OutgoingView({ message, connected, resend, discard }: OutgoingProps) {
  const refused = message.refused;
  return (
    <div class={refused === undefined ? "said said-sending" : "said said-refused"}>
      <p class={bubbleClass(message.text)}>{message.text}</p>
      {refused === undefined ? (
        <p class="said-by">{connected ? "sending" : "will be sent when the connection is back"}</p>
      ) : (
        <p class="said-by" role="alert">
          <span>Not sent: {refused}</span>
          <span class="said-actions">
            <button type="button" class="quiet-button" onClick={resend}>
              Try again
            </button>
            <button type="button" class="quiet-button" onClick={discard}>
              Discard
            </button>
          </span>
        </p>
      )}
    </div>
  );
}
