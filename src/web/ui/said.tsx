import type { SaidCard } from "../../core/cards.ts";
import { actorName, timeOfDay } from "../format.ts";
import type { OutgoingMessage } from "../outbox.ts";
import { useReader } from "../words/reader.ts";

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
  const { said: words, connection } = useReader().words;
  return (
    <div class={refused === undefined ? "said said-sending" : "said said-refused"}>
      <p class={bubbleClass(message.text)}>{message.text}</p>
      {refused === undefined ? (
        <p class="said-by">{connected ? words.sending : words.sentLater}</p>
      ) : (
        <p class="said-by" role="alert">
          <span>{words.notSent(refused)}</span>
          <span class="said-actions">
            <button type="button" class="quiet-button" onClick={resend}>
              {connection.tryAgain}
            </button>
            <button type="button" class="quiet-button" onClick={discard}>
              {words.discard}
            </button>
          </span>
        </p>
      )}
    </div>
  );
}
