import type { TextAction, TextCard } from "../../core/cards.ts";
import { plainText } from "../ansi.ts";
import { isWaiting } from "../conversation.ts";
import { useReader } from "../words/reader.ts";
import { useCardContext } from "./card-context.ts";
import { CopyButton } from "./copy-button.tsx";
import { useArmed, Waiting } from "./decide.tsx";
import { Prose } from "./facts.tsx";
import { CheckIcon, CrossIcon, InfoIcon, WarningIcon } from "./icons.tsx";
import { Output } from "./output.tsx";
import { PressNotices } from "./press-notices.tsx";
import { usePress } from "./use-press.ts";

const LOOK = {
  info: { tone: "info", icon: InfoIcon },
  success: { tone: "good", icon: CheckIcon },
  warning: { tone: "pending", icon: WarningIcon },
  error: { tone: "bad", icon: CrossIcon },
} as const;

const STYLE = { success: "button button-primary", danger: "button button-danger", plain: "button" } as const;

function Actions({ card, actions }: { readonly card: TextCard; readonly actions: readonly TextAction[] }) {
  const { connected } = useCardContext();
  const { busy, trouble, press } = usePress(card);
  const off = !useArmed() || busy || !connected.value;
  return (
    <>
      <div class="actions">
        {actions.map(({ label, style, press: action }) => (
          <button key={label} type="button" class={STYLE[style]} disabled={off} onClick={() => press(action)}>
            {label}
          </button>
        ))}
        {busy && <Waiting />}
      </div>
      <PressNotices trouble={trouble} />
    </>
  );
}

export function TextView({ card, titleId }: { readonly card: TextCard; readonly titleId: string }) {
  const { tone, icon: Icon } = LOOK[card.tone];
  const code = card.code;
  const { words: own } = useReader();
  const asks = isWaiting(card);
  return (
    <section
      class={`card text tone-${tone}`}
      data-waiting={asks ? "" : undefined}
      tabIndex={asks ? 0 : undefined}
      {...(card.title === undefined ? { "aria-label": card.tone } : { "aria-labelledby": titleId })}
    >
      {card.title !== undefined ? (
        <header class="card-head">
          <span class="card-icon">
            <Icon />
          </span>
          <h3 id={titleId}>{card.title}</h3>
        </header>
      ) : (
        card.tone !== "info" && (
          <header class="card-head">
            <span class="card-icon">
              <Icon />
            </span>
            <p class="body-text">
              <Prose text={card.text ?? ""} />
            </p>
          </header>
        )
      )}
      {card.text !== undefined && (card.title !== undefined || card.tone === "info") && (
        <p class="body-text">
          <Prose text={card.text} />
        </p>
      )}
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
      {code !== undefined && (
        <div class="output-box">
          <Output text={code} label={card.title ?? own.card.output} />
          <CopyButton text={() => plainText(code)} label={own.card.copyOutput} />
        </div>
      )}
      {card.hint !== undefined && (
        <p class="hint">
          <Prose text={card.hint} />
        </p>
      )}
      {card.actions !== undefined && card.actions.length > 0 && <Actions card={card} actions={card.actions} />}
    </section>
  );
}
