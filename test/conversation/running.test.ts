/** What runs and what it says: where its end goes, how much of it is shown, and what is masked. */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { eventually } from "../support/state.ts";
import type { ShownMessage } from "./place.ts";
import { EVERYWHERE, PLATFORMS } from "./places/places.ts";
import { stage, WAIT_MS } from "./stage.ts";

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

  it("token-in-output: one that is printed in two pieces is masked, on the card, in the log and in /process", async () => {
    const { place } = on;
    const mark = on.fresh("pieces");
    const [head, tail] = ["ghp_k9L8m7N6o5k9L8m7N6", "o5k9L8m7N6o5k9L8m7N6o5"];
    const wait = `${mark}-go`.replace(/ /g, "-");
    await place.command(
      place.guest,
      place.room,
      `/exec echo ${mark}; printf ${head}; sleep 0.2; echo ${tail}; until [ -e ${wait} ]; do sleep 0.1; done`,
    );
    const card = await on.request(place.room, wait);
    await on.press(card, "once");
    const running = await on.shows(place.room, [mark, "•••"], ({ buttons }) => buttons.includes("Stop"));
    const name = place.name === "web" ? "web" : place.name;
    await place.say(place.owner, place.room, name === "slack" ? "@bot process list" : "@bot /process list");
    const listed = await on.shows(place.room, ["Sessions of this agent", /running/], () => true, place.owner);
    const session = /([a-z]+-[a-z]+(?:-\d+)?)\W+running/.exec(listed.text.replaceAll("\\", ""))?.[1] ?? "";
    await place.say(place.owner, place.room, `@bot ${name === "slack" ? "" : "/"}process log ${session}`);
    await eventually(
      () => /•••/.test(place.screen(place.owner, place.room).split("process log").at(-1) ?? ""),
      WAIT_MS,
    );
    await writeFile(join(on.gateway.stateDir, "workspace", wait), "");
    await on.shows(
      place.room,
      [mark, /exit|completed/i],
      ({ id, buttons }) => id === running.id && !buttons.includes("Stop"),
    );
    const screen = place.screen(place.owner, place.room);
    expect(screen).not.toContain(head + tail);
    expect(screen.replace(/[\s\S]*process log/, "")).not.toContain(tail);
  });

  it("secret-in-command-card: a rule remembers what it was used for without the secret, a list cuts none in half", async () => {
    const { place } = on;
    const path = join(on.gateway.stateDir, "exec-approvals.json");
    const rules = {
      version: 1,
      agents: { "*": { allowlist: [{ id: "0a1b2c3d-4e5f-4a6b-8c7d-9e0f1a2b3c4d", pattern: "printf" }] } },
    };
    await writeFile(path, JSON.stringify(rules), { mode: 0o600 });
    const secret = `ghp_${"f5E4d3C2b1".repeat(4)}`;
    const mark = on.fresh("listed");
    await place.command(place.guest, place.room, `/exec printf '%s %s' ${secret} '${mark}'`);
    await on.shows(place.room, [mark, /exit|completed/i, "•••"]);
    await on.restart();
    const kept = await readFile(path, "utf8");
    expect(kept).toContain("lastUsedCommand");
    expect(kept).toContain("•••");
    expect(kept).not.toContain(secret);
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
