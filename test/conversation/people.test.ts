/** Who is let in, and what the bot answers to people besides running commands. */
import { describe, expect, it } from "vitest";
import { eventually } from "../support/state.ts";
import { EVERYWHERE, PLATFORMS } from "./places/places.ts";
import { stage, WAIT_MS } from "./stage.ts";

const CODE = /^[ABCDEFGHJKLMNPQRSTUVWXYZ23456789]{8}$/;

describe.each(PLATFORMS)("a stranger on %s", (_name, open) => {
  const on = stage(open);
  it("gets a code, is let in by the operator, and may then run commands directly", async () => {
    const { place } = on;
    const direct = place.direct(place.stranger);
    await place.say(place.stranger, direct, "hello, who are you?");
    await on.shows(direct, [/does not know you/i, place.stranger], () => true, place.stranger);
    const person = await on.gateway.person("pairing");
    const { requests } = await person.call("pairing.list", {});
    expect(requests).toMatchObject([{ channel: place.name, actorId: place.stranger }]);
    const [{ code } = { code: "" }] = requests;
    expect(code).toMatch(CODE);
    expect(place.screen(place.stranger, direct)).toContain(code);

    // A second message is not answered again, and runs nothing.
    await place.say(place.stranger, direct, "exec echo let me in");
    // /start repeats the code that is there, in order: what was said before it has been passed over.
    await place.say(place.stranger, direct, " /start");
    const codes = () => place.posted(place.stranger, direct).filter((one) => one.text.includes(code));
    await eventually(() => codes().length === 2, WAIT_MS);
    await person.call("pairing.approve", { code: code.toLowerCase() });
    await on.shows(direct, ["You are let in"], () => true, place.stranger);
    expect(place.posted(place.stranger, direct)).toHaveLength(3);

    const mark = on.fresh("from-sam");
    await place.say(place.stranger, direct, place.name === "slack" ? `exec echo ${mark}` : `/exec echo ${mark}`);
    // No approver reads Sam's direct messages: the card goes to them, the result to Sam.
    const own = place.direct(place.owner);
    const card = await on.request(own, mark);
    await on.shows(direct, ["waits for an approver"], () => true, place.stranger);
    await on.press(card, "once");
    await on.shows(direct, [mark, /exit/i], () => true, place.stranger);
  });

  it("is in the owner's direct messages, who can look there with /pair", async () => {
    const { place } = on;
    const own = place.direct(place.owner);
    await on.shows(own, ["Approved by operator", place.stranger]);
    await place.command(place.owner, own, "/pair list");
    await on.shows(own, ["Nobody is waiting"]);
  });

  it("is not an approver by being let in", async () => {
    const { place } = on;
    await place.command(place.stranger, place.direct(place.stranger), "/whoami");
    await on.shows(place.direct(place.stranger), ["authorized", place.stranger], () => true, place.stranger);
  });
});

describe.each(EVERYWHERE)("questions on %s", (_name, open) => {
  const on = stage(open);
  const seen = (user: string) => on.place.screen(user, on.place.room);
  const answers = (user: string, ...words: readonly (string | RegExp)[]) =>
    eventually(
      () => words.every((word) => (typeof word === "string" ? seen(user).includes(word) : word.test(seen(user)))),
      WAIT_MS,
    ).catch(() => {
      throw new Error(`Not all of ${words.join(", ")} in:\n${seen(user)}`);
    });

  it("/whoami tells ids and rank", async () => {
    const { place } = on;
    await place.command(place.guest, place.room, "/whoami");
    await answers(place.guest, place.guest, place.room, place.name === "web" ? "owner" : "authorized");
  });

  it("/status tells that all is well and how this channel is", async () => {
    const { place } = on;
    await place.command(place.owner, place.room, "/status");
    await answers(place.owner, /All is well/, place.name, "connected");
  });

  it("/process is answered to its asker, with share=true to everybody", async () => {
    const { place } = on;
    const nothing = "No running or recent sessions.";
    await place.say(place.guest, place.room, "@bot /process");
    await answers(place.guest, nothing);
    const before = seen(place.owner).split(nothing).length;
    await place.say(place.guest, place.room, "@bot /process share=true");
    await eventually(() => seen(place.owner).split(nothing).length > before, WAIT_MS);
  });

  it("/exec alone tells what holds here and where each value comes from", async () => {
    const { place } = on;
    await place.command(place.guest, place.room, "/exec");
    await answers(place.guest, "How commands run in this conversation", "ask");
  });

  it("an unknown command is answered with the nearest one, and runs nothing", async () => {
    const { place } = on;
    await place.say(place.guest, place.room, "@bot /exce ls");
    await answers(place.guest, "Did you mean /exec?");
  });

  it("a message that is no command is answered with how to give one", async () => {
    const { place } = on;
    await place.say(place.guest, place.room, place.name === "web" ? "good morning" : "@bot good morning");
    await answers(place.guest, "a command starts with /exec");
  });

  it("exec-override-tighten-ignored: /exec security=deny refuses what ran before, and says what holds now", async () => {
    const { place } = on;
    const direct = place.direct(place.owner);
    const before = place.screen(place.owner, direct).length;
    const since = () => place.screen(place.owner, direct).slice(before);
    const typed = (text: string) => place.say(place.owner, direct, place.name === "slack" ? text : `/${text}`);
    await typed("exec security=full ask=off");
    await eventually(() => /security\W+full/.test(since()), WAIT_MS);
    await typed("exec security=deny");
    await eventually(() => /security\W+deny[\s\S]*exec in this session/.test(since()), WAIT_MS);
    const file = on.freshFile("denied");
    await typed(`exec touch ${file}`);
    await eventually(() => /Not run|refus|denied|deny/i.test(since().split(file).at(-1) ?? ""), WAIT_MS);
    expect(await on.workspaceFile(file)).toBeUndefined();
    await typed("exec security=allowlist ask=on-miss");
    await eventually(
      () => /security\W+allowlist[\s\S]*exec in this session/.test(since().split(file).at(-1) ?? ""),
      WAIT_MS,
    );
  });

  it("unbalanced-quote: a broken option line is refused with what is wrong", async () => {
    const { place } = on;
    await place.command(place.guest, place.room, "/exec timeout=-1 ls");
    await answers(place.guest, "timeout=-1");
  });
});
