import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate as turn } from "node:timers/promises";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Inbound } from "../../../src/channels/channel.ts";
import { WebChannel } from "../../../src/channels/web/adapter.ts";
import { LOG_MAX_ENTRIES, PAGE_MAX_CHARS } from "../../../src/channels/web/limits.ts";
import type { Card, TextCard } from "../../../src/core/cards.ts";
import { systemClock } from "../../../src/core/clock.ts";
import type { Route } from "../../../src/core/route.ts";
import { openSqliteStore } from "../../../src/core/store/sqlite-store.ts";
import type { Store } from "../../../src/core/store/store.ts";
import type { ChatEntry } from "../../../src/protocol/frames.ts";
import { ChatClient } from "./chat-client.ts";
import { slowStore } from "./slow-store.ts";

let directory: string;
let store: Store;
let taken: Inbound[];

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "web-channel-"));
  store = openSqliteStore({ file: join(directory, "state.db"), clock: systemClock });
  taken = [];
});

afterEach(async () => {
  await store.close();
  rmSync(directory, { recursive: true, force: true });
});

async function startChannel(instanceId = "a", recheckMs?: number, over: Store = store): Promise<WebChannel> {
  const channel = new WebChannel({
    store: over,
    clock: systemClock,
    instanceId,
    ...(recheckMs === undefined ? {} : { recheckMs }),
  });
  await channel.start(async (event) => {
    taken.push(event);
  });
  return channel;
}

const route = (chatId: string): Route => ({ channel: "web", accountId: "default", chatType: "dm", chatId });
const text = (words: string): TextCard => ({ kind: "text", tone: "info", text: words });
const wordsOf = (entry: ChatEntry) => (entry.card as TextCard).text;

async function sent(channel: WebChannel, chatId: string, key: string, card: Card) {
  const result = await channel.send({ key, route: route(chatId), card });
  if (result.kind !== "sent") throw new Error(`not sent: ${result.kind}`);
  return result.ref;
}

describe("messages", () => {
  test("the same key makes one message, also after a restart", async () => {
    const first = await startChannel("a");
    const ref = await sent(first, "main", "k1", text("one"));
    const second = await startChannel("b");
    expect(await sent(second, "main", "k1", text("one"))).toEqual(ref);
    const client = await ChatClient.open(second, "main");
    expect(client.shown().map(wordsOf)).toEqual(["one"]);
    expect(client.seq).toBe(1);
  });

  test("the same key with another card changes the message", async () => {
    const channel = await startChannel();
    await sent(channel, "main", "k1", text("running"));
    await sent(channel, "main", "k1", text("finished"));
    const client = await ChatClient.open(channel, "main");
    expect(client.shown().map(wordsOf)).toEqual(["finished"]);
  });

  test("an edit keeps the message's place and an edit that changes nothing makes no entry", async () => {
    const channel = await startChannel();
    const ref = await sent(channel, "main", "k1", text("one"));
    await sent(channel, "main", "k2", text("two"));
    await channel.edit(ref, { key: "k1", route: route("main"), card: text("ONE") });
    await channel.edit(ref, { key: "k1", route: route("main"), card: text("ONE") });
    const client = await ChatClient.open(channel, "main");
    expect(client.shown().map((entry) => [wordsOf(entry), entry.order, entry.seq])).toEqual([
      ["ONE", 1, 3],
      ["two", 2, 2],
    ]);
  });

  test("reconcile finds what was sent and nothing else", async () => {
    const channel = await startChannel();
    const ref = await sent(channel, "main", "k1", text("one"));
    expect(await channel.reconcile({ key: "k1", route: route("main"), card: text("one") })).toEqual(ref);
    expect(await channel.reconcile({ key: "k2", route: route("main"), card: text("two") })).toBeUndefined();
  });

  test("an edit of a message nobody remembers appears as a new one", async () => {
    const channel = await startChannel();
    const ref = { channel: "web", accountId: "default", chatId: "main", messageId: "gone" } as const;
    await channel.edit(ref, { key: "k", route: route("main"), card: text("late result") });
    const client = await ChatClient.open(channel, "main");
    expect(client.shown().map(wordsOf)).toEqual(["late result"]);
  });

  test("a chat id that could reach into other chats is refused for good", async () => {
    const channel = await startChannel();
    const result = await channel.send({ key: "k", route: route("../main"), card: text("x") });
    expect(result.kind).toBe("permanent");
  });

  test("an append whose writer died before it was indexed is found again and not doubled", async () => {
    const channel = await startChannel("dead");
    const ref = await sent(channel, "main", "k0", text("zero"));
    // What a kill between the log and the index leaves: the claim and the log entry, no place.
    const messageId = ref.messageId.replace(/^./, (char) => (char === "x" ? "y" : "x"));
    await store.append("web:main", { messageId, atMs: 1, card: text("one") });
    const next = await startChannel("next");
    const client = await ChatClient.open(next, "main");
    expect(client.shown().map(wordsOf)).toEqual(["zero", "one"]);
    await next.edit({ ...ref, messageId }, { key: "-", route: route("main"), card: text("ONE") });
    await client.until(() => client.shown().map(wordsOf).join() === "zero,ONE");
  });
});

