/** What a command still needs is offered: drawn by each platform, answered by who asked, once, as if they had typed it. */
import { describe, expect, it } from "vitest";
import { MENU_TTL_MS } from "../../src/commands/menus.ts";
import { eventually, manualClock } from "../support/state.ts";
import type { ShownMessage } from "./place.ts";
import { EVERYWHERE, PLATFORMS } from "./places/places.ts";
import { isRequest, type Stage, stage, WAIT_MS } from "./stage.ts";

const RUNNING = "while :; do sleep 0.2; done";
const slugOf = (card: ShownMessage) => /\b[0-9a-f]{8}\b/.exec(card.text)?.[0] ?? "";

/** As this platform's people type it without the native command: words that name the bot, and a slash where they can. */
function typed({ place }: Stage, text: string): Promise<string> {
  return place.say(place.owner, place.room, `@bot ${place.name === "slack" ? text.slice(1) : text}`);
}

function menu(on: Stage, words: readonly (string | RegExp)[], offers: readonly string[], user = on.place.owner) {
  const hasAll = (message: ShownMessage) => offers.every((label) => message.buttons.includes(label));
  return on.shows(on.place.room, words, hasAll, user);
}

/** The menu once it was answered: it keeps its place, says what was chosen, and offers nothing. */
function answered({ place, shows }: Stage, { id }: ShownMessage, label: string): Promise<ShownMessage> {
  return shows(place.room, [label], (message) => message.id === id && message.buttons.length === 0, place.owner);
}

function says({ place }: Stage, user: string, words: RegExp): Promise<unknown> {
  return eventually(() => words.test(place.screen(user, place.room)), WAIT_MS).catch(() => {
    throw new Error(place.screen(user, place.room));
  });
}

/** A command that goes on until it is stopped, allowed by its card; resolves with its session. */
async function running(on: Stage): Promise<string> {
  const { place } = on;
  await place.command(place.owner, place.room, `/exec echo ${on.fresh("up")}; ${RUNNING}`);
  const mark = `${place.name}`;
  const card = await on.shows(place.room, [RUNNING, mark], isRequest);
  await on.press(card, "once");
  const run = await on.shows(place.room, [RUNNING], (message) => message.buttons.includes("Stop"));
  return /\b[a-z]+-[a-z]+(?:-\d+)?\b(?=[^\n]*$)/m.exec(run.text.split(/Session/i)[1] ?? run.text)?.[0] ?? "";
}

describe.each(EVERYWHERE)("menus on %s", (_name, open) => {
  const on = stage(open);

  it("/approve alone offers what waits, then the whole command with its decisions, and decides by the same path", async () => {
    const { place } = on;
    const file = on.freshFile("by-menu");
    const [first, other] = [await on.ask(`touch ${file}`), await on.ask(`touch ${file}-other`)];
    await place.command(place.owner, place.room, "/approve");
    const which = await menu(on, ["Which request?"], [slugOf(first), slugOf(other)]);
    await place.press(place.owner, which, slugOf(first));
    const what = await menu(on, [`Decide ${slugOf(first)}`, `touch ${file}`], ["Allow once", "Allow always", "Deny"]);
    expect(what.text).toContain("with exactly these arguments");
    await answered(on, which, slugOf(first));
    expect(await on.workspaceFile(file)).toBeUndefined();

    await place.press(place.owner, what, "Allow once");
    await on.written(file);
    expect((await on.decided(first)).text).toMatch(/allow|toegestaan/i);
    await answered(on, what, "Allow once");
    await on.press(other, "deny");
    await on.decided(other);
  });

  it("an answer that comes twice, or after another, is given once", async () => {
    const { place } = on;
    const file = on.freshFile("twice");
    const card = await on.ask(`echo ran >> ${file}`);
    await place.command(place.owner, place.room, `/approve ${slugOf(card)}`);
    const what = await menu(on, [`Decide ${slugOf(card)}`], ["Allow once", "Deny"]);
    await Promise.all([
      place.press(place.owner, what, "Allow once"),
      place.press(place.owner, what, "Allow once"),
      place.press(place.owner, what, "Deny"),
    ]);
    await says(on, place.owner, /Already answered: (Allow once|Deny)/);
    const decided = await on.decided(card);
    if (/denied|geweigerd/i.test(decided.text)) expect(await on.workspaceFile(file)).toBeUndefined();
    else expect(await on.written(file)).toBe("ran\n");
  });

  it("/approve deny asks which, and a request decided meanwhile is told so", async () => {
    const { place } = on;
    const file = on.freshFile("deny");
    const card = await on.ask(`touch ${file}`);
    await typed(on, "/approve deny");
    const which = await menu(on, ["Which request should be denied?"], [slugOf(card)]);
    await on.press(card, "deny");
    await on.decided(card);
    await place.press(place.owner, which, slugOf(card));
    await says(on, place.owner, new RegExp(`${slugOf(card)} was denied already`));
    await place.command(place.owner, place.room, "/approve");
    await says(on, place.owner, /No request waits for your decision/);
  });

  it("/process offers sessions, then what can be done with one; kill through it ends that session", async () => {
    const { place } = on;
    const session = await running(on);
    await place.command(place.owner, place.room, "/process");
    const which = await menu(on, ["Sessions of this agent", session], [session]);
    await place.press(place.owner, which, session);
    const what = await menu(on, [`What to do with ${session}?`], ["log", "poll", "kill", "send-keys", "resize"]);
    await place.press(place.owner, what, "kill");
    await on.shows(place.room, [RUNNING, /Stopped/i], (message) => !message.buttons.includes("Stop"));
    await answered(on, what, "kill");

    await typed(on, "/process log");
    const log = await menu(on, ["Which session? log"], [session]);
    await place.press(place.owner, log, session);
    await says(on, place.owner, /up (slack|discord|telegram|web)/);
  });

  it("/exec ask= offers its values; one of them holds for the conversation from then on", async () => {
    const { place } = on;
    await typed(on, "/exec ask=");
    const which = await menu(on, ["Which ask?"], ["off", "on-miss", "always"]);
    await place.press(place.owner, which, "always");
    await says(on, place.owner, /Set for this conversation[\s\S]*always/);
    await answered(on, which, "always");
  });
});

