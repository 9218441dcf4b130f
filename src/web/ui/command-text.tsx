import { useMemo } from "preact/hooks";
import { type HighlightedPiece, highlight, reveal, type Span } from "../visible.ts";
import { useReader } from "../words/reader.ts";
import type { Words } from "../words/words.ts";
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

function notices(pieces: readonly HighlightedPiece[], words: Words["card"]): readonly string[] {
  const count = (mark: string) =>
    pieces.reduce((sum, piece) => (piece.mark === mark ? sum + [...piece.source].length : sum), 0);
  const [hidden, lookalike] = [count("hidden"), count("lookalike")];
  return [...(hidden > 0 ? [words.hidden(hidden)] : []), ...(lookalike > 0 ? [words.lookalikes(lookalike)] : [])];
}

/** The whole command, exactly: nothing cut, nothing hidden, nothing reordered. */
export function CommandText({
  text,
  highlights = [],
}: {
  readonly text: string;
  readonly highlights?: readonly Span[];
}) {
  const words = useReader().words.card;
  const pieces = useMemo(() => highlight(reveal(text), highlights), [text, highlights]);
  return (
    <>
      <div class="command">
        <code class="command-text" translate={false}>
          {pieces.map((piece) => (
            <PieceText key={piece.start} piece={piece} />
          ))}
        </code>
        <CopyButton text={() => text} label={words.copyCommand} />
      </div>
      {notices(pieces, words).map((notice) => (
        <p key={notice} class="notice notice-warning">
          {notice}
        </p>
      ))}
    </>
  );
}
