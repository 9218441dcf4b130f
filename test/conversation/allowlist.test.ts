/** `/allowlist` on every chat: closed until the configuration opens it, asked about before it is added, taken away again. */
import { describe, expect, it } from "vitest";
import { eventually } from "../support/state.ts";
import { EVERYWHERE, PLATFORMS } from "./places/places.ts";
import { isRequest, type Stage, stage, WAIT_MS } from "./stage.ts";

function typed({ place }: Stage, text: string, user = place.owner): Promise<string> {
  return place.say(user, place.room, `@bot ${place.name === "slack" ? text.slice(1) : text}`);
}

function says({ place }: Stage, words: RegExp, user = place.owner): Promise<unknown> {
  return eventually(() => words.test(place.screen(user, place.room)), WAIT_MS).catch(() => {
    throw new Error(place.screen(user, place.room));
  });
}

async function trail({ gateway }: Stage) {
  const operator = await gateway.person("trail");
  const { entries } = await operator.call("audit.read", { limit: 200 });
  await operator.leave();
  return entries.map(({ event }) => event).filter((event) => event.type === "policy-changed");
}

describe.each(EVERYWHERE)("/allowlist on %s", (_name, open) => {
  const on = stage(open, { config: { commands: { allowlist: true } } });

  it("add asks with what exactly it will permit; then it runs without asking, and remove takes that back", async () => {
    const { place } = on;
    await typed(on, "/allowlist");
    await says(on, /No command is listed/);
    await typed(on, "/allowlist add printenv");
    const question = await on.shows(
      place.room,
      ["Add this rule to the allowlist?"],
      (one) => one.buttons.length > 0,
      place.owner,
    );
    expect(question.text).toMatch(/printenv runs without asking, with any arguments, for every agent/);
    expect(question.text).toMatch(/Covers \S*printenv when it is called by this name/);
    const first = await on.ask("printenv HOME");
    await on.press(first, "deny");

    await place.press(place.owner, question, "Add the rule");
    await says(on, /Added for every agent: printenv/);
    await place.command(place.guest, place.room, "/exec printenv OPENCLAW_SHELL");
    await on.shows(
      place.room,
      ["printenv OPENCLAW_SHELL", /\bexec\b/],
      (one) => (!isRequest(one) && /exit code 0/.test(one.text)) || place.name === "web",
    );

    await typed(on, "/allowlist remove");
    const which = await on.shows(
      place.room,
      ["Which rule should be removed?", "printenv"],
      (one) => one.buttons.length > 0,
      place.owner,
    );
    await place.press(place.owner, which, which.buttons[0] ?? "");
    await says(on, /Removed[\s\S]*printenv/);
    await on.ask("printenv PATH");
    expect(
      (await trail(on)).map((event) => ({
        source: event.source,
        changes: event.changes.length,
        old: event.changes[0]?.before,
        now: event.changes[0]?.after,
      })),
    ).toEqual([
      { source: "/allowlist", changes: 1, old: undefined, now: "printenv" },
      { source: "/allowlist", changes: 1, old: "printenv", now: undefined },
    ]);
  });

  it("refuses what covers everything, what can not be a rule, and an agent there is not, and adds nothing", async () => {
    await typed(on, "/allowlist add **");
    await says(on, /This covers every program/);
    await typed(on, '/allowlist add args="(a+)+$" git');
    await says(on, /argPattern can not be used/);
    await typed(on, "/allowlist add agent=nobody git");
    await says(on, /There is no agent nobody/);
    await typed(on, "/allowlist add sure=0123456789abcdef git");
    await on.shows(
      on.place.room,
      ["Add this rule to the allowlist?", "git runs without asking"],
      (one) => one.buttons.length > 0,
      on.place.owner,
    );
    await typed(on, "/allowlist list");
    await says(on, /No command is listed/);
  });
});

describe.each(PLATFORMS)("/allowlist on %s as it is by default", (_name, open) => {
  const on = stage(open);

  it("shows the owner the list and changes nothing, saying which setting would; nobody else gets either", async () => {
    const { place } = on;
    await typed(on, "/allowlist add git");
    await says(on, /commands\.allowlist is off/);
    await typed(on, "/allowlist");
    await says(on, /No command is listed/);
    await typed(on, "/allowlist", place.guest);
    await says(on, /You may not use \/allowlist here/, place.guest);
    expect(await trail(on)).toEqual([]);
  });
});
