import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Card, TextCard } from "../../../src/core/cards.ts";
import { createDeadLetterDesk } from "../../../src/core/events/dead-letters.ts";
import { createDeliveries, type Deliveries, type Sender } from "../../../src/core/events/deliveries.ts";
import { AskLater, type MessageRef, type Outbound, type SendResult } from "../../../src/core/outbound.ts";
import { type Route, routeKey } from "../../../src/core/route.ts";
import { approvalCard } from "../../channels/sample-cards.ts";
import { eventually, type ManualClock, manualClock, openTestState, type TestState } from "../../support/state.ts";

const route: Route = { channel: "slack", accountId: "default", chatType: "channel", chatId: "C1", threadId: "1.1" };
const elsewhere: Route = { ...route, chatId: "C2" };
const say = (text: string): TextCard => ({ kind: "text", tone: "info", text });

/** A platform with a journal and faults: what a chat service does, as far as sending goes. */
class Platform implements Sender {
  silent = false;
  get capabilities() {
    return { edit: true, minEditMs: 0, editsAreSilent: this.silent };
  }
  onReconcile = (): void => {};
  readonly messages = new Map<string, { chatId: string; texts: string[] }>();
  readonly faults: ((message: Outbound) => SendResult | "deliver-then-lose" | undefined)[] = [];
  readonly lives: Card[] = [];
  reconciles = true;

  async send(message: Outbound): Promise<SendResult> {
    const fault = this.faults.shift()?.(message);
    if (fault && fault !== "deliver-then-lose") return fault;
    const ref = this.#post(message);
    if (fault) return { kind: "unknown", why: "connection reset after the request was written" };
    return { kind: "sent", ref };
  }

  async edit(ref: MessageRef, message: Outbound): Promise<SendResult> {
    const fault = this.faults.shift()?.(message);
    if (fault && fault !== "deliver-then-lose") return fault;
    this.messages.get(ref.messageId)?.texts.push(textOf(message.card));
    return { kind: "sent", ref };
  }

  /** So many live changes there is no room for. */
  noRoom = 0;

  /** Newer messages below each of these; of others nobody can tell. */
  readonly newer = new Map<string, number | Error>();

  async below(ref: MessageRef, atMost: number): Promise<number | undefined> {
    const count = this.newer.get(ref.messageId);
    if (count instanceof Error) throw count;
    return count === undefined ? undefined : Math.min(count, atMost);
  }

  async live(_ref: MessageRef, card: Card): Promise<boolean> {
    if (this.noRoom-- > 0) return false;
    this.lives.push(card);
    return true;
  }

  async reconcile(message: Outbound): Promise<MessageRef | undefined> {
    this.onReconcile();
    return this.reconciles && this.messages.has(message.key) ? refOf(message) : undefined;
  }

  #post(message: Outbound): MessageRef {
    const again = this.messages.get(message.key);
    this.messages.set(again ? `${message.key}#again` : message.key, {
      chatId: message.route.chatId,
      texts: [textOf(message.card)],
    });
    return refOf(message);
  }

  texts(chatId = "C1"): string[][] {
    return [...this.messages.values()].filter((one) => one.chatId === chatId).map((one) => one.texts);
  }
}

const refOf = (message: Outbound): MessageRef => ({
  channel: "slack",
  accountId: "default",
  chatId: message.route.chatId,
  messageId: message.key,
});
const languageOf = async () => "en" as const;
const textOf = (card: Card) => (card.kind === "text" ? (card.text ?? "") : card.kind);

let clock: ManualClock;
let state: TestState;
let platform: Platform;
let deliveries: Deliveries;

beforeEach(async () => {
  clock = manualClock();
  state = await openTestState(clock);
  platform = new Platform();
  deliveries = createDeliveries({ ...state, clock, findSender: () => platform, prepare: (card) => card, languageOf });
  await deliveries.start();
});

afterEach(async () => {
  deliveries.stop();
  await state.dispose();
});

const quiet = () =>
  eventually(async () => {
    const counts = await state.queue.counts("delivery");
    return counts.waiting + counts.active === 0;
  });

