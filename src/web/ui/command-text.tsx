import { useMemo } from "preact/hooks";
import { amount } from "../format.ts";
import { type HighlightedPiece, highlight, reveal, type Span } from "../visible.ts";
import { CopyButton } from "./copy-button.tsx";

function PieceText({ piece }: { readonly piece: HighlightedPiece }) {
  if (piece.mark === undefined) {
    return piece.highlighted ? <b class="executable">{piece.shown}</b> : <span>{piece.shown}</span>;
  }
  if (piece.mark === "newline") {
    return (
      <>
        {piece.source
          .split("")
          .slice(0, -1)
          .map((_, at) => (
            <span key={at} class="newline-mark" title="line break">
              {"↵\n"}
            </span>
          ))}
        <span class="newline-mark" title="line break">
          {"↵\n"}
        </span>
      </>
    );
  }
  return (
    <mark class={`mark-${piece.mark}`} title={piece.name}>
      {piece.shown}
    </mark>
  );
}

function notices(pieces: readonly HighlightedPiece[]): readonly string[] {
  const count = (mark: string) =>
    pieces.reduce((sum, piece) => (piece.mark === mark ? sum + [...piece.source].length : sum), 0);
  const [hidden, lookalike] = [count("hidden"), count("lookalike")];
  return [
    ...(hidden > 0 ? [`${amount(hidden, "invisible character")} shown as \\u{…}. They are part of the command.`] : []),
    ...(lookalike > 0
      ? [`${amount(lookalike, "marked letter")} ${lookalike === 1 ? "is" : "are"} not Latin, only drawn alike.`]
      : []),
  ];
}

/** The whole command, exactly: nothing cut, nothing hidden, nothing reordered. */
export function CommandText({
  text,
  highlights = [],
}: {
  readonly text: string;
  readonly highlights?: readonly Span[];
}) {
  const pieces = useMemo(() => highlight(reveal(text), highlights), [text, highlights]);
  return (
    <>
      <div class="command">
        <code class="command-text" translate={false}>
          {pieces.map((piece) => (
            <PieceText key={piece.start} piece={piece} />
          ))}
        </code>
        <CopyButton text={() => text} what="command" />
      </div>
      {notices(pieces).map((notice) => (
        <p key={notice} class="notice notice-warning">
          {notice}
        </p>
      ))}
    </>
  );
}
