/** The card that lets a stranger in: pressed, raced, pressed by who may not, expired, over a restart, and by other ways. */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import JSON5 from "json5";
import { describe, expect, it } from "vitest";
import { CODE_TTL_MS } from "../../src/core/access/pairing.ts";
import { eventually, manualClock } from "../support/state.ts";
import type { ShownMessage } from "./place.ts";
import { PLATFORMS } from "./places/places.ts";
import { type Stage, stage, WAIT_MS } from "./stage.ts";

const ASKS = "Somebody asks to be let in";
const CODE = /\b[ABCDEFGHJKLMNPQRSTUVWXYZ23456789]{8}\b/;

/** The stranger writes; resolves with the card that this owner is shown. */
async function knock(on: Stage, owner = on.place.owner): Promise<ShownMessage> {
  const { place } = on;
  await place.say(place.stranger, place.direct(place.stranger), "hello, who are you?");
  const card = await pendingCard(on, owner);
  const code = CODE.exec(card.text)?.[0] ?? "";
  await on.shows(place.direct(place.stranger), [code], () => true, place.stranger);
  return card;
}

function pendingCard(on: Stage, owner = on.place.owner): Promise<ShownMessage> {
  const { place } = on;
  return on.shows(
    place.direct(owner),
    [ASKS, place.stranger],
    (message) => message.buttons.includes("Approve") && message.buttons.includes("Dismiss"),
    owner,
  );
}

/** What stands where the card was: no button any more. */
function receipt(on: Stage, card: ShownMessage, owner = on.place.owner): Promise<ShownMessage> {
  return on.shows(card.chat, [], (message) => message.id === card.id && message.buttons.length === 0, owner);
}

async function says(on: Stage, user: string, words: RegExp): Promise<void> {
  const seen = () => on.place.screen(user, on.place.direct(user));
  await eventually(() => words.test(seen()), WAIT_MS).catch(() => {
    throw new Error(seen());
  });
}

function commandOfStranger({ place }: Stage, command: string): Promise<string> {
  const text = place.name === "slack" ? `exec ${command}` : `/exec ${command}`;
  return place.say(place.stranger, place.direct(place.stranger), text);
}

async function isWaiting({ gateway, place }: Stage): Promise<boolean> {
  const operator = await gateway.person("waiting");
  const { requests } = await operator.call("pairing.list", {});
  await operator.leave();
  return requests.some((one) => one.actorId === place.stranger);
}

describe.each(PLATFORMS)("a stranger's card on %s", (_name, open) => {
  const on = stage(open);

  it("Dismiss: the card says who did, the stranger is told nothing, may ask again, and a kept code is worth nothing", async () => {
    const { place } = on;
    const card = await knock(on);
    const code = CODE.exec(card.text)?.[0] ?? "";
    await place.press(place.owner, card, "Dismiss");
    expect((await receipt(on, card)).text).toMatch(/Dismissed by .*alice/is);
    expect(await isWaiting(on)).toBe(false);
    expect(place.posted(place.stranger, place.direct(place.stranger))).toHaveLength(1);
    await place.command(place.owner, place.direct(place.owner), `/pair approve ${code}`);
    await says(on, place.owner, /already dismissed by/);

    // Dismissing is no block: the next message is a new request with a new card.
    const again = await knock(on);
    expect(again.id).not.toBe(card.id);
    expect(again.text).not.toContain(code);
  });

  it("Approve over a restart: one press lets them in, twice is once, and the operator's card says so too", async () => {
    const { place } = on;
    await on.restart();
    const card = await pendingCard(on);
    await Promise.all([place.press(place.owner, card, "Approve"), place.press(place.owner, card, "Approve")]);
    const settled = await receipt(on, card);
    expect(settled.text).toMatch(/Approved by .*alice/is);
    expect(settled.text).toContain(place.stranger);
    const letIn = () =>
      place.posted(place.stranger, place.direct(place.stranger)).filter((one) => one.text.includes("You are let in"));
    await eventually(() => letIn().length > 0, WAIT_MS);

    const operator = await on.gateway.person("main");
    await eventually(() => operator.screen().some((one) => one.kind === "text" && /Approved by/.test(one.text ?? "")));
    expect(operator.screen().filter((one) => one.kind === "text" && (one.actions?.length ?? 0) > 0)).toEqual([]);

    const mark = on.fresh("from-sam");
    await commandOfStranger(on, `echo ${mark}`);
    await on.press(await on.request(place.direct(place.owner), mark), "once");
    await on.shows(place.direct(place.stranger), [mark, /exit/i], () => true, place.stranger);
    expect(letIn()).toHaveLength(1);
  });
});

describe.each(PLATFORMS)("two owners on %s", (_name, open) => {
  const on = stage(open, { twoOwners: true });

  it("who press at once: one wins, both cards become the same receipt, and the loser is told", async () => {
    const { place } = on;
    const [first, second] = [await knock(on), await pendingCard(on, place.second)];
    await Promise.all([place.press(place.owner, first, "Approve"), place.press(place.second, second, "Dismiss")]);
    const own = (await receipt(on, first)).text;
    const others = (await receipt(on, second, place.second)).text;
    const approved = /Approved by/.test(own);
    for (const text of [own, others]) {
      expect(text).toMatch(approved ? /Approved by .*alice/is : /Dismissed by .*linh/is);
    }
    const loser = approved ? place.second : place.owner;
    await says(on, loser, approved ? /already let in by .*alice/is : /already dismissed by .*linh/is);
    if (approved) await on.shows(place.direct(place.stranger), ["You are let in"], () => true, place.stranger);
    expect(await isWaiting(on)).toBe(false);
  });
});

describe.each(PLATFORMS)("who is no owner any more on %s", (_name, open) => {
  const on = stage(open);

  it("presses in vain and is told so alone; the operator lets the person in, and the card says who did", async () => {
    const { place } = on;
    const card = await knock(on);
    const file = join(on.gateway.stateDir, "openclaw.json");
    const config = JSON5.parse(await readFile(file, "utf8"));
    const owners = { ...config, commands: { ownerAllowFrom: [`${place.name}:${place.second}`] } };
    await writeFile(file, JSON5.stringify(owners), { mode: 0o600 });
    await on.restart();

    await place.press(place.owner, card, "Approve");
    await says(on, place.owner, /Only an owner may let people in/);
    expect((await pendingCard(on)).id).toBe(card.id);
    expect(await isWaiting(on)).toBe(true);

    const operator = await on.gateway.person("elsewhere");
    const { requests } = await operator.call("pairing.list", {});
    await operator.call("pairing.approve", { code: requests[0]?.code ?? "" });
    expect((await receipt(on, card)).text).toMatch(/Approved by .*operator/is);
    await on.shows(place.direct(place.stranger), ["You are let in"], () => true, place.stranger);
  });
});

describe.each(PLATFORMS)("a stranger nobody answers on %s", (_name, open) => {
  const clock = manualClock();
  const on = stage(open, { clock });

  it("the card expires after an hour, over a restart too, and lets nobody in", async () => {
    const { place } = on;
    const card = await knock(on);
    clock.advance(CODE_TTL_MS);
    await on.restart();
    expect((await receipt(on, card)).text).toMatch(/Expired: nobody answered in time/);
    expect(await isWaiting(on)).toBe(false);
    expect(place.posted(place.stranger, place.direct(place.stranger))).toHaveLength(1);
  });
});
