/** An agent in every chat: the genuine AI SDK and client libraries, a provider and platforms of ours that refuse what the real ones refuse. */
import { describe, expect, it } from "vitest";
import { ModelEmulator, type ScriptedAnswer } from "../emulators/model/model-emulator.ts";
import { eventually } from "../support/state.ts";
import { EVERYWHERE, PLATFORMS } from "./places/places.ts";
import { openTelegram } from "./places/telegram.ts";
import { type OpenBeside, stage, WAIT_MS } from "./stage.ts";

const exec = (command: string): ScriptedAnswer => ({ calls: [{ name: "exec", args: { command } }] });

/** One model for the tests of a `describe`. */
function modelBeside(heartbeat: object = { every: "0m" }): {
  readonly beside: OpenBeside;
  readonly model: () => ModelEmulator;
} {
  let model: ModelEmulator;
  return {
    model: () => model,
    beside: async () => {
      model = await ModelEmulator.start();
      return {
        env: model.env,
        config: {
          models: { providers: model.providers("anthropic-messages") },
          agents: { defaults: { model: "house/small", heartbeat } },
        },
        stop: () => model.stop(),
      };
    },
  };
}

/** In the web chat whatever is typed is for the agent. */
const words = (name: string, text: string) => (name === "web" ? text : `@bot ${text}`);

