import type { ComponentChildren } from "preact";
import { useMemo } from "preact/hooks";
import { reveal } from "../visible.ts";

export interface Fact {
  readonly label: string;
  readonly value: ComponentChildren;
}

/** A value that came from outside, on one line, with nothing hidden in it. */
export function Revealed({ text }: { readonly text: string }) {
  const pieces = useMemo(() => reveal(text), [text]);
  return (
    <span class="revealed">
      {pieces.map((piece) =>
        piece.mark === undefined ? (
          piece.shown
        ) : (
          <mark key={piece.start} class={`mark-${piece.mark}`} title={piece.name}>
            {piece.mark === "newline" ? "↵" : piece.shown}
          </mark>
        ),
      )}
    </span>
  );
}

/** A sentence of ours; what stands between backticks in it is a name or a command and is set like one. */
export function Prose({ text }: { readonly text: string }) {
  return (
    <span>
      {text.split(/(`[^`\n]+`)/).map((part, at) => {
        const code = at % 2 === 1;
        return code ? (
          <code key={at} class="inline-code">
            <Revealed text={part.slice(1, -1)} />
          </code>
        ) : (
          part
        );
      })}
    </span>
  );
}

export function Facts({ facts }: { readonly facts: readonly Fact[] }) {
  return (
    <dl class="facts">
      {facts.map((fact) => (
        <div key={fact.label} class="fact">
          <dt>{fact.label}</dt>
          <dd>{fact.value}</dd>
        </div>
      ))}
    </dl>
  );
}

/** The rules that "Allow always" stores, each as its sentence. */
export function StoredRules({ title, rules }: { readonly title: string; readonly rules: readonly string[] }) {
  return (
    <>
      <p class="step-title">{title}:</p>
      <ul class="stored">
        {rules.map((rule) => (
          <li key={rule}>
            <Prose text={rule} />
          </li>
        ))}
      </ul>
    </>
  );
}
