/** What runs and what it says: where its end goes, how much of it is shown, and what is masked. */
import { describe, expect, it } from "vitest";
import type { ShownMessage } from "./place.ts";
import { EVERYWHERE, PLATFORMS } from "./places/places.ts";
import { stage } from "./stage.ts";

describe.each(PLATFORMS)("a thread on %s", (_name, open) => {
  const on = stage(open);

  it("wake-thread-dropped: gets the card and the end of its command, although other chats spoke last", async () => {
    const { place } = on;
    const mark = on.fresh("in-the-thread");
    const spot = await place.openThread(place.guest);
    const inThread = (thread: string | undefined) => thread === spot.thread;
    await place.say(place.guest, spot.chat, `@bot exec sleep 2; echo ${mark}`, spot.thread);
    const card = await on.request(spot.readIn, mark);
    expect(card.thread).toSatisfy(inThread);
    await on.press(card, "once");
    const running = await on.shows(spot.readIn, [mark], (message) => message.id !== card.id);
    await place.command(place.guest, place.room, "/whoami");
    await place.say(place.owner, place.direct(place.owner), "@bot help");
    const ended = await on.shows(spot.readIn, [mark, /exit/i], (message) => message.id !== card.id);
    expect([running.thread, ended.thread]).toEqual([spot.thread, spot.thread]);
    for (const chat of [place.room, place.direct(place.owner), place.direct(place.guest)]) {
      const stray = place.posted(place.owner, chat).filter((one) => one.text.includes(mark) && !inThread(one.thread));
      expect(stray).toEqual([]);
    }
  });
});

describe.each(PLATFORMS)("two runs in one thread on %s", (_name, open) => {
  const on = stage(open);

  it("approval-followup-route: each end stands with its own command, whichever ends first", async () => {
    const { place } = on;
    const [slow, fast] = [on.freshFile("slow"), on.freshFile("fast")];
    const spot = await place.openThread(place.guest);
    const ask = async (command: string, mark: string) => {
      await place.say(place.guest, spot.chat, `@bot exec ${command}`, spot.thread);
      const card = await on.request(spot.readIn, mark);
      await on.press(card, "once");
      return card;
    };
    const slowCard = await ask(
      `while [ ! -e ${fast} ]; do sleep 0.1; done; sleep 1; echo said-$((20+1))-${slow}`,
      slow,
    );
    const fastCard = await ask(`touch ${fast}; echo said-$((40+2))-${fast}`, "40+2");
    const end = (mark: string, asked: string) =>
      on.shows(spot.readIn, [`said-${mark}`, /exit/i], (message) => message.id !== asked);
    const [ofFast, ofSlow] = await Promise.all([end(`42-${fast}`, fastCard.id), end(`21-${slow}`, slowCard.id)]);
    expect(ofFast.text).not.toContain(slow);
    expect(ofSlow.text).not.toContain(`said-42-${fast}`);
    expect([ofFast.thread, ofSlow.thread]).toEqual([spot.thread, spot.thread]);
  });
});

describe.each(PLATFORMS)("long output on %s", (_name, open) => {
  const on = stage(open);

  it("silent-drop-too-long: shows how it begins and ends and how many lines are between; all of it comes as a file, by itself and by Full log", async () => {
    const { place } = on;
    const mark = on.fresh("lines");
    const card = await on.ask(`seq 1 20000; echo ${mark}`);
    await on.press(card, "once");
    const left = "… 19941 lines left out …";
    const ended = await on.shows(place.room, [mark, /exit/i, "20000", left], (message) => message.id !== card.id);
    expect(ended.text).toMatch(/\b1\n2\n3\n/);
    expect(ended.text).toContain(`\n19\n20\n`);
    expect(ended.text).toMatch(/\b19962\n19963\n/);
    expect(ended.text).not.toMatch(/^(21|19961)$/m);
    const isWhole = (one: ShownMessage) => one.files[0]?.text.split("\n").length === 20_002;
    const output = await on.shows(place.room, [], isWhole);
    expect(output.files[0]?.name).toMatch(/^output-[a-z-]+\.txt$/);
    const fullLog = ended.buttons.find((label) => /log/i.test(label)) ?? "";
    await place.press(place.guest, ended, fullLog);
    const chats = [place.room, place.direct(place.guest)];
    const withFile = await Promise.any(
      chats.map((chat) => on.shows(chat, [], (one) => isWhole(one) && one.id !== output.id, place.guest)),
    );
    const text = withFile.files[0]?.text ?? "";
    expect(text.startsWith("1\n2\n3\n")).toBe(true);
    expect(text.trimEnd().endsWith(mark)).toBe(true);
    expect(text.split("\n")).toHaveLength(20_002);
  });
});

describe.each(EVERYWHERE)("secrets on %s", (_name, open) => {
  const on = stage(open);

  it("secret-in-command-card, token-in-output: are masked on the card and in the output; the real text runs", async () => {
    const { place } = on;
    const mark = on.fresh("masked");
    const file = on.freshFile("real");
    // A made-up key in the shape of a real one, in two halves so that no scanner takes this file for a leak.
    const secret = `ghp_${"a1B2c3D4e5".repeat(4)}`;
    await place.command(place.guest, place.room, `/exec echo ${secret} | tee ${file}; echo ${mark}`);
    const card = await on.request(place.room, mark);
    expect(card.text).toContain("•••");
    await on.press(card, "once");
    await on.shows(place.room, [mark, /exit|completed/i, "•••"], (message) => message.id !== card.id);
    expect(await on.written(file)).toBe(`${secret}\n`);
    for (const message of place.posted(place.owner, place.room)) expect(message.text).not.toContain(secret);
  });

  it("token-in-output: the bot's own tokens reach neither the child nor the chat", async () => {
    const { place } = on;
    const mark = on.fresh("tokens");
    const card = await on.ask(`env | grep -ciE 'bot_token|app_token|xox|gateway_token'; echo ${mark}`);
    await on.press(card, "once");
    const ended = await on.shows(place.room, [mark, /exit|completed/i], (message) => message.id !== card.id);
    expect(ended.text).toMatch(/^0$/m);
    for (const token of Object.values(place.env)) expect(place.screen(place.owner, place.room)).not.toContain(token);
  });
});
