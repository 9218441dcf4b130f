/** What a person can answer to a request, and what becomes of answers that come together, late, or not at all. */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { LANGUAGES } from "../../src/core/words/languages.ts";
import { messagesFor } from "../../src/core/words/messages.ts";
import { eventually } from "../support/state.ts";
import type { ShownMessage } from "./place.ts";
import { EVERYWHERE, PLATFORMS } from "./places/places.ts";
import { isRequest, type Stage, stage, WAIT_MS } from "./stage.ts";

const EXPIRY_SEC = 4;
const TAKE_BACK = LANGUAGES.map((language) => messagesFor(language).approval.takeBack);
const hasTakeBack = (message: ShownMessage) => message.buttons.some((label) => TAKE_BACK.includes(label));

/** Rules in exec-approvals.json that a press stored. */
async function grants({ gateway }: Stage): Promise<number> {
  const text = await readFile(join(gateway.stateDir, "exec-approvals.json"), "utf8");
  return text.split('"allow-always"').length - 1;
}

describe.each(EVERYWHERE)("decisions on %s", (name, open) => {
  const on = stage(open);

  it("allow-always-scope-cwd: Allow always holds for exactly this command in this folder", async () => {
    const file = on.freshFile("always");
    const command = `touch ${file}`;
    const card = await on.ask(command);
    await on.press(card, "always");
    await on.written(file);
    await on.decided(card);

    await on.place.command(on.place.guest, on.place.room, `/exec ${command}`);
    await eventually(() => endedRuns(on, command).length >= 2, WAIT_MS);
    const asked = on.place.posted(on.place.owner, on.place.room).filter(isRequest);
    expect(asked.filter((one) => one.text.includes(command))).toEqual([]);

    await on.ask(`${command}-other`);
    const elsewhere = join(on.gateway.stateDir, "logs");
    await on.place.command(on.place.guest, on.place.room, `/exec workdir=${elsewhere} ${command}`);
    await on.shows(on.place.room, [command, elsewhere], isRequest);
  });

  it("takes an always back from its receipt: an approver presses, is told what is gone, and it asks again", async () => {
    const { place } = on;
    const file = on.freshFile("taken-back");
    const command = `touch ${file}`;
    const card = await on.ask(command);
    await on.press(card, "always");
    await on.written(file);
    const receipt = await on.shows(place.room, [file], (message) => message.id === card.id && hasTakeBack(message));
    expect(receipt.text).toContain("touch with exactly these arguments");

    const stored = await grants(on);
    // Whoever may not approve may not take back either. In the web chat everybody is the operator.
    if (place.guest !== place.owner) {
      await on.press(receipt, "takeBack", place.guest);
      await eventually(() => /approver/i.test(place.screen(place.guest, place.room)), WAIT_MS);
      expect(await grants(on)).toBe(stored);
    }

    await on.press(receipt, "takeBack", place.owner);
    const taken = await on.shows(place.room, [file], (message) => message.id === card.id && !hasTakeBack(message));
    if (place.name !== "web") expect(taken.text).toMatch(/taken back by|ingetrokken door/i);
    await eventually(() => place.screen(place.owner, place.room).includes("Taken back:"), WAIT_MS);
    expect(await grants(on)).toBe(stored - 1);

    // Once: a second try, by hand, is told that it is done.
    const slug = /\b[0-9a-f]{8}\b/.exec(receipt.text)?.[0] ?? "";
    await place.command(place.owner, place.room, `/approve ${slug} revoke`);
    await eventually(() => place.screen(place.owner, place.room).includes("already taken back"), WAIT_MS);

    await place.command(place.guest, place.room, `/exec ${command}`);
    await on.shows(place.room, [file], (message) => message.id !== card.id && isRequest(message));
  });

  it("allow-once-replay: Allow once is good for one run, the same command asks again", async () => {
    const file = on.freshFile("once");
    const card = await on.ask(`echo ran >> ${file}`);
    await on.press(card, "once");
    await on.written(file);
    await on.decided(card);
    await on.place.command(on.place.guest, on.place.room, `/exec echo ran >> ${file}`);
    const again = await on.shows(on.place.room, [file], (message) => message.id !== card.id && isRequest(message));
    await on.press(again, "deny");
    await on.decided(again);
    expect(await on.workspaceFile(file)).toBe("ran\n");
  });

  it("a denial carries the reason, and the card shows it to everybody", async () => {
    const { place } = on;
    const file = on.freshFile("reason");
    const card = await on.ask(`touch ${file}`);
    await place.denyWithReason(place.owner, card, "not on a Friday");
    const decided = await on.decided(card, place.guest);
    expect(decided.text).toMatch(/denied|geweigerd/i);
    expect(decided.text).toContain("not on a Friday");
    expect(await on.workspaceFile(file)).toBeUndefined();
  });

  it("concurrent-allow-and-deny: of two approvers who press at once one wins, the other is told which", async () => {
    const { place } = on;
    const file = on.freshFile("race");
    const card = await on.ask(`echo ran >> ${file}`);
    await Promise.all([on.press(card, "once", place.owner), on.press(card, "deny", place.second)]);
    const decided = await on.decided(card);
    const allowed = /allow|toegestaan/i.test(decided.text);
    expect(decided.text).toMatch(allowed ? /allow|toegestaan/i : /denied|geweigerd/i);
    const loser = allowed ? place.second : place.owner;
    const told = () => place.screen(loser, place.room);
    await eventually(() => new RegExp(`was (already )?${allowed ? "allowed" : "denied"}`).test(told()), WAIT_MS).catch(
      () => {
        throw new Error(told());
      },
    );
    if (allowed) expect(await on.written(file)).toBe("ran\n");
    else expect(await on.workspaceFile(file)).toBeUndefined();
  });

  it.runIf(name !== "web")(
    "a card whose edit was lost shows what was decided as soon as somebody presses it",
    async () => {
      const { place } = on;
      const file = on.freshFile("lost-edit");
      const card = await on.ask(`touch ${file}`);
      const before = place.edits?.() ?? 0;
      place.refuseEdit?.();
      const operator = await on.gateway.person("elsewhere");
      const { approvals } = await operator.call("approvals.list", {});
      const id = approvals.find((one) => one.command.includes(file))?.id ?? "";
      await operator.call("approvals.resolve", { id, decision: "deny" });
      await eventually(() => (place.edits?.() ?? 0) > before, WAIT_MS);
      // It may be taken for lost only when no other try comes.
      await eventually(async () => (await operator.call("deliveries.list", {})).total > 0 || pause(100), WAIT_MS);
      await operator.leave();
      const stale = place.posted(place.owner, place.room).find((one) => one.id === card.id);
      expect(stale?.buttons).toEqual(card.buttons);
      await on.press(card, "once");
      await eventually(() => /was already denied/.test(place.screen(place.owner, place.room)), WAIT_MS);
      expect((await on.decided(card)).text).toMatch(/denied|geweigerd/i);
      expect(await on.workspaceFile(file)).toBeUndefined();
    },
  );

  it("short-id-shown-full-id-needed: /approve takes the id the card shows, and refuses another", async () => {
    const { place } = on;
    const mark = on.fresh("by-text");
    const card = await on.ask(`echo ${mark}`);
    const slug = /\b[0-9a-f]{8}\b/.exec(card.text)?.[0] ?? "";
    await place.command(place.owner, place.room, `/approve deadbeef deny`);
    await eventually(() => place.screen(place.owner, place.room).includes('"deadbeef"'), WAIT_MS);
    await place.command(place.owner, place.room, `/approve ${slug} allow-once`);
    await on.decided(card);
    await eventually(() => endedRuns(on, mark).length === 1, WAIT_MS);
  });
});