describe("what people say", () => {
  test("is shown to every device and handed on once the store has it", async () => {
    const channel = await startChannel();
    const phone = await ChatClient.open(channel, "main");
    await channel.say({ chatId: "main", clientId: "c1", text: "/exec ls" });
    await phone.until(() => phone.shown().length === 1);
    expect(phone.shown()[0]?.card).toMatchObject({ kind: "said", text: "/exec ls", actor: { id: "operator" } });
    expect(taken).toMatchObject([
      { kind: "message", id: "main/c1", text: "/exec ls", addressed: true, route: route("main") },
    ]);
  });

  test("sent again with the same client id is shown once and keeps its dedupe id", async () => {
    const channel = await startChannel();
    await channel.say({ chatId: "main", clientId: "c1", text: "/exec ls" });
    await channel.say({ chatId: "main", clientId: "c1", text: "/exec ls" });
    const client = await ChatClient.open(channel, "main");
    expect(client.shown()).toHaveLength(1);
    expect(new Set(taken.map((event) => event.id))).toEqual(new Set(["main/c1"]));
  });

  test("keeps its order although every word is stored before the next", async () => {
    const channel = await startChannel();
    const words = Array.from({ length: 20 }, (_, index) => `word ${index}`);
    await Promise.all(words.map((word, index) => channel.say({ chatId: "main", clientId: `c${index}`, text: word })));
    expect(taken.map((event) => (event.kind === "message" ? event.text : ""))).toEqual(words);
  });

  test("may be answered in the same chat before it is taken", async () => {
    const channel = new WebChannel({ store, clock: systemClock, instanceId: "a" });
    await channel.start(async () => {
      await sent(channel, "main", "answer", text("hello"));
    });
    await channel.say({ chatId: "main", clientId: "c1", text: "hi" });
    const client = await ChatClient.open(channel, "main");
    expect(client.shown().map((entry) => entry.card.kind)).toEqual(["said", "text"]);
  });

  test("is refused with a reason while the channel is stopped", async () => {
    const channel = await startChannel();
    await channel.stop();
    await expect(channel.say({ chatId: "main", clientId: "c1", text: "hi" })).rejects.toMatchObject({
      code: "draining",
    });
  });

  test("a press carries the button's action and the operator", async () => {
    const channel = await startChannel();
    const action = { kind: "approval", approvalId: "a1", decision: "allow-once" } as const;
    await channel.press({ chatId: "main", clientId: "p1", action });
    expect(taken).toMatchObject([{ kind: "press", id: "main/p1", action, actor: { kind: "person", channel: "web" } }]);
  });
});

