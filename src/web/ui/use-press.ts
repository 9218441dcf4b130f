import { useEffect, useState } from "preact/hooks";
import type { Card, PressAction } from "../../core/cards.ts";
import { later } from "../platform.ts";
import { RequestError } from "../request-error.ts";
import { useReader } from "../words/reader.ts";
import { useCardContext } from "./card-context.ts";

/** A press that the gateway took but that changed nothing is given back to the person after this long. */
const NO_CHANGE_MS = 10_000;

export interface Press {
  /** From the press until the card changed: buttons are off, nothing is claimed. */
  readonly busy: boolean;
  readonly trouble: string | undefined;
  press(action: PressAction): void;
}

function explain(error: unknown, answerLost: string): string {
  if (!(error instanceof RequestError)) throw error;
  if (error.code === "connection-lost" || error.code === "no-answer") {
    return answerLost;
  }
  return error.message;
}

/** What a press changes. */
function stageOf(card: Card): string {
  if (card.kind === "approval") {
    const besides = [
      card.revokedBy && "taken-back",
      card.askedAgain && "asked-again",
      JSON.stringify(card.snoozes ?? []),
    ];
    return [card.state, ...besides].join(" ");
  }
  if (card.kind === "menu") return card.choices.length > 0 ? "open" : "";
  if (card.kind === "text") return card.actions?.length ? "open" : "";
  return card.kind === "run" ? card.state : "";
}

/** The page never guesses an outcome: what a press did is shown when the card itself comes back changed. */
export function usePress(card: Card): Press {
  const context = useCardContext();
  const { answerLost, noAnswerYet } = useReader().words.card;
  const [pressed, setPressed] = useState<Card | undefined>(undefined);
  const [trouble, setTrouble] = useState<string | undefined>(undefined);
  const busy = pressed !== undefined;

  const decided = stageOf(card);
  useEffect(() => {
    setPressed(undefined);
    setTrouble(undefined);
  }, [decided]);

  useEffect(() => {
    if (pressed === undefined) return undefined;
    return later(NO_CHANGE_MS, () => {
      setPressed(undefined);
      setTrouble(noAnswerYet);
    });
  }, [pressed, noAnswerYet]);

  return {
    busy,
    trouble,
    press: (action) => {
      if (busy) return;
      setPressed(card);
      setTrouble(undefined);
      context.press(action).then(
        () => {
          // A new run comes as a message of its own; this card stays as it is.
          if (action.kind === "run" && action.action === "run-again") setPressed(undefined);
        },
        (error: unknown) => {
          setPressed(undefined);
          setTrouble(explain(error, answerLost));
        },
      );
    },
  };
}
