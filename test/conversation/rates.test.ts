/** More than a platform takes: the bot keeps within its rates by itself, so nothing is refused, lost or out of order. */
import { describe, expect, it } from "vitest";
import { eventually } from "../support/state.ts";
import { PLATFORMS } from "./places/places.ts";
import { stage } from "./stage.ts";

const BURST_MS = 60_000;

describe.each(PLATFORMS)("a burst on %s", (_name, open) => {
  const on = stage(open, { crowd: 8, rates: "published" });

  it("tg-429-retry-after: many people at once and one in a hurry are all answered, in order, with nothing refused", async () => {
    const { place } = on;
    place.enforceRates();
    // Refused with what is wrong: an answer that names the message it answers.
    const hurried = { user: place.owner, each: 9 };
    const speakers = [...place.crowd.map((user) => ({ user, each: 3 })), hurried];
    const textOf = (who: number, n: number) => `@bot exec timeout=p${who}n${n}x ls`;
    await Promise.all(
      speakers.map(async ({ user, each }, who) => {
        for (let n = 0; n < each; n++) await place.say(user, place.direct(user), textOf(who, n));
      }),
    );
    const answersTo = (user: string) =>
      place
        .posted(user, place.direct(user))
        .flatMap((one) => [...one.text.matchAll(/timeout=(p\d+n\d+)x/g)].map((match) => match[1]));
    await eventually(() => speakers.every(({ user, each }) => answersTo(user).length >= each), BURST_MS);
    for (const [who, { user, each }] of speakers.entries()) {
      expect(answersTo(user)).toEqual(Array.from({ length: each }, (_, n) => `p${who}n${n}`));
    }
    expect(place.refusals()).toBe(0);
  });

  it("a run that talks all the time is shown live, asked for, allowed and ended within the rates", async () => {
    const { place } = on;
    const mark = on.fresh("chatty");
    const card = await on.ask(`for i in $(seq 40); do echo line $i; sleep 0.1; done; echo ${mark} done`);
    await on.press(card, "once");
    await on.shows(place.room, [mark, /line \d+/], (message) => message.id !== card.id);
    const ended = await eventually(
      () => place.posted(place.owner, place.room).find((one) => one.id !== card.id && /exit code 0/.test(one.text)),
      BURST_MS,
    );
    expect(ended.text).toContain(`${mark} done`);
    expect(place.refusals()).toBe(0);
  });
});