describe("deliveries", () => {
  it("sends one message for one key, however often it is posted", async () => {
    await Promise.all(Array.from({ length: 5 }, () => deliveries.post({ key: "k", route, card: say("once") })));
    await quiet();
    await deliveries.post({ key: "k", route, card: say("once") });
    await quiet();
    expect(platform.texts()).toEqual([["once"]]);
  });

  it("keeps the order of a conversation", async () => {
    const wanted = Array.from({ length: 50 }, (_, index) => `m${index}`);
    for (const text of wanted) await deliveries.post({ key: text, route, card: say(text) });
    await quiet();
    expect(platform.texts().flat()).toEqual(wanted);
  });

  it("edits an entity's message instead of sending another, and drops an older version", async () => {
    await deliveries.upsert({ entity: "run:1", version: 1, route, card: say("running") });
    await quiet();
    await deliveries.upsert({ entity: "run:1", version: 3, route, card: say("done") });
    await quiet();
    await deliveries.upsert({ entity: "run:1", version: 2, route, card: say("late") });
    await quiet();
    expect(platform.texts()).toEqual([["running", "done"]]);
  });

  it("shows only the newest of several changes that wait for the platform", async () => {
    await deliveries.upsert({ entity: "run:1", version: 1, route, card: say("pending") });
    await quiet();
    platform.faults.push(() => ({ kind: "retry", afterMs: 300, why: "429" }));
    for (const [version, text] of [
      [2, "allowed"],
      [3, "running"],
      [4, "exit 0"],
    ] as const) {
      await deliveries.upsert({ entity: "run:1", version, route, card: say(text) });
    }
    await eventually(() => platform.texts()[0]?.includes("exit 0"));
    await quiet();
    expect(platform.texts()).toEqual([["pending", "exit 0"]]);
  });

  it("asks the platform how far a message came that was begun and then put off when the gateway died", async () => {
    platform.faults.push(() => ({ kind: "retry", afterMs: 60_000, why: "our own send rate", partial: true }));
    await deliveries.post({ key: "k", route, card: say("part") });
    await eventually(async () => (await state.queue.counts("delivery")).delayed === 1);
    const key = `k@${routeKey(route)}`;
    expect((await state.store.get<{ inDoubt?: number }>("message", key))?.value.inDoubt).toBe(1);
  });

  it("waits as long as the platform says and does not use up a try", async () => {
    for (let index = 0; index < 10; index++) {
      platform.faults.push(() => ({ kind: "retry", afterMs: 5, why: "429" }));
    }
    await deliveries.post({ key: "k", route, card: say("at last") });
    await eventually(() => platform.texts().length === 1);
    expect(platform.texts()).toEqual([["at last"]]);
  });

  it("wake-delivered-then-crash: asks the platform before sending again when the outcome is not known", async () => {
    platform.faults.push(() => "deliver-then-lose");
    await deliveries.post({ key: "k", route, card: say("exit 0") });
    await eventually(async () => (await state.queue.counts("delivery")).delayed === 1);
    clock.advance(2_000);
    await state.queue.add({ name: "nudge", data: {} });
    await eventually(async () => {
      const counts = await state.queue.counts("delivery");
      return counts.delayed + counts.waiting + counts.active === 0;
    });
    expect(platform.texts()).toEqual([["exit 0"]]);
  });

  it("wake-poison-blocks-lane: a chat that is gone goes to the dead letters at once and holds back nobody", async () => {
    platform.faults.push(() => ({ kind: "permanent", why: "channel_not_found" }));
    await deliveries.post({ key: "dead", route: elsewhere, card: say("x") });
    await deliveries.post({ key: "alive", route, card: say("y") });
    await quiet();
    expect(platform.texts()).toEqual([["y"]]);
    const dead = await state.queue.deadLetters();
    expect(dead).toHaveLength(1);
    expect(dead[0]?.error).toContain("channel_not_found");
  });

  it("masks secrets before a card is stored anywhere", async () => {
    deliveries.stop();
    const masking = createDeliveries({
      ...state,
      clock,
      findSender: () => platform,
      languageOf,
      prepare: (card) => (card.kind === "text" ? { ...card, text: "•••" } : card),
    });
    await masking.post({ key: "secret", route, card: say("xoxb-1") });
    await quiet();
    expect(platform.texts()).toEqual([["•••"]]);
  });

  describe("the end of a card that newer messages have buried", () => {
    const key = `run:1@${routeKey(route)}`;
    const end = { entity: "run:1", version: 3, route, card: say("done"), leftBehind: say("it is further down") };
    beforeEach(async () => {
      await deliveries.upsert({ entity: "run:1", version: 2, route, card: say("running") });
      await quiet();
    });

    it.each([
      ["five below: a new message, and a word where it was", 5, [["running", "it is further down"], ["done"]]],
      ["four below: an edit in place", 4, [["running", "done"]]],
      ["nobody can tell: an edit in place", undefined, [["running", "done"]]],
      ["the platform can not be asked: an edit in place", new Error("503"), [["running", "done"]]],
    ])("%s", async (_name, below, shown) => {
      if (below !== undefined) platform.newer.set(key, below);
      await deliveries.upsert(end);
      await quiet();
      expect(platform.texts()).toEqual(shown);
    });

    it("the new message is the card's from then on: what corrects it is edited into it", async () => {
      platform.newer.set(key, 9);
      await deliveries.upsert(end);
      await quiet();
      await deliveries.upsert({ ...end, version: 4, card: say("corrected") });
      await quiet();
      expect(platform.texts()).toEqual([
        ["running", "it is further down"],
        ["done", "corrected"],
      ]);
    });

    it.each([
      ["the word where it was is put off", [() => ({ kind: "retry", afterMs: 5, why: "429" })]],
      ["the new message is put off", [() => undefined, () => ({ kind: "retry", afterMs: 5, why: "429" })]],
      ["the old message is gone", [() => ({ kind: "permanent", why: "message_not_found" })]],
    ] satisfies [string, Platform["faults"]][])("comes once when %s", async (_name, faults) => {
      platform.newer.set(key, 5);
      platform.faults.push(...faults);
      await deliveries.upsert(end);
      await eventually(() => platform.texts().flat().includes("done"));
      await quiet();
      expect(
        platform
          .texts()
          .flat()
          .filter((one) => one === "done"),
      ).toHaveLength(1);
    });

    it("comes once when its sending was cut off: the platform is asked for the new message, not for the old one", async () => {
      platform.newer.set(key, 5);
      platform.faults.push(
        () => undefined,
        () => "deliver-then-lose",
      );
      await deliveries.upsert(end);
      await eventually(async () => (await state.queue.counts("delivery")).delayed === 1);
      clock.advance(2_000);
      await state.queue.add({ name: "nudge", data: {} });
      await eventually(async () => {
        const counts = await state.queue.counts("delivery");
        return counts.delayed + counts.waiting + counts.active === 0;
      });
      expect(platform.texts()).toEqual([["running", "it is further down"], ["done"]]);
    });

    it("no live change is made to it any more", async () => {
      platform.newer.set(key, 5);
      platform.silent = true;
      deliveries.live("run:1", route, () => say("nobody sees this"));
      await deliveries.upsert({ ...end, version: 3 });
      await quiet();
      expect(platform.lives).toEqual([]);
    });
  });

  describe("a card that is to be heard again", () => {
    const pending = { ...approvalCard(), reasons: [] };
    const about = { entity: "approval:1", route };
    const reminder = { ...about, version: 3, card: pending, leftBehind: say("asked again below"), bringDown: "t1" };
    beforeEach(async () => {
      await deliveries.upsert({ ...about, version: 2, card: pending });
      await quiet();
    });

    it("comes down though nothing stands below it, once for each word, and is edited there from then on", async () => {
      await deliveries.upsert(reminder);
      await deliveries.upsert({ ...reminder, version: 4 });
      await deliveries.upsert({ ...about, version: 4, card: pending });
      await quiet();
      expect(platform.texts()).toEqual([
        ["approval", "asked again below"],
        ["approval", "approval"],
      ]);
      await deliveries.upsert({ ...reminder, version: 5, bringDown: "t2" });
      await quiet();
      expect(platform.texts().map((texts) => texts.at(-1))).toEqual([
        "asked again below",
        "asked again below",
        "approval",
      ]);
    });

    it("comes down though a newer version waits already, unless that is the end of the matter", async () => {
      platform.faults.push(() => ({ kind: "retry", afterMs: 200, why: "429" }));
      await deliveries.upsert({ ...about, version: 3, card: pending });
      await deliveries.upsert({ ...reminder, version: 4 });
      await deliveries.upsert({ ...about, version: 5, card: pending });
      await eventually(() => platform.texts().length === 2);
      await quiet();
      platform.faults.push(() => ({ kind: "retry", afterMs: 200, why: "429" }));
      await deliveries.upsert({ ...about, version: 6, card: pending });
      await deliveries.upsert({ ...reminder, version: 7, bringDown: "t2" });
      await deliveries.upsert({ ...about, version: 8, card: { ...pending, state: "denied", offered: [] } });
      await eventually(async () => {
        const { waiting, active, delayed } = await state.queue.counts("delivery");
        return waiting + active + delayed === 0;
      });
      expect(platform.texts()).toHaveLength(2);
    });

    it("comes once when its sending was cut off", async () => {
      platform.faults.push(
        () => undefined,
        () => "deliver-then-lose",
      );
      await deliveries.upsert(reminder);
      await eventually(async () => (await state.queue.counts("delivery")).delayed === 1);
      clock.advance(2_000);
      await state.queue.add({ name: "nudge", data: {} });
      await eventually(async () => {
        const { waiting, active, delayed } = await state.queue.counts("delivery");
        return waiting + active + delayed === 0;
      });
      expect(platform.texts()).toEqual([["approval", "asked again below"], ["approval"]]);
    });
  });

  it("draws a card again that was seen in another state, once for a version, and makes no message of it", async () => {
    const end = { entity: "approval:1", version: 3, route, card: say("denied") };
    await deliveries.upsert({ ...end, redraw: true });
    await quiet();
    expect(platform.texts()).toEqual([]);
    await deliveries.upsert({ ...end, version: 2, card: say("pending") });
    await quiet();
    platform.faults.push(() => ({ kind: "permanent", why: "cant_update_message" }));
    await deliveries.upsert(end);
    await quiet();
    expect(platform.texts()).toEqual([["pending"]]);
    await deliveries.upsert({ ...end, version: 4, redraw: true });
    await deliveries.upsert({ ...end, version: 4, redraw: true });
    await deliveries.upsert({ ...end, version: 3, redraw: true });
    await quiet();
    expect(platform.texts()).toEqual([["pending", "denied"]]);
  });

  it("a message that was given up in doubt is asked for when it is retried, and does not come twice", async () => {
    const desk = createDeadLetterDesk({ queue: state.queue, showAgain: async () => false, onChange: () => {} });
    platform.faults.push(() => "deliver-then-lose");
    platform.onReconcile = () => {
      throw new Error("503");
    };
    await deliveries.post({ key: "k", route, card: say("exit 0") });
    await eventually(async () => {
      clock.advance(700_000);
      await state.queue.add({ name: "nudge", data: {} });
      return (await desk.list()).total === 1;
    });
    const { letters } = await desk.list();
    expect(letters).toMatchObject([{ job: "delivery", where: "slack C1 1.1", about: "exit 0", attempts: 6 }]);
    platform.onReconcile = () => {};
    await desk.retry(letters[0]?.id ?? "");
    await quiet();
    expect((await desk.list()).total).toBe(0);
    expect(platform.texts()).toEqual([["exit 0"]]);
  });

  describe("on a platform that can not be asked what it has", () => {
    /** Sends in steps, as a long text or a message with a file does, and remembers nothing by itself. */
    class Blind implements Sender {
      readonly capabilities = { edit: true, minEditMs: 0, editsAreSilent: true };
      readonly arrived: string[] = [];
      readonly faults: ("lose" | "not-connected" | "dies")[] = [];
      readonly #steps = ["one", "two", "three"];

      async send(message: Outbound): Promise<SendResult> {
        let note = message.mayRepeat ? " (may be a repeat)" : "";
        for (const [index, step] of this.#steps.entries()) {
          if (message.steps && step in message.steps.done) continue;
          const fault = this.faults.shift();
          if (fault === "not-connected")
            return { kind: "retry", afterMs: 10, why: "not connected", ...(index > 0 ? { partial: true } : {}) };
          this.arrived.push(step + note);
          note = "";
          if (fault === "lose") return { kind: "unknown", why: "the answer was lost" };
          if (fault === "dies") await new Promise(() => {});
          if (index < 2) await message.steps?.record(step, refOf(message));
        }
        return { kind: "sent", ref: refOf(message) };
      }

      async edit(ref: MessageRef): Promise<SendResult> {
        return { kind: "sent", ref };
      }
    }

    const said: string[] = [];
    const with_ = async (blind: Blind): Promise<Deliveries> => {
      const made = createDeliveries({
        ...{ ...state, clock, languageOf },
        findSender: () => blind,
        prepare: (card) => card,
        onUndelivered: async ({ why }) => void said.push(why),
      });
      await made.start();
      return made;
    };
    const passing = (check: () => Promise<boolean> | boolean) =>
      eventually(async () => {
        clock.advance(30_000);
        await state.queue.add({ name: "nudge", data: {} });
        return check();
      });

    beforeEach(async () => {
      said.length = 0;
      await state.dispose();
      state = await openTestState(clock);
    });

    it("only the step that was cut off comes again, and it alone says so", async () => {
      const blind = new Blind();
      blind.faults.push(undefined as never, "lose");
      const sending = await with_(blind);
      await sending.post({ key: "k", route, card: say("x") });
      await passing(() => blind.arrived.length === 4);
      await quiet();
      expect(blind.arrived).toEqual(["one", "two", "two (may be a repeat)", "three"]);
      expect(said).toEqual([]);
      sending.stop();
    });

    it("is not forgotten when the account is not connected yet in the next life", async () => {
      const blind = new Blind();
      blind.faults.push("lose", "not-connected", "not-connected");
      const sending = await with_(blind);
      await sending.post({ key: "k", route, card: say("x") });
      await passing(() => blind.arrived.length === 4);
      expect(blind.arrived).toEqual(["one", "one (may be a repeat)", "two", "three"]);
      sending.stop();
    });

    it("after a second lost answer it is given up and told, not sent a third time", async () => {
      const blind = new Blind();
      blind.faults.push("lose", "lose");
      const sending = await with_(blind);
      await sending.post({ key: "k", route, card: say("x") });
      await passing(async () => (await state.queue.counts("delivery")).dead === 1);
      expect(blind.arrived).toEqual(["one", "one (may be a repeat)"]);
      expect(said).toEqual(["The message may or may not have been sent: the answer was lost"]);
      sending.stop();
    });
  });

  it("what fails at its last try is told to whoever can act on it, once", async () => {
    const told: string[] = [];
    deliveries.stop();
    const fresh = await openTestState(clock);
    const telling = createDeliveries({
      ...fresh,
      clock,
      findSender: () => platform,
      prepare: (card) => card,
      languageOf,
      onUndelivered: async ({ why }) => void told.push(why),
    });
    await telling.start();
    for (let n = 0; n < 6; n++) platform.faults.push(() => ({ kind: "unknown", why: "no answer" }));
    await telling.post({ key: "k", route, card: say("lost") });
    await eventually(async () => {
      clock.advance(700_000);
      await fresh.queue.add({ name: "nudge", data: {} });
      return (await fresh.queue.counts("delivery")).dead === 1;
    });
    expect(told).toEqual(["The message may or may not have been sent: no answer"]);
    telling.stop();
    await fresh.dispose();
  });

  it("of a card that was given up in several states only the newest is retried", async () => {
    const desk = createDeadLetterDesk({ queue: state.queue, showAgain: async () => false, onChange: () => {} });
    const gone = () => ({ kind: "permanent", why: "is_archived" }) as const;
    for (const [version, text] of [
      [2, "running"],
      [3, "done"],
    ] as const) {
      platform.faults.push(gone);
      await deliveries.upsert({ entity: "run:1", version, route, card: say(text) });
      await eventually(async () => (await desk.list()).total === version - 1);
    }
    const older = (await desk.list()).letters.find((letter) => letter.about === "running");
    await desk.retry(older?.id ?? "");
    await quiet();
    expect(platform.texts()).toEqual([["done"]]);
    expect((await desk.list()).total).toBe(0);
    await expect(desk.retry(older?.id ?? "")).rejects.toMatchObject({ code: "not-found" });
    await expect(desk.drop("abc")).rejects.toMatchObject({ code: "not-found" });
  });

  it("a platform that can not be asked now is asked when it can, without a try being used up", async () => {
    platform.faults.push(() => "deliver-then-lose");
    let asked = 0;
    platform.onReconcile = () => {
      asked += 1;
      if (asked <= 10) throw new AskLater(1);
    };
    await deliveries.post({ key: "k", route, card: say("exit 0") });
    await eventually(async () => (await state.queue.counts("delivery")).delayed === 1);
    clock.advance(2_000);
    await state.queue.add({ name: "nudge", data: {} });
    await eventually(() => asked > 10);
    await quiet();
    expect(platform.texts()).toEqual([["exit 0"]]);
    expect(await state.queue.deadLetters()).toEqual([]);
  });

  it("shows live changes at most once per interval, always the newest, and none after the card was settled", async () => {
    await deliveries.upsert({ entity: "run:1", version: 1, route, card: say("running") });
    await quiet();
    let made = 0;
    for (let index = 0; index < 1_000; index++) {
      deliveries.live("run:1", route, () => {
        made++;
        return say(`tail ${index}`);
      });
    }
    await eventually(() => platform.lives.length === 1);
    expect(platform.lives.map(textOf)).toEqual(["tail 999"]);
    expect(made).toBe(1);
    platform.noRoom = 1;
    deliveries.live("run:1", route, () => say("the last line before silence"));
    await eventually(() => platform.lives.length === 2);
    expect(platform.lives.map(textOf)).toEqual(["tail 999", "the last line before silence"]);
    deliveries.live("run:1", route, () => say("stale"));
    await deliveries.upsert({ entity: "run:1", version: 2, route, card: say("done") });
    await quiet();
    expect(platform.lives).toHaveLength(2);
    expect(platform.texts()).toEqual([["running", "done"]]);
  });
});
