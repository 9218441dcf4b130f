import { afterEach, describe, expect, test } from "vitest";
import type { ReplayEvent } from "../../src/protocol/frames.ts";
import { Playback } from "../../src/web/replay/playback.ts";
import { ReplayScreen } from "../../src/web/replay/screen.ts";

const screens: ReplayScreen[] = [];
afterEach(() => {
  for (const screen of screens.splice(0)) screen.dispose();
});

function terminal(cols = 20, rows = 4): ReplayScreen {
  const screen = new ReplayScreen(cols, rows);
  screens.push(screen);
  return screen;
}
const textOf = (screen: ReplayScreen) =>
  screen.rows().map((row) =>
    row
      .map((segment) => segment.text)
      .join("")
      .trimEnd(),
  );

describe("the screen of a replay", () => {
  test("does what a terminal does with cursor moves, erasing, and the alternate screen", async () => {
    const screen = terminal();
    await screen.apply([
      [0, "o", "one\r\ntwo\r\nthree"],
      [0, "o", "\u001b[1;1H\u001b[KONE"],
    ]);
    expect(textOf(screen)).toEqual(["ONE", "two", "three", ""]);
    await screen.apply([[0, "o", "\u001b[?1049h\u001b[2J\u001b[2;3Hfull screen"]]);
    expect(textOf(screen)).toEqual(["", "  full screen", "", ""]);
    await screen.apply([[0, "o", "\u001b[?1049l"]]);
    expect(textOf(screen)).toEqual(["ONE", "two", "three", ""]);
  });

  test("keeps colours and styles, wide characters and the cursor apart", async () => {
    const screen = terminal();
    await screen.apply([[0, "o", "\u001b[1;31mred\u001b[0m \u001b[48;2;1;2;3m日\u001b[0mx"]]);
    const [row] = screen.rows();
    expect(row?.slice(0, 4)).toMatchObject([
      { text: "red", style: { bold: true, fg: { kind: "palette", index: 1 } } },
      { text: " ", style: {} },
      { text: "日", wide: true, style: { bg: { kind: "rgb", css: "rgb(1 2 3)" } } },
      { text: "x", style: {} },
    ]);
    expect(row?.find((segment) => segment.cursor)?.text).toBe(" ");
    await screen.apply([[0, "o", "\u001b[?25l"]]);
    expect(
      screen
        .rows()
        .flat()
        .some((segment) => segment.cursor),
    ).toBe(false);
  });

  test("follows a resize in the middle of the output, and a reset undoes it", async () => {
    const screen = terminal(20, 4);
    await screen.apply([
      [0, "o", "before"],
      [0, "r", "10x2"],
      [0, "o", "\r\n0123456789AB"],
    ]);
    expect(screen.cols).toBe(10);
    expect(textOf(screen)).toEqual(["0123456789", "AB"]);
    screen.reset();
    expect(screen.cols).toBe(20);
    expect(textOf(screen)).toEqual(["", "", "", ""]);
  });

  test("does not take an absurd size from a recording", async () => {
    const screen = terminal(1e9, 0);
    await screen.apply([[0, "r", "100000x100000"]]);
    expect(screen.cols).toBe(500);
    expect(screen.rows().length).toBe(200);
  });
});

/** A clock that moves when told; what is due runs in its order. */
class Time {
  ms = 0;
  #due: { readonly atMs: number; readonly action: () => void }[] = [];
  later = (ms: number, action: () => void) => {
    const entry = { atMs: this.ms + ms, action };
    this.#due.push(entry);
    return () => {
      this.#due = this.#due.filter((one) => one !== entry);
    };
  };
  pass(ms: number): void {
    const end = this.ms + ms;
    for (;;) {
      const next = this.#due.filter((one) => one.atMs <= end).sort((a, b) => a.atMs - b.atMs)[0];
      if (next === undefined) break;
      this.#due = this.#due.filter((one) => one !== next);
      this.ms = next.atMs;
      next.action();
    }
    this.ms = end;
  }
}

describe("playing a recording", () => {
  const events: readonly ReplayEvent[] = [
    [0.5, "o", "a"],
    [1, "o", "b"],
    [3, "o", "c"],
    [10, "o", "d"],
  ];

  function player() {
    const time = new Time();
    const screen = terminal();
    let changed = () => {};
    const playback = new Playback({ events, screen, now: () => time.ms, later: time.later, onChange: () => changed() });
    const shows = async (text: string) => {
      while (textOf(screen)[0] !== text) {
        await new Promise<void>((resolve) => {
          changed = resolve;
        });
      }
    };
    return { time, playback, shows };
  }

  test("shows each piece at its time, and stops at the end", async () => {
    const { time, playback, shows } = player();
    playback.play();
    time.pass(900);
    await shows("a");
    time.pass(200);
    await shows("ab");
    time.pass(60_000);
    await shows("abcd");
    expect(playback.playing).toBe(false);
    expect(playback.position).toBe(10);
    playback.play();
    time.pass(600);
    await shows("a");
    expect(playback.position).toBeCloseTo(0.6);
  });

  test("goes forth and back to any time, playing or not", async () => {
    const { time, playback, shows } = player();
    playback.seek(5);
    await shows("abc");
    playback.seek(0.7);
    await shows("a");
    playback.seek(99);
    await shows("abcd");
    playback.seek(2.5);
    await shows("ab");
    playback.play();
    time.pass(600);
    await shows("abc");
    expect(playback.playing).toBe(true);
  });

  test("of many seeks the last one counts", async () => {
    const { playback, shows } = player();
    for (const second of [9, 0, 5, 10, 1]) playback.seek(second);
    await shows("ab");
  });

  test("runs faster or slower from where it is", async () => {
    const { time, playback, shows } = player();
    playback.play();
    time.pass(1000);
    playback.setSpeed(4);
    expect(playback.position).toBeCloseTo(1);
    time.pass(500);
    await shows("abc");
    expect(playback.position).toBeCloseTo(3);
    playback.setSpeed(0.5);
    time.pass(2000);
    expect(playback.position).toBeCloseTo(4);
  });

  test("stands still while it is paused", () => {
    const { time, playback } = player();
    playback.play();
    time.pass(700);
    playback.pause();
    time.pass(5000);
    expect(playback.position).toBeCloseTo(0.7);
  });
});
