import type { CSSProperties, RefObject } from "preact";
import { useEffect, useLayoutEffect, useReducer, useRef, useState } from "preact/hooks";
import { formatClock } from "../../core/duration.ts";
import type { ReplayEvent } from "../../protocol/frames.ts";
import { later } from "../platform.ts";
import { Playback, SPEEDS, type Speed } from "../replay/playback.ts";
import type { ReplayScreen, ScreenRow } from "../replay/screen.ts";
import { useReader } from "../words/reader.ts";
import { PauseIcon, PlayIcon } from "./icons.tsx";
import { SegmentText } from "./output.tsx";

/** Seconds of one step by an arrow key. */
const STEP_SEC = 5;

function RowText({ row }: { readonly row: ScreenRow }) {
  return (
    <>
      {row.map((segment, at) =>
        segment.wide || segment.cursor ? (
          <span key={at} class={`${segment.wide ? "cell-wide" : ""}${segment.cursor ? " cell-cursor" : ""}`}>
            <SegmentText segment={segment} />
          </span>
        ) : (
          <SegmentText key={at} segment={segment} />
        ),
      )}
      {"\n"}
    </>
  );
}

export interface ReplayPlayerProps {
  readonly screen: ReplayScreen;
  readonly events: readonly ReplayEvent[];
  /** Its keys play and pause, wherever the focus is in it. */
  readonly dialog: RefObject<HTMLDialogElement | null>;
}

export function ReplayPlayer({ screen, events, dialog }: ReplayPlayerProps) {
  const { words: all } = useReader();
  const { replay: words } = all;
  const [, redraw] = useReducer((count: number, _: undefined) => count + 1, 0);
  const [playback] = useState(
    () => new Playback({ events, screen, now: () => performance.now(), later, onChange: () => redraw(undefined) }),
  );
  const toggle = useRef<HTMLButtonElement>(null);

  const stage = useRef<HTMLElement>(null);
  const [scrolls, setScrolls] = useState(false);
  const { cols } = screen;
  useLayoutEffect(() => {
    const element = stage.current;
    if (element === null) return;
    const narrow = element.scrollWidth > element.clientWidth + 1;
    setScrolls(narrow || element.scrollHeight > element.clientHeight + 1);
  }, [cols]);

  useEffect(() => {
    toggle.current?.focus();
    // Whoever wants no motion gets what was there in the end, and starts the replay by hand.
    if (matchMedia("(prefers-reduced-motion: reduce)").matches) playback.seek(playback.duration);
    else playback.play();
    return () => playback.stop();
  }, [playback]);

  useEffect(() => {
    const element = dialog.current;
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.target instanceof HTMLSelectElement) return;
      const { key } = event;
      if (key === " " && event.target instanceof HTMLButtonElement) return;
      if (key === " " || key === "k") press(playback);
      else if (key === "ArrowLeft") playback.seek(playback.position - STEP_SEC);
      else if (key === "ArrowRight") playback.seek(playback.position + STEP_SEC);
      else if (key === "Home") playback.seek(0);
      else if (key === "End") playback.seek(playback.duration);
      else if (key === "<" || key === ",") playback.setSpeed(nextSpeed(playback.speed, -1));
      else if (key === ">" || key === ".") playback.setSpeed(nextSpeed(playback.speed, 1));
      else return;
      event.preventDefault();
    };
    element?.addEventListener("keydown", onKeyDown);
    return () => element?.removeEventListener("keydown", onKeyDown);
  }, [dialog, playback]);

  const { position, duration, playing } = playback;
  const clock = (seconds: number) => formatClock(seconds * 1000);
  const where = words.at(clock(position), clock(duration));
  return (
    <>
      <section
        ref={stage}
        class="replay-stage"
        aria-label={words.screen}
        tabIndex={scrolls ? 0 : undefined}
        translate={false}
      >
        <pre class="replay-screen" style={{ "--cols": String(cols) } as CSSProperties}>
          {screen.rows().map((row, at) => (
            <RowText key={at} row={row} />
          ))}
        </pre>
      </section>
      <footer class="dialog-foot replay-controls">
        <button ref={toggle} type="button" class="button button-small replay-toggle" onClick={() => press(playback)}>
          {playing ? <PauseIcon /> : <PlayIcon />}
          {playing ? words.pause : words.play}
        </button>
        <input
          type="range"
          class="replay-seek"
          min="0"
          max={duration}
          step="any"
          value={position}
          aria-label={words.position}
          aria-valuetext={where}
          onInput={(event) => playback.seek(event.currentTarget.valueAsNumber)}
        />
        <span class="replay-where">{where}</span>
        <label class="replay-speed">
          <span>{words.speed}</span>
          <select
            value={playback.speed}
            onChange={(event) => playback.setSpeed(SPEEDS[event.currentTarget.selectedIndex] ?? 1)}
          >
            {SPEEDS.map((speed) => (
              <option key={speed} value={speed}>
                {speed}×
              </option>
            ))}
          </select>
        </label>
      </footer>
    </>
  );
}

function press(playback: Playback): void {
  if (playback.playing) playback.pause();
  else playback.play();
}

function nextSpeed(speed: Speed, by: 1 | -1): Speed {
  return SPEEDS[SPEEDS.indexOf(speed) + by] ?? speed;
}
