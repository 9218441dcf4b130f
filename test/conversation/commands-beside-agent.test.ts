/**
 * A command acts on its room's conversation without being a part of it: it is answered while the agent thinks, never reaches
 * the model, and what it set stays when the agent forgets (channels.md section 3, "native slash command").
 */
import { describe, expect, it } from "vitest";
import { ModelEmulator } from "../emulators/model/model-emulator.ts";
import { eventually } from "../support/state.ts";
import { EVERYWHERE } from "./places/places.ts";
import { stage, WAIT_MS } from "./stage.ts";

/** Longer than any command here takes to answer, also on a busy machine. */
const THINKS_MS = 6_000;

describe.each(EVERYWHERE)("a command beside the agent on %s", (name, open) => {
  let model: ModelEmulator;
  const on = stage(open, {
    beside: async () => {
      model = await ModelEmulator.start();
      return {
        env: model.env,
        config: {
          models: { providers: model.providers("anthropic-messages") },
          agents: { defaults: { model: "house/small", heartbeat: { every: "0m" } } },
        },
        stop: () => model.stop(),
      };
    },
  });
  const words = (text: string) => (name === "web" ? text : `@bot ${text}`);
  const sees = (pattern: RegExp) =>
    eventually(() => pattern.test(on.place.screen(on.place.owner, on.place.room)), WAIT_MS).catch(() => {
      throw new Error(on.place.screen(on.place.owner, on.place.room));
    });

  it("is answered while a turn is running there, and the turn goes on", async () => {
    const { place } = on;
    const mark = on.fresh("thought-it-over");
    model.script({ text: mark, delayMs: THINKS_MS });
    await place.say(place.owner, place.room, words("think about it"));
    await eventually(() => model.requests.some(({ lastUser }) => lastUser.includes("think about it")), WAIT_MS);
    await place.command(place.owner, place.room, "/whoami");
    await sees(/Who you are here|owner/);
    await place.command(place.owner, place.room, "/exec echo beside");
    await on.shows(place.room, ["echo beside"], ({ buttons }) => buttons.length > 0);
    expect(place.screen(place.owner, place.room)).not.toContain(mark);
    await on.shows(place.room, [mark]);
  });

  it("never reaches the model, neither what was typed nor what was answered", async () => {
    const { place } = on;
    const mark = on.fresh("what-else");
    model.script({ text: mark });
    await place.say(place.owner, place.room, words("and now?"));
    await on.shows(place.room, [mark]);
    const told =
      model.requests
        .at(-1)
        ?.messages.map(({ text }) => text)
        .join("\n") ?? "";
    expect(told).toContain("think about it");
    expect(told).not.toMatch(/whoami|Who you are here|echo beside/);
    expect(model.violations).toEqual([]);
  });

  it("what it set stays when the agent forgets the conversation", async () => {
    const { place } = on;
    const set = name === "slack" || name === "slack over HTTP" ? "exec ask=always" : "/exec ask=always";
    await place.say(place.owner, place.room, name === "web" ? "/exec ask=always" : `@bot ${set}`);
    await sees(/Set for this conversation/);
    await place.command(place.owner, place.room, "/new");
    await sees(/forgot|forgotten|begins anew/i);
    const shown = () => (place.screen(place.owner, place.room).match(/\/exec in this session/g) ?? []).length;
    const before = shown();
    await place.command(place.owner, place.room, "/exec");
    await eventually(() => shown() > before, WAIT_MS);

    const mark = on.fresh("a-new-start");
    model.script({ text: mark });
    await place.say(place.owner, place.room, words("hello again"));
    await on.shows(place.room, [mark]);
    const told =
      model.requests
        .at(-1)
        ?.messages.map(({ text }) => text)
        .join("\n") ?? "";
    expect(told).toContain("hello again");
    expect(told).not.toContain("think about it");
  });
});