describe.each(EVERYWHERE)("a request nobody answers on %s", (_name, open) => {
  const on = stage(open, { config: { approvals: { timeoutSec: EXPIRY_SEC } } });

  it("expires by itself: the card says so and keeps no button, and nothing runs", async () => {
    const file = on.freshFile("expired");
    const card = await on.ask(`touch ${file}`);
    expect((await on.decided(card)).text).toMatch(/expired|verlopen/i);
    expect(await on.workspaceFile(file)).toBeUndefined();
  });

  it("answers a late /approve with what became of it", async () => {
    const { place } = on;
    const file = on.freshFile("late");
    const card = await on.ask(`touch ${file}`);
    const slug = /\b[0-9a-f]{8}\b/.exec(card.text)?.[0] ?? "";
    await on.decided(card);
    await place.command(place.owner, place.room, `/approve ${slug} allow-once`);
    await eventually(() => new RegExp(`${slug}.*expired`).test(place.screen(place.owner, place.room)), WAIT_MS);
    expect(await on.workspaceFile(file)).toBeUndefined();
  });

  it("expires although the gateway was restarted meanwhile", async () => {
    const file = on.freshFile("expired-after");
    const card = await on.ask(`touch ${file}`);
    const expiresBy = performance.now() + EXPIRY_SEC * 1_000;
    await on.restart();
    expect((await on.decided(card)).text).toMatch(/expired|verlopen/i);
    expect(performance.now()).toBeLessThan(expiresBy + 5_000);
    expect(await on.workspaceFile(file)).toBeUndefined();
  });
});