describe.each(PLATFORMS)("whose menu it is on %s", (_name, open) => {
  const on = stage(open);

  it("only who asked is offered anything, and only their own rank counts", async () => {
    const { place } = on;
    const file = on.freshFile("foreign");
    const card = await on.ask(`touch ${file}`);
    // The guest may not decide: there is nothing to offer them.
    await place.command(place.guest, place.room, "/approve");
    await says(on, place.guest, /No request waits for your decision/);
    await place.command(place.guest, place.room, `/approve ${slugOf(card)}`);
    await says(on, place.guest, /approver/i);

    await place.command(place.owner, place.room, `/approve ${slugOf(card)}`);
    const what = await menu(on, [`Decide ${slugOf(card)}`], ["Allow once", "Deny"]);
    const seenByOthers = place.posted(place.second, place.room).some(({ id }) => id === what.id);
    // Telegram has no private view of a group: there it is the press that is refused.
    expect(seenByOthers).toBe(place.name === "telegram");
    if (seenByOthers) {
      await place.press(place.second, what, "Allow once");
      await says(on, place.second, /Only who asked can choose here/);
      expect(place.posted(place.owner, place.room).find(({ id }) => id === what.id)?.buttons).toContain("Deny");
    }
    expect(await on.workspaceFile(file)).toBeUndefined();
    await place.press(place.owner, what, "Deny");
    expect((await on.decided(card)).text).toMatch(/denied|geweigerd/i);
    expect(await on.workspaceFile(file)).toBeUndefined();
  });

  it("/activation and /pair offer their answers to the owner", async () => {
    const { place } = on;
    await place.command(place.owner, place.room, "/activation");
    const when = await menu(on, ["When should I answer in this room?"], ["mention", "always"]);
    await place.press(place.owner, when, "always");
    await says(on, place.owner, /I answer every message/);

    await place.say(place.stranger, place.direct(place.stranger), "hello, who are you?");
    await on.shows(place.direct(place.owner), ["Somebody asks to be let in"], () => true, place.owner);
    await place.command(place.owner, place.room, "/pair");
    const name = place.name === "slack" ? "Sam Roe|sam" : "sam";
    const who = await on.shows(
      place.room,
      ["Waiting to be let in"],
      (message) => message.buttons.some((label) => new RegExp(`^Let (${name}) in$`).test(label)),
      place.owner,
    );
    await place.press(place.owner, who, who.buttons.find((label) => /^Let/.test(label)) ?? "");
    await on.shows(place.direct(place.stranger), ["You are let in"], () => true, place.stranger);
  });
});

describe.each(EVERYWHERE)("an old menu on %s", (_name, open) => {
  const clock = manualClock();
  const on = stage(open, { clock });

  it("works over a restart, and after a day does nothing and says so", async () => {
    const { place } = on;
    const offer = async () => {
      await typed(on, "/exec ask=");
      const known = new Set(
        place
          .posted(place.owner, place.room)
          .filter((one) => one.buttons.length === 0)
          .map(({ id }) => id),
      );
      return on.shows(
        place.room,
        ["Which ask?"],
        (one) => one.buttons.includes("always") && !known.has(one.id),
        place.owner,
      );
    };
    const first = await offer();
    await on.restart();
    await place.press(place.owner, first, "always");
    await says(on, place.owner, /Set for this conversation/);
    await answered(on, first, "always");

    const second = await offer();
    clock.advance(MENU_TTL_MS + 1);
    place.passTime(MENU_TTL_MS + 1);
    await place.press(place.owner, second, "off");
    await says(on, place.owner, /This list is no longer kept, so nothing was done/);
  });
});
