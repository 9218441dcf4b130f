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