describe.each(EVERYWHERE)("an agent on %s", (name, open) => {
  const { beside, model } = modelBeside();
  const on = stage(open, { beside });

  it("answers where it was spoken to, and shows that it is at it where the platform can", async () => {
    const { place } = on;
    const mark = on.fresh("good-morning");
    model().script({ text: `${mark} to you`, delayMs: 200 });
    await place.say(place.guest, place.room, words(name, "good morning, who are you?"));
    await on.shows(place.room, [`${mark} to you`]);
    expect(model().requests.at(-1)?.lastUser).toContain("good morning, who are you?");
    expect(place.typed?.() ?? 1).toBeGreaterThan(0);
    expect(model().violations).toEqual([]);
  });

  it("asks with a card, runs after Allow once, and is woken by the end to say what it means", async () => {
    const { place } = on;
    const mark = on.fresh("tests-are-green");
    const file = on.freshFile("agent");
    model().script(exec(`echo ran > ${file}; echo ${mark}`), { text: `${mark}: I have asked for it.` });
    await place.say(place.guest, place.room, words(name, "please run the tests"));
    await on.shows(place.room, [`${mark}: I have asked for it.`]);
    const card = await on.request(place.room, file);
    expect(await on.workspaceFile(file)).toBeUndefined();
    model().script({ text: `${mark}, says the agent.` });
    await on.press(card, "once");
    await on.shows(place.room, [`${mark}, says the agent.`]);
    expect(await on.written(file)).toBe("ran\n");
    expect(model().requests.at(-1)?.lastUser).toMatch(/Exec finished \(gateway id=/);
    expect(model().violations).toEqual([]);
  });

  it("hears nothing of a denial", async () => {
    const { place } = on;
    const file = on.freshFile("denied");
    model().script(exec(`touch ${file}`), { text: on.fresh("asked-for-it") });
    await place.say(place.guest, place.room, words(name, "touch it"));
    const card = await on.request(place.room, file);
    const asked = () => model().requests.length;
    await eventually(() => model().requests.at(-1)?.lastResults[0]?.includes("Approval required") === true, WAIT_MS);
    const before = asked();
    await on.press(card, "deny");
    await on.decided(card);
    model().script({ text: on.fresh("next-thing") });
    await place.say(place.guest, place.room, words(name, "something else"));
    await eventually(() => asked() > before, WAIT_MS);
    expect(model().requests.at(-1)?.lastUser).toContain("something else");
    expect(asked()).toBe(before + 1);
    expect(await on.workspaceFile(file)).toBeUndefined();
  });
});

describe.each(PLATFORMS)("an agent among people on %s", (_name, open) => {
  const { beside, model } = modelBeside();
  const on = stage(open, { beside });

  it("hears nobody who has not spoken to it or has not been let in", async () => {
    const { place } = on;
    await place.say(place.guest, place.room, "we talk among ourselves");
    await place.say(place.stranger, place.direct(place.stranger), "let me in, agent");
    const mark = on.fresh("heard-you");
    model().script({ text: mark });
    await place.say(place.guest, place.room, "@bot are you there?");
    await on.shows(place.room, [mark]);
    expect(model().requests).toHaveLength(1);
    expect(model().requests[0]?.body).not.toMatch(/among ourselves|let me in/);
  });

  it("wake-thread-dropped: keeps to the thread in which it was asked, card and words, although others speak elsewhere", async () => {
    const { place } = on;
    const mark = on.fresh("in-thread");
    const spot = await place.openThread(place.guest);
    model().script(exec(`sleep 1; echo ${mark}`), { text: `${mark}: asked.` });
    await place.say(place.guest, spot.chat, "@bot do it here", spot.thread);
    const said = await on.shows(spot.readIn, [`${mark}: asked.`]);
    const card = await on.request(spot.readIn, mark);
    model().think(({ lastUser }) => ({ text: lastUser.includes("Exec finished") ? `${mark}: done.` : "Elsewhere." }));
    await on.press(card, "once");
    await place.say(place.guest, place.direct(place.guest), "@bot hello");
    const done = await on.shows(spot.readIn, [`${mark}: done.`]);
    expect([said.thread, card.thread, done.thread]).toEqual([spot.thread, spot.thread, spot.thread]);
  });
});

/** A gateway of its own: a session that has just been woken is not woken again for half a minute. */
describe.each(PLATFORMS)("an agent that is woken on %s", (_name, open) => {
  const { beside, model } = modelBeside();
  const on = stage(open, { beside });

  it("approval-followup-route: what it asks for when it is woken is asked in that thread too, under its own command", async () => {
    const { place } = on;
    const [first, next] = [on.freshFile("first"), on.freshFile("next")];
    const mark = on.fresh("in-a-row");
    const spot = await place.openThread(place.guest);
    model().think(({ lastUser, lastResults }) => {
      if (lastResults.length > 0) return { text: `${mark}: asked.` };
      return lastUser.includes("Exec finished") && lastUser.includes(first)
        ? exec(`touch ${next}`)
        : exec(`touch ${first}; echo ${first}`);
    });
    await place.say(place.guest, spot.chat, "@bot do one, then the other", spot.thread);
    const one = await on.request(spot.readIn, first);
    await on.press(one, "once");
    const other = await on.request(spot.readIn, next);
    expect(other.thread).toBe(spot.thread);
    expect(other.text).not.toContain(first);
    model().think(() => ({ text: `${mark}: done.` }));
    await on.press(other, "deny");
    await on.decided(other);
  });
});

describe.each(PLATFORMS)("an agent whose request no chat can show on %s", (name, open) => {
  const { beside, model } = modelBeside();
  const elsewhere = ["slack", "discord", "telegram"].find((one) => !name.startsWith(one)) ?? "";
  const targets = [{ channel: elsewhere, to: elsewhere === "telegram" ? "7" : "user:7" }];
  const on = stage(open, { beside, config: { approvals: { exec: { enabled: true, mode: "targets", targets } } } });

  it("manual-approve-hint-with-native-card: is told so and how it is decided, and that decides it", async () => {
    const { place } = on;
    const file = on.freshFile("typed");
    const mark = on.fresh("asked-for-it");
    model().script(exec(`echo ran > ${file}`), { text: mark });
    await place.say(place.guest, place.room, "@bot please run it");
    await on.shows(place.room, [mark]);
    const [result = ""] = model().requests.at(-1)?.lastResults ?? [];
    expect(result).toContain(`No card with buttons could be shown (not available: ${elsewhere})`);
    const typed = /\/approve [0-9a-f]{8} /.exec(result)?.[0] ?? "";
    // People in the room read the same.
    await on.shows(place.room, ["could not be shown to an approver", `${typed}allow-once`]);
    await place.command(place.owner, place.room, `${typed}allow-once`);
    expect(await on.written(file)).toBe("ran\n");
  });
});

describe.each(PLATFORMS)("an agent in a chat where nobody decides on %s", (_name, open) => {
  const { beside, model } = modelBeside();
  const on = stage(open, { beside, nobodyDecides: true });

  it("is told that the operator does, and the request is decided in the web chat", async () => {
    const { place } = on;
    const file = on.freshFile("operator");
    const mark = on.fresh("asked-for-it");
    model().script(exec(`echo ran > ${file}`), { text: mark });
    await place.say(place.guest, place.room, "@bot please run it");
    await on.shows(place.room, [mark]);
    const [result = ""] = model().requests.at(-1)?.lastResults ?? [];
    expect(result).toContain("Nobody in this chat may decide it");
    expect(result).not.toContain("A card with buttons was sent");
    const typed = /\/approve [0-9a-f]{8} /.exec(result)?.[0] ?? "";
    const operator = await on.gateway.person("main");
    await operator.say(`${typed}allow-once`);
    expect(await on.written(file)).toBe("ran\n");
  });
});

describe.each(EVERYWHERE)("a heartbeat on %s", (name, open) => {
  const { beside, model } = modelBeside({ every: "2s", ackMaxChars: 5 });
  const on = stage(open, { beside });

  it("becomes a turn; its words go where a person spoke last, without the token", async () => {
    const { place } = on;
    const mark = on.fresh("disk-is-full");
    model().think(({ lastUser }) => ({
      text: lastUser.includes("Heartbeat.") ? `**HEARTBEAT_OK** ${mark}` : `${mark}: hello.`,
    }));
    await place.say(place.guest, place.room, words(name, "hello"));
    await on.shows(place.room, [`${mark}: hello.`]);
    await eventually(
      () => place.posted(place.owner, place.room).some((one) => one.text.includes(mark) && !one.text.includes("hello")),
      60_000,
    );
    expect(place.screen(place.owner, place.room)).not.toContain("HEARTBEAT_OK");
    expect(model().requests.some((one) => one.lastUser.includes("Heartbeat."))).toBe(true);
    expect(model().violations).toEqual([]);
  }, 90_000);
});

describe("words that Telegram cut in two", () => {
  const { beside, model } = modelBeside();
  const on = stage(openTelegram, { beside });

  it("are one turn: the agent begins when the rest is there", async () => {
    const { place } = on;
    const mark = on.fresh("both halves");
    model().script({ text: `${mark} are here` });
    await place.say(place.owner, place.direct(place.owner), `${"first ".repeat(682)}part`);
    await place.say(place.owner, place.direct(place.owner), "and the rest of it");
    await on.shows(place.direct(place.owner), [mark]);
    expect(model().requests).toHaveLength(1);
    const [request] = model().requests;
    expect(request?.body).toContain("first first");
    expect(request?.body).toContain("and the rest of it");
  });
});