describe.each(PLATFORMS)("answers from elsewhere on %s", (_name, open) => {
  const on = stage(open);

  it("card-after-auto-resolve: a card that arrives after the answer shows the answer", async () => {
    const { place } = on;
    const file = on.freshFile("answered");
    const operator = await on.gateway.person("elsewhere");
    place.slowSends(1_000);
    await place.command(place.guest, place.room, `/exec touch ${file}`);
    const pending = await eventually(async () => {
      const { approvals } = await operator.call("approvals.list", {});
      return approvals.find((one) => one.command.includes(file)) ?? pause(100);
    }, WAIT_MS);
    await operator.call("approvals.resolve", { id: pending.id, decision: "deny" });
    const card = await on.shows(place.room, [file, /denied|geweigerd/i], (message) => message.buttons.length === 0);
    place.slowSends(0);
    expect(place.posted(place.owner, place.room).filter((one) => one.text.includes(file))).toEqual([card]);
    expect(await on.workspaceFile(file)).toBeUndefined();
  });
});

describe.each(PLATFORMS)("a client that does not understand on %s", (_name, open) => {
  const on = stage(open);

  it("secondary-surface-auto-denies: its refusal is no decision, and the card shows who did decide", async () => {
    const { place } = on;
    const file = on.freshFile("understood");
    const card = await on.ask(`touch ${file}`);
    const client = await on.gateway.person("elsewhere");
    const { approvals } = await client.call("approvals.list", {});
    const id = approvals.find((one) => one.command.includes(file))?.id ?? "";
    for (const decision of ["unsupported", "error", ""]) {
      await expect(client.call("approvals.resolve", { id, decision: decision as "deny" })).rejects.toThrow();
    }
    await client.leave();
    const now = place.posted(place.owner, place.room).find((message) => message.id === card.id);
    expect(now?.buttons).toEqual(card.buttons);
    await on.press(card, "once");
    await on.written(file);
    expect((await on.decided(card)).text).toMatch(/alice/i);
  });
});

describe.each(EVERYWHERE)("a policy that is tightened on %s", (_name, open) => {
  const on = stage(open);

  it("policy-revoked-while-pending: what was asked before does not run after, though allowed; the card says why", async () => {
    const file = on.freshFile("revoked");
    const card = await on.ask(`touch ${file}`);
    const rules = JSON.stringify({ version: 1, defaults: { security: "deny" } });
    await writeFile(join(on.gateway.stateDir, "exec-approvals.json"), rules, { mode: 0o600 });
    await on.press(card, "once");
    await on.shows(card.chat, ["exec is denied by now"], (message) => message.id === card.id);
    expect((await on.decided(card)).text).not.toMatch(/exit 0/);
    expect(await on.workspaceFile(file)).toBeUndefined();
  });
});

describe.each(PLATFORMS)("cards in the approvers' direct messages on %s", (_name, open) => {
  const on = stage(open, { target: "dm" });
  const inDirect = (command: string, user: string) => on.request(on.place.direct(user), command, user);

  it("approve-dm-vs-group-origin: the card goes to each approver, the room learns that it waits and gets the result", async () => {
    const { place } = on;
    const mark = on.fresh("from-the-room");
    await place.command(place.guest, place.room, `/exec echo ${mark}`);
    const [own, other] = await Promise.all([
      inDirect(mark, place.owner),
      inDirect(mark, place.second),
      on.shows(place.room, ["waits for an approver"]),
    ]);
    expect(place.posted(place.guest, place.room).some(isRequest)).toBe(false);
    await on.press(other, "once", place.second);
    await on.shows(place.room, [mark, /exit/i]);
    // card-all-surfaces-updated: the other approver's card is a receipt too.
    await on.decided(other, place.second);
    expect((await on.decided(own, place.owner)).text).toMatch(/linh/i);
    const results = place.posted(place.second, place.direct(place.second)).filter((one) => one.id !== other.id);
    expect(results.filter((one) => one.text.includes(mark))).toEqual([]);
  });

  it("says in the room that it was denied", async () => {
    const { place } = on;
    const file = on.freshFile("no");
    await place.command(place.guest, place.room, `/exec touch ${file}`);
    const card = await inDirect(file, place.owner);
    const slug = /\b[0-9a-f]{8}\b/.exec(card.text)?.[0] ?? "";
    await on.shows(place.room, [slug, "waits for an approver"]);
    await on.press(card, "deny");
    await on.shows(place.room, [slug, /denied|geweigerd/i]);
    expect(await on.workspaceFile(file)).toBeUndefined();
  });
});

/** Between two questions: a connection may ask the gateway 200 times in 10 s. */
async function pause(ms: number): Promise<false> {
  await new Promise((resolve) => setTimeout(resolve, ms));
  return false;
}

/** Messages about a run of this command that has ended. */
function endedRuns(on: Stage, words: string) {
  return on.place
    .posted(on.place.owner, on.place.room)
    .filter(
      (message) => message.text.includes(words) && /exit code 0|exit-code 0|exitcode 0|completed/i.test(message.text),
    );
}
