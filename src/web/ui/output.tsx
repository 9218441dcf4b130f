import type { CSSProperties } from "preact";
import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { type Colour, type Line, type Segment, type Style, terminalLines } from "../ansi.ts";

const FLAGS = ["bold", "dim", "italic", "underline", "strike"] as const;
/** Pixels from the end within which a person still follows the output. */
const NEAR_END = 24;

function colourClass(prefix: "fg" | "bg", colour: Colour | undefined): string {
  if (colour === undefined) return "";
  return colour.kind === "palette" ? `${prefix}-${colour.index}` : `${prefix}-rgb`;
}

/** Palette colours are classes of the theme; free ones are set through the style object model, which the CSP allows. */
function look(style: Style): { readonly class: string; readonly style?: CSSProperties } {
  const [fg, bg] = style.inverse ? [style.bg, style.fg] : [style.fg, style.bg];
  const names = [
    ...FLAGS.filter((flag) => style[flag]),
    colourClass("fg", fg),
    colourClass("bg", bg),
    style.inverse && fg === undefined ? "fg-inverse" : "",
    style.inverse && bg === undefined ? "bg-inverse" : "",
  ].filter((name) => name !== "");
  const free: Record<string, string> = {};
  if (fg?.kind === "rgb") free["--fg"] = fg.css;
  if (bg?.kind === "rgb") free["--bg"] = bg.css;
  return { class: names.join(" "), ...(Object.keys(free).length > 0 ? { style: free as CSSProperties } : {}) };
}

export function SegmentText({ segment }: { readonly segment: Segment }) {
  const { class: name, style } = look(segment.style);
  if (name === "") return <>{segment.text}</>;
  return (
    <span class={name} {...(style === undefined ? {} : { style })}>
      {segment.text}
    </span>
  );
}

function LineText({ line, last }: { readonly line: Line; readonly last: boolean }) {
  return (
    <>
      {line.map((segment, at) => (
        <SegmentText key={at} segment={segment} />
      ))}
      {last ? "" : "\n"}
    </>
  );
}

export interface OutputProps {
  readonly text: string;
  readonly label: string;
  /** Stays at the end while the output grows, unless the person has scrolled up. */
  readonly follow?: boolean;
  readonly wrap?: boolean;
}

/** Program output with its colours. The text only ever becomes text nodes. */
export function Output({ text, label, follow = false, wrap = true }: OutputProps) {
  const lines = useMemo(() => terminalLines(text), [text]);
  const box = useRef<HTMLElement>(null);
  const atEnd = useRef(true);
  const [scrolls, setScrolls] = useState(false);

  useLayoutEffect(() => {
    const element = box.current;
    if (element === null) return;
    setScrolls(element.scrollHeight > element.clientHeight + 1 || element.scrollWidth > element.clientWidth + 1);
    if (follow && atEnd.current) element.scrollTop = element.scrollHeight;
  }, [lines, follow, wrap]);

  return (
    <section
      ref={box}
      class={wrap ? "output" : "output output-unwrapped"}
      tabIndex={scrolls ? 0 : undefined}
      aria-label={label}
      translate={false}
      onScroll={({ currentTarget: element }) => {
        atEnd.current = element.scrollHeight - element.scrollTop - element.clientHeight < NEAR_END;
      }}
    >
      <pre>
        {lines.map((line, at) => (
          <LineText key={at} line={line} last={at === lines.length - 1} />
        ))}
      </pre>
    </section>
  );
}
