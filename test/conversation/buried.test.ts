/** A card that others have talked out of sight: its end comes down to where people read (channels.md 6.2). */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { eventually } from "../support/state.ts";
import type { ShownMessage } from "./place.ts";
import { EVERYWHERE, PLATFORMS } from "./places/places.ts";
import { type Stage, stage, WAIT_MS } from "./stage.ts";

const BURIED_BY = 5;
const ENDED = /exit code 0|completed/;
const hasStop = (message: ShownMessage) => message.buttons.some((label) => /stop/i.test(label));

interface Going {
  readonly mark: string;
  readonly card: ShownMessage;
  /** Lets the command end. */
  finish(): Promise<void>;
}

/** A command that says something, is shown running, and waits. */
async function going(on: Stage, spot?: { readonly chat: string; readonly thread: string; readonly readIn: string }) {
  const { place } = on;
  const file = on.freshFile("go-on");
  const mark = file.replace("go-on", "marked");
  const command = `while [ ! -e ${file} ]; do sleep 0.1; done; echo end-of-$((1+1))-${mark}`;
  const chat = spot?.readIn ?? place.room;
  if (spot) await place.say(place.guest, spot.chat, `@bot exec ${command}`, spot.thread);
  else await place.command(place.guest, place.room, `/exec ${command}`);
  const request = await on.request(chat, file);
  await on.press(request, "once");
  const card = await on.shows(chat, [file], (message) => message.id !== request.id && hasStop(message));
  return {
    mark: `end-of-2-${mark}`,
    card,
    finish: () => writeFile(join(on.gateway.stateDir, "workspace", file), ""),
  } satisfies Going;
}

/** Telegram shows a bot only what is said to it, and in the web chat everything is: there each word has its answer. */
const isAnswered = ({ place }: Stage) => place.name === "web" || place.name === "telegram";

async function chatter(on: Stage, count: number, spot?: { readonly chat: string; readonly thread?: string }) {
  const { place } = on;
  for (let n = 0; n < count; n++) {
    const words = `${isAnswered(on) ? "@bot " : ""}word ${n} of the others`;
    await place.say(place.guest, spot?.chat ?? place.room, words, spot?.thread);
  }
}

const now = (on: Stage, { id, chat }: ShownMessage) =>
  on.place.posted(on.place.owner, chat).find((message) => message.id === id);

describe.each(EVERYWHERE)("a card with newer messages below it on %s", (_name, open) => {
  const on = stage(open);

  it("five of them: what was there says where the end is, and the end is a new message at the bottom", async () => {
    const run = await going(on);
    await chatter(on, BURIED_BY);
    await run.finish();
    const end = await on.shows(run.card.chat, [run.mark, ENDED], (message) => message.id !== run.card.id);
    expect(on.place.posted(on.place.owner, run.card.chat).at(-1)?.id).toBe(end.id);
    const left = now(on, run.card);
    expect(left?.text).toMatch(/further down/);
    expect(left?.text).not.toContain(run.mark);
    expect(left?.buttons).toEqual([]);
    const ends = on.place.posted(on.place.owner, run.card.chat).filter((message) => message.text.includes(run.mark));
    expect(ends).toHaveLength(1);
  });

  it("fewer: it is edited in place, and there is no other message", async () => {
    const run = await going(on);
    await chatter(on, isAnswered(on) ? 2 : BURIED_BY - 1);
    await run.finish();
    await on.shows(run.card.chat, [run.mark, ENDED], (message) => message.id === run.card.id);
    const ends = on.place.posted(on.place.owner, run.card.chat).filter((message) => message.text.includes(run.mark));
    expect(ends).toHaveLength(1);
  });
});

describe.each(PLATFORMS)("a card in a thread on %s", (_name, open) => {
  const on = stage(open);

  it("is buried by what is said in its thread, not by what is said in the room", async () => {
    const { place } = on;
    const spot = await place.openThread(place.guest);
    const first = await going(on, spot);
    await chatter(on, 2 * BURIED_BY, { chat: place.name === "telegram" ? spot.chat : place.room });
    await first.finish();
    await on.shows(spot.readIn, [first.mark, ENDED], (message) => message.id === first.card.id);

    const second = await going(on, spot);
    await chatter(on, BURIED_BY, spot);
    await second.finish();
    const end = await on.shows(spot.readIn, [second.mark, ENDED], (message) => message.id !== second.card.id);
    expect(end.thread).toBe(spot.thread);
    expect(now(on, second.card)?.text).toMatch(/further down/);
  });

  it("the running card comes after a second and a half, so that a quick command has one card, its end", async () => {
    const { place } = on;
    const mark = on.fresh("quick-one");
    const card = await on.ask(`sleep 0.7; echo ${mark}`);
    await on.press(card, "once");
    const end = await on.shows(place.room, [mark, ENDED], (message) => message.id !== card.id);
    const about = place.posted(place.owner, place.room).filter((one) => one.text.includes(mark));
    expect(about.map((one) => one.id).sort()).toEqual([card.id, end.id].sort());
    await eventually(() => now(on, card)?.text.includes("exit 0"), WAIT_MS);
  });
});