describe("catching up", () => {
  test("a returning client gets the newest state of what changed, nothing else", async () => {
    const channel = await startChannel();
    const ref = await sent(channel, "main", "k1", text("one"));
    await sent(channel, "main", "k2", text("two"));
    const before = await ChatClient.open(channel, "main");
    await before.close();
    for (const words of ["1a", "1b", "1c"]) {
      await channel.edit(ref, { key: "k1", route: route("main"), card: text(words) });
    }
    const { result, stop } = await channel.open({ chatId: "main", afterSeq: before.seq, limit: 200 }, nobody);
    expect(result.entries.map(wordsOf)).toEqual(["1c"]);
    expect(result).toMatchObject({ seq: 5 });
    expect(result.reset).toBeUndefined();
    await stop();
  });

  test("a client whose place is no longer kept gets the newest page and is told to start over", async () => {
    const channel = await startChannel();
    const ref = await sent(channel, "main", "k1", text("old"));
    const before = await ChatClient.open(channel, "main");
    await before.close();
    for (let index = 0; index <= LOG_MAX_ENTRIES; index += 1) {
      await channel.edit(ref, { key: "k1", route: route("main"), card: text(String(index)) });
    }
    const { result, stop } = await channel.open({ chatId: "main", afterSeq: before.seq, limit: 200 }, nobody);
    expect(result).toMatchObject({ reset: true, seq: LOG_MAX_ENTRIES + 2 });
    expect(result.entries.map(wordsOf)).toEqual([String(LOG_MAX_ENTRIES)]);
    await stop();
  });

  test("a client from another state directory starts over", async () => {
    const channel = await startChannel();
    await sent(channel, "main", "k1", text("one"));
    const { result, stop } = await channel.open({ chatId: "main", afterSeq: 99, limit: 200 }, nobody);
    expect(result).toMatchObject({ reset: true, seq: 1 });
    await stop();
  });

  test("older pages lead to the first message without gap or double", async () => {
    const channel = await startChannel();
    const refs = [];
    for (let index = 0; index < 25; index += 1) refs.push(await sent(channel, "main", `k${index}`, text(`m${index}`)));
    for (const ref of refs) {
      await channel.edit(ref, { key: "-", route: route("main"), card: text(`e${refs.indexOf(ref)}`) });
    }
    const opened = await channel.open({ chatId: "main", limit: 10 }, nobody);
    let entries = [...opened.result.entries];
    let { hasOlder } = opened.result;
    while (hasOlder) {
      const page = await channel.older({ chatId: "main", beforeOrder: entries[0]?.order ?? 1, limit: 7 });
      entries = [...page.entries, ...entries];
      hasOlder = page.hasOlder;
    }
    expect(entries.map(wordsOf)).toEqual(refs.map((_, index) => `e${index}`));
    await opened.stop();
  });

  test("a page ends at its size limit and says that there is more", async () => {
    const channel = await startChannel();
    const big = "x".repeat(PAGE_MAX_CHARS / 4);
    for (let index = 0; index < 6; index += 1) await sent(channel, "main", `k${index}`, text(`${index}${big}`));
    const { result, stop } = await channel.open({ chatId: "main", limit: 200 }, nobody);
    expect(result.entries.map((entry) => wordsOf(entry)?.[0])).toEqual(["3", "4", "5"]);
    expect(result.hasOlder).toBe(true);
    await stop();
  });

  test("a live tail reaches watchers and is not stored", async () => {
    const channel = await startChannel();
    const ref = await sent(channel, "main", "k1", text("running"));
    const client = await ChatClient.open(channel, "main");
    await channel.live(ref, text("half way"));
    await client.until(() => client.lives.length > 0);
    expect(client.lives).toMatchObject([{ messageId: ref.messageId, card: { text: "half way" } }]);
    expect(client.shown().map(wordsOf)).toEqual(["running"]);
    await client.close();
    const other = await ChatClient.open(channel, "main");
    await channel.live(ref, text("nearly"));
    await other.until(() => other.lives.length > 0);
    expect(client.lives).toHaveLength(1);
    await other.close();
  });

  test("a change whose nudge was lost still arrives", async () => {
    const channel = await startChannel("a", 20);
    const client = await ChatClient.open(channel, "main");
    await store.append("web:main", { messageId: "m", atMs: 1, card: text("unannounced") });
    await client.until(() => client.shown().map(wordsOf).join() === "unannounced");
    await client.close();
  });
});

const nobody = { entry: () => undefined, live: () => undefined };

