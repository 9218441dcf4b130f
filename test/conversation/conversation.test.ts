/**
 * One conversation on every chat: the started gateway, the genuine client libraries, and emulators that refuse what the
 * platforms refuse; the web chat over its WebSocket. What more the web chat and Redis have to hold is in test/gateway/.
 */
import { describe, expect, it } from "vitest";
import { eventually } from "../support/state.ts";
import type { ShownMessage } from "./place.ts";
import { EVERYWHERE } from "./places/places.ts";
import { isRequest, stage, WAIT_MS } from "./stage.ts";

const ENDED = /exit|done|finished|completed/i;

describe.each(EVERYWHERE)("a conversation on %s", (name, open) => {
  const on = stage(open);

  it("asks with a card, runs after Allow once, and brings the output back to the room", async () => {
    const mark = on.fresh("hi-from");
    const card = await on.ask(`echo ${mark}`);
    expect(card.buttons.length).toBeGreaterThanOrEqual(3);
    await on.press(card, "once");
    await on.shows(card.chat, [`echo ${mark}`, ENDED], (message) => message.id !== card.id);
    expect((await on.decided(card)).text).toMatch(/allow|toegestaan/i);
  });

  it("runs nothing after Deny", async () => {
    const file = on.freshFile("denied");
    const card = await on.ask(`touch ${file}`);
    await on.press(card, "deny");
    expect((await on.decided(card)).text).toMatch(/denied|geweigerd/i);
    expect(await on.workspaceFile(file)).toBeUndefined();
  });

  // In the web chat everybody is the operator.
  it.skipIf(name === "web")(
    "agent-approves-itself: a press by somebody who is no approver changes nothing and tells them alone",
    async () => {
      const { place } = on;
      const file = on.freshFile("foreign");
      const card = await on.ask(`touch ${file}`);
      await on.press(card, "once", place.guest);
      const seen = () =>
        [place.room, place.direct(place.guest)].map((chat) => place.screen(place.guest, chat)).join("\n");
      await eventually(() => /not an approver/.test(seen()), WAIT_MS).catch(() => {
        throw new Error(seen());
      });
      expect(place.screen(place.owner, place.room)).not.toMatch(/not an approver/);
      const now = place.posted(place.owner, place.room).find((message) => message.id === card.id);
      expect(now?.buttons).toEqual(card.buttons);
      expect(await on.workspaceFile(file)).toBeUndefined();
    },
  );

  it("same-decision-twice-idempotent: a double press starts one run", async () => {
    const file = on.freshFile("double");
    const card = await on.ask(`echo ran >> ${file}`);
    await Promise.all([on.press(card, "once"), on.press(card, "once")]);
    await on.decided(card);
    expect(await on.written(file)).toBe("ran\n");
  });

  it("an event that is delivered twice runs its command once", async () => {
    const { place } = on;
    const file = on.freshFile("twice");
    await place.say(place.guest, place.room, `@bot exec echo ran >> ${file}`);
    const card = await on.request(place.room, file);
    await place.duplicateLast();
    await on.press(card, "once");
    await on.decided(card);
    expect(await on.written(file)).toBe("ran\n");
    const others = place
      .posted(place.owner, place.room)
      .filter((message) => message.text.includes(file) && message.id !== card.id);
    expect(others.length).toBeLessThanOrEqual(1);
  });

  it("shows a running command with Stop, and its end by itself", async () => {
    const mark = on.fresh("slow");
    const card = await on.ask(`sleep 30; echo ${mark}`);
    await on.press(card, "once");
    const stop = (label: string) => /stop/i.test(label);
    const running = await on.shows(card.chat, [mark], (message) => message.buttons.some(stop));
    await on.place.press(on.place.guest, running, running.buttons.find(stop) ?? "");
    await on.shows(card.chat, [mark, /stopped|killed|gestopt/i], (message) => message.id === running.id);
  });

  it("gives the child who asked and where, and nothing else", async () => {
    const file = on.freshFile("context");
    const card = await on.ask(`printenv OPENCLAW_CHANNEL_CONTEXT OPENCLAW_SHELL > ${file}`);
    await on.press(card, "once");
    await eventually(async () => (await on.workspaceFile(file))?.includes("exec"), WAIT_MS);
    const [context = "", shell] = (await on.workspaceFile(file))?.split("\n") ?? [];
    expect(JSON.parse(context)).toEqual({ sender: { id: on.place.guest }, chat: { id: on.place.room } });
    expect(shell).toBe("exec");
  });

  it("card-code-fence-breakout: nothing in a command or its output pings anybody", async () => {
    const mark = on.fresh("ping");
    await on.place.command(
      on.place.guest,
      on.place.room,
      `/exec echo '<!channel> @everyone <@${on.place.owner}> \`\`\` ${mark}'`,
    );
    const card = await on.request(on.place.room, mark);
    await on.press(card, "once");
    await on.shows(card.chat, [mark, ENDED], (message) => message.id !== card.id);
  });

  it("keeps all that waits over a restart: the cards say so, and each can still be answered", async () => {
    const [allowed, denied, open] = ["allowed", "denied", "open"].map((word) => on.freshFile(`restart-${word}`));
    const cards = [];
    for (const file of [allowed, denied, open]) cards.push(await on.ask(`echo ran >> ${file}`));
    await on.restart();
    const after = [];
    for (const card of cards) {
      after.push(await on.shows(card.chat, [/restarted/i], (message) => message.id === card.id && isRequest(message)));
    }
    const [first, second, third] = after as [ShownMessage, ShownMessage, ShownMessage];
    await on.press(first, "once");
    await on.press(second, "deny");
    expect(await on.written(allowed ?? "")).toBe("ran\n");
    await on.decided(second);
    for (const file of [denied, open]) expect(await on.workspaceFile(file ?? "")).toBeUndefined();
    await on.press(third, "deny");
    await on.decided(third);
  });
});
