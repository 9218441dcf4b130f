import type { MenuCard, MenuChoice } from "../../core/cards.ts";
import { MASK } from "../../core/words/mask.ts";
import { useReader } from "../words/reader.ts";
import { useCardContext } from "./card-context.ts";
import { CommandText } from "./command-text.tsx";
import { useArmed, Waiting } from "./decide.tsx";
import { Prose, Revealed } from "./facts.tsx";
import { CheckIcon, ListIcon } from "./icons.tsx";
import { PressNotices } from "./press-notices.tsx";
import { usePress } from "./use-press.ts";

const STYLE = {
  success: "button button-primary",
  primary: "button",
  danger: "button button-danger",
  plain: "button",
} as const;

interface Offered extends MenuChoice {
  readonly index: number;
}

/** All of the command is always shown here; what is masked in it is never allowed for good. */
function offeredOf({ choices, command = "" }: MenuCard): readonly Offered[] {
  return choices
    .map((choice, index) => ({ ...choice, index }))
    .filter(({ needs }) => needs !== "unmasked" || !command.includes(MASK));
}

function Choices({ card, offered }: { readonly card: MenuCard; readonly offered: readonly Offered[] }) {
  const { connected } = useCardContext();
  const { busy, trouble, press } = usePress(card);
  const off = !useArmed() || busy || !connected.value;
  const isList = offered.some(({ detail }) => detail !== undefined);
  return (
    <>
      <div class={isList ? "choices" : "actions"}>
        {offered.map(({ label, detail, style, index }) => (
          <div key={index} class={isList ? "choice" : "choice-alone"}>
            <button
              type="button"
              class={STYLE[style]}
              disabled={off}
              onClick={() => press({ kind: "menu", menuId: card.menuId, choice: index })}
            >
              {label}
            </button>
            {detail !== undefined && (
              <span class="choice-detail">
                <Revealed text={detail} />
              </span>
            )}
          </div>
        ))}
        {busy && <Waiting />}
      </div>
      <PressNotices trouble={trouble} />
    </>
  );
}

export function MenuCardView({ card, titleId }: { readonly card: MenuCard; readonly titleId: string }) {
  const { messages } = useReader();
  const offered = offeredOf(card);
  const isOpen = offered.length > 0;
  return (
    <section class={`card text menu tone-${isOpen ? "info" : "quiet"}`} aria-labelledby={titleId}>
      <header class="card-head">
        <span class="card-icon">{isOpen ? <ListIcon /> : <CheckIcon />}</span>
        <h3 id={titleId}>{card.title}</h3>
      </header>
      {card.text !== undefined && (
        <p class="body-text">
          <Prose text={card.text} />
        </p>
      )}
      {card.command !== undefined && <CommandText text={card.command} highlights={[]} />}
      {card.fields !== undefined && card.fields.length > 0 && (
        <dl class="fields">
          {card.fields.map((field, at) => (
            <div key={`${at} ${field.label}`} class="field-row">
              <dt>{field.label}</dt>
              <dd>
                {field.value}
                {field.note !== undefined && <small>{field.note}</small>}
              </dd>
            </div>
          ))}
        </dl>
      )}
      {card.chosen !== undefined && <p class="body-text">{messages.menu.chosen(card.chosen)}</p>}
      {isOpen && <Choices card={card} offered={offered} />}
      {isOpen && <p class="hint">{messages.menu.orType(card.form)}</p>}
    </section>
  );
}