describe("property", () => {
  type Step =
    | { readonly do: "put"; readonly key: number; readonly words: number; readonly via: 0 | 1 }
    | { readonly do: "edit"; readonly key: number; readonly words: number; readonly via: 0 | 1 }
    | { readonly do: "say"; readonly id: number; readonly via: 0 | 1 }
    | { readonly do: "connect"; readonly client: number; readonly lateBy: number; readonly via: 0 | 1 }
    | { readonly do: "drop"; readonly client: number; readonly via: 0 | 1 };

  /** Turns of the event loop a change may take to a client: the slow store takes at most sixteen a call. */
  const TURNS_TO_HEAR = 500;

  const via = fc.constantFrom(0 as const, 1 as const);
  const step: fc.Arbitrary<Step> = fc.oneof(
    { weight: 4, arbitrary: fc.record({ do: fc.constant("put" as const), key: fc.nat(3), words: fc.nat(3), via }) },
    { weight: 4, arbitrary: fc.record({ do: fc.constant("edit" as const), key: fc.nat(3), words: fc.nat(99), via }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant("say" as const), id: fc.nat(3), via }) },
    {
      weight: 3,
      arbitrary: fc.record({ do: fc.constant("connect" as const), client: fc.nat(2), lateBy: fc.nat(12), via }),
    },
    { weight: 1, arbitrary: fc.record({ do: fc.constant("drop" as const), client: fc.nat(2), via }) },
  );

  const burst = fc.array(step, { minLength: 1, maxLength: 16, size: "max" });

  test("whatever is sent, edited and reconnected at the same time, clients miss nothing and see nothing twice or out of order", async () => {
    let round = 0;
    await fc.assert(
      fc.asyncProperty(fc.nat(), fc.array(burst, { maxLength: 6 }), async (seed, bursts) => {
        round += 1;
        const chatId = `chat-${round}`;
        // Two gateways on one store; a burst is everything that happens at once.
        const channels = [
          await startChannel("a", undefined, slowStore(store, seed)),
          await startChannel("b", undefined, slowStore(store, seed + 1)),
        ] as const;
        const clients = [new ChatClient(chatId), new ChatClient(chatId), new ChatClient(chatId)];
        try {
          for (const steps of bursts) {
            await Promise.all(steps.map((step) => take(step, chatId, channels, clients)));
            const judge = await ChatClient.open(channels[0], chatId);
            const ids = judge.shown().map((entry) => entry.messageId);
            expect(new Set(ids).size).toBe(ids.length);
            for (const client of clients.filter(({ connected }) => connected)) {
              // Nobody reconnects here: what is missing now was missed.
              for (let left = TURNS_TO_HEAR; client.seq < judge.seq && left > 0; left -= 1) await turn();
              expect(client.seq).toBe(judge.seq);
              expect(client.faults).toEqual([]);
              expect(client.shown()).toEqual(judge.shown());
            }
            // Once everything is written the history alone agrees with the log.
            const { entries } = await channels[1].older({ chatId, beforeOrder: judge.seq + 1, limit: 200 });
            expect(entries).toEqual(judge.shown());
            await judge.close();
          }
        } finally {
          await Promise.all(clients.map((client) => client.close()));
          await Promise.all(channels.map((channel) => channel.stop()));
        }
      }),
      { numRuns: 300 },
    );
  });

  async function take(
    step: Step,
    chatId: string,
    channels: readonly [WebChannel, WebChannel],
    clients: readonly ChatClient[],
  ): Promise<void> {
    const channel = channels[step.via];
    switch (step.do) {
      case "put":
        // Another gateway may be writing the very same message: then deliveries come back later.
        await channel.send({ key: `k${step.key}`, route: route(chatId), card: text(`${step.words}`) });
        return;
      case "edit": {
        const outbound = { key: `k${step.key}`, route: route(chatId), card: text(`edited ${step.words}`) };
        const ref = await channel.reconcile(outbound);
        if (ref) await channel.edit(ref, outbound);
        return;
      }
      case "say":
        await channel.say({ chatId, clientId: `c${step.id}`, text: `said ${step.id}` }).catch(ifBusy);
        return;
      case "connect":
        await clients[step.client]?.connect(channel, step.lateBy);
        return;
      case "drop":
        await clients[step.client]?.close();
        return;
    }
  }

  function ifBusy(error: unknown): void {
    if ((error as { code?: string }).code !== "state-unavailable") throw error;
  }
});
