import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { RunCard, TextCard } from "../../src/core/cards.ts";
import type { ChatEntry } from "../../src/protocol/frames.ts";
import { ChatSync } from "../../src/web/chat-sync.ts";
import { Connection } from "../../src/web/connection.ts";
import { Outbox, type OutgoingMessage } from "../../src/web/outbox.ts";
import { MemoryStorage } from "./memory-storage.ts";
import { ScriptedGateway, surroundingsOf } from "./scripted-gateway.ts";

const WAIT = { timeout: 5000, interval: 5 };

let gateway: ScriptedGateway;
let pages: { stop(): void }[];

const text = (words: string): TextCard => ({ kind: "text", tone: "info", text: words });
const run = (state: RunCard["state"], tail: string): RunCard => ({
  kind: "run",
  state,
  runId: "r1",
  sessionId: "calm-heron",
  command: "make",
  cwd: "/src",
  host: "gateway",
  startedAtMs: 0,
  tail,
  totalChars: tail.length,
  notes: [],
  actions: [],
});

/** One browser page: everything of it but the pixels. */
function openPage(storage = new MemoryStorage()) {
  let ids = 0;
  const page = {
    storage,
    news: [] as ChatEntry[],
    troubles: [] as (string | undefined)[],
    outgoing: [] as readonly OutgoingMessage[],
    texts: () => page.sync.conversation.messages.map(({ card }) => ("text" in card ? card.text : card.kind)),
    stop: () => connection.stop(),
    connection: undefined as unknown as Connection,
    sync: undefined as unknown as ChatSync,
  };
  const outbox = new Outbox(storage, storage.keys(), "main", (messages) => {
    page.outgoing = messages;
  });
  page.outgoing = outbox.messages;
  const surroundings = surroundingsOf(() => gateway.port);
  const connection = new Connection({
    client: { id: "browser", kind: "web", version: "test" },
    token: undefined,
    locale: "en",
    surroundings,
    limits: { firstRetryMs: 10, maxRetryMs: 40, requestTimeoutMs: 150 },
    onState: () => {},
    onReady: (welcome) => void page.sync.ready(welcome),
    onEvent: (event) => page.sync.event(event),
  });
  page.connection = connection;
  page.sync = new ChatSync({
    connection,
    chatId: "main",
    outbox,
    newId: () => `page${pages.length}-${++ids}`,
    now: surroundings.now,
    later: surroundings.later,
    onConversation: () => {},
    onNews: (entries) => page.news.push(...entries),
    onOpened: (trouble) => page.troubles.push(trouble),
  });
  pages.push(page);
  connection.start();
  return page;
}

type Page = ReturnType<typeof openPage>;
const shows = (page: Page, texts: readonly string[]) => vi.waitFor(() => expect(page.texts()).toEqual(texts), WAIT);
const opened = (page: Page) =>
  vi
    .waitFor(() => expect(page.troubles.at(-1)).toBeUndefined(), WAIT)
    .then(() => vi.waitFor(() => expect(page.troubles.length).toBeGreaterThan(0), WAIT));

beforeEach(async () => {
  gateway = await ScriptedGateway.start();
  pages = [];
});
afterEach(async () => {
  for (const page of pages) page.stop();
  await gateway.stop();
});

describe("staying equal to the gateway", () => {
  test("shows what was there, and what comes", async () => {
    gateway.put(text("before"));
    const page = openPage();
    await shows(page, ["before"]);
    gateway.put(text("after"));
    await shows(page, ["before", "after"]);
    expect(page.news.map((entry) => entry.seq)).toEqual([2]);
  });

  test("a changed message keeps its place", async () => {
    gateway.put(text("first"), "a");
    gateway.put(text("second"));
    const page = openPage();
    await shows(page, ["first", "second"]);
    gateway.put(text("first, changed"), "a");
    await shows(page, ["first, changed", "second"]);
  });

  test("what was said while the connection was away is there after it came back, in order and once", async () => {
    const page = openPage();
    await opened(page);
    gateway.put(text("one"));
    await shows(page, ["one"]);
    gateway.cut();
    gateway.put(text("two"), "m2", false);
    gateway.put(text("three"), "m3", false);
    gateway.put(text("one, changed"), "m1", false);
    await shows(page, ["one, changed", "two", "three"]);
    expect(gateway.asked("chat.open").at(-1)?.params).toMatchObject({ chatId: "main", afterSeq: 1 });
  });

  test("an entry that was missed on an open connection is asked for when the next one shows the gap", async () => {
    const page = openPage();
    await opened(page);
    gateway.put(text("lost on the way"), "m1", false);
    gateway.put(text("shows the gap"));
    await shows(page, ["lost on the way", "shows the gap"]);
  });

  test("what is told while the chat is being opened is not lost", async () => {
    gateway.put(text("one"));
    gateway.script = ({ method }) => {
      if (method !== "chat.open") return undefined;
      gateway.script = () => undefined;
      const answer = { ok: { entries: [...gateway.log], seq: 1, hasOlder: false } };
      // Told before the answer is on its way.
      gateway.put(text("two"));
      return answer;
    };
    const page = openPage();
    await shows(page, ["one", "two"]);
  });

  test("an answer that does not reach up to now is asked further", async () => {
    for (let at = 1; at <= 6; at++) gateway.put(text(`t${at}`));
    const page = openPage();
    await shows(page, ["t1", "t2", "t3", "t4", "t5", "t6"]);
    gateway.cut();
    for (let at = 7; at <= 12; at++) gateway.put(text(`t${at}`), `m${at}`, false);
    gateway.script = ({ method, params }) => {
      if (method !== "chat.open") return undefined;
      const { afterSeq } = params as { afterSeq: number };
      return { ok: { entries: gateway.log.slice(afterSeq, afterSeq + 2), seq: gateway.log.length, hasOlder: true } };
    };
    await vi.waitFor(() => expect(page.texts()).toHaveLength(12), WAIT);
    expect(page.sync.conversation.seq).toBe(12);
  });

  test("a reset replaces all that the page had", async () => {
    gateway.put(text("old"));
    const page = openPage();
    await shows(page, ["old"]);
    gateway.script = ({ method }) =>
      method === "chat.open"
        ? {
            ok: {
              entries: [{ seq: 900, order: 900, messageId: "x", atMs: 0, card: text("new page") }],
              seq: 900,
              hasOlder: true,
              reset: true,
            },
          }
        : undefined;
    gateway.cut();
    await shows(page, ["new page"]);
    expect(page.sync.conversation).toMatchObject({ seq: 900, hasOlder: true });
  });

  test("another gateway under the same address brings its own conversation", async () => {
    gateway.put(text("of the first gateway"));
    gateway.put(text("of the first gateway too"));
    const page = openPage();
    await shows(page, ["of the first gateway", "of the first gateway too"]);
    gateway.gatewayId = "gateway-2";
    gateway.log.length = 0;
    gateway.put(text("of the second"), "n1", false);
    gateway.cut();
    await shows(page, ["of the second"]);
  });

  test("older messages come before the ones that are there", async () => {
    gateway.put(text("old"));
    gateway.put(text("new"));
    gateway.script = ({ method }) => {
      if (method === "chat.open") return { ok: { entries: gateway.log.slice(1), seq: 2, hasOlder: true } };
      if (method === "chat.older") return { ok: { entries: gateway.log.slice(0, 1), hasOlder: false } };
      return undefined;
    };
    const page = openPage();
    await shows(page, ["new"]);
    await Promise.all([page.sync.older(), page.sync.older()]);
    expect(page.texts()).toEqual(["old", "new"]);
    expect(page.sync.conversation.hasOlder).toBe(false);
    expect(gateway.asked("chat.older")).toHaveLength(1);
    await page.sync.older();
    expect(gateway.asked("chat.older")).toHaveLength(1);
  });

  test("live output is shown while a command runs and never undoes its end", async () => {
    const page = openPage();
    await opened(page);
    gateway.put(run("running", ""), "r");
    const live = (tail: string) =>
      gateway.tell({
        type: "event",
        event: "chat.live",
        payload: { chatId: "main", messageId: "r", card: run("running", tail) },
      });
    const tail = () => {
      const card = page.sync.conversation.messages[0]?.card;
      return card?.kind === "run" ? [card.state, card.tail] : [];
    };
    live("compiling");
    await vi.waitFor(() => expect(tail()).toEqual(["running", "compiling"]), WAIT);
    gateway.put(run("finished", "done"), "r");
    live("compiling, late");
    gateway.put(text("marks the end"));
    await vi.waitFor(() => expect(page.texts()).toContain("marks the end"), WAIT);
    expect(tail()).toEqual(["finished", "done"]);
  });

  test("a chat that can not be opened says why, and opens when tried again", async () => {
    gateway.script = ({ method }) =>
      method === "chat.open" ? { error: { code: "state-unavailable", message: "Redis is away." } } : undefined;
    const page = openPage();
    await vi.waitFor(() => expect(page.troubles).toEqual(["Redis is away."]), WAIT);
    gateway.script = () => undefined;
    gateway.put(text("there"), "m1", false);
    page.sync.retryOpen();
    await shows(page, ["there"]);
    expect(page.troubles.at(-1)).toBeUndefined();
  });
});

describe("what a person says", () => {
  test("is sent in order, each with an id of its own, and leaves the outbox", async () => {
    const page = openPage();
    await opened(page);
    page.sync.send("one");
    page.sync.send("two");
    await shows(page, ["one", "two"]);
    await vi.waitFor(() => expect(page.outgoing).toEqual([]), WAIT);
    expect(page.storage.keys()).toEqual([]);
    expect(gateway.said.size).toBe(2);
  });

  test("is kept while there is no connection and sent after it came back", async () => {
    const page = openPage();
    await opened(page);
    gateway.cut();
    await vi.waitFor(() => expect(page.connection.state.kind).not.toBe("connected"), WAIT);
    page.sync.send("written offline");
    expect(page.outgoing).toHaveLength(1);
    await shows(page, ["written offline"]);
  });

  test("is said once when the answer to sending it got lost", async () => {
    const page = openPage();
    await opened(page);
    let cut = false;
    gateway.script = (frame) => {
      if (frame.method !== "chat.send" || cut) return undefined;
      cut = true;
      const { clientId, text: words } = frame.params as { clientId: string; text: string };
      gateway.said.set(clientId, words);
      gateway.put(text(words), `said-${clientId}`, false);
      return "cut";
    };
    page.sync.send("/exec date");
    await vi.waitFor(() => expect(page.outgoing).toEqual([]), WAIT);
    await shows(page, ["/exec date"]);
    const sent = gateway.asked("chat.send").map((frame) => (frame.params as { clientId: string }).clientId);
    expect(sent).toHaveLength(2);
    expect(new Set(sent).size).toBe(1);
  });

  test("outlives the page", async () => {
    gateway.script = ({ method }) => (method === "chat.send" ? "silence" : undefined);
    const page = openPage();
    await opened(page);
    page.sync.send("before the page was closed");
    await vi.waitFor(() => expect(gateway.asked("chat.send").length).toBeGreaterThan(0), WAIT);
    page.stop();
    gateway.script = () => undefined;
    const next = openPage(page.storage);
    await shows(next, ["before the page was closed"]);
    await vi.waitFor(() => expect(next.outgoing).toEqual([]), WAIT);
  });

  test("is shown once when its echo is faster than the answer", async () => {
    const page = openPage();
    await opened(page);
    gateway.script = (frame) => {
      if (frame.method !== "chat.send") return undefined;
      const { clientId, text: words } = frame.params as { clientId: string; text: string };
      const actor = { kind: "person", channel: "web", accountId: "default", id: "operator" } as const;
      gateway.put({ kind: "said", actor, text: words }, `said-${clientId}`);
      return "silence";
    };
    page.sync.send("hello");
    await shows(page, ["hello"]);
    expect(page.outgoing).toMatchObject([{ text: "hello", echoed: true }]);
  });

  test("waits when the gateway is draining, and goes out when it is told to try again", async () => {
    const page = openPage();
    await opened(page);
    gateway.script = ({ method }) => {
      if (method !== "chat.send") return undefined;
      gateway.script = () => undefined;
      return { error: { code: "draining", message: "Stopping.", retryAfterMs: 20 } };
    };
    page.sync.send("patient");
    await shows(page, ["patient"]);
  });

  test("that the gateway refuses is kept with the reason, blocks nothing, and can be sent again", async () => {
    const page = openPage();
    await opened(page);
    gateway.script = ({ method, params }) =>
      method === "chat.send" && (params as { text: string }).text === "bad"
        ? { error: { code: "invalid-argument", message: "Not like this." } }
        : undefined;
    page.sync.send("bad");
    page.sync.send("good");
    await shows(page, ["good"]);
    expect(page.outgoing).toMatchObject([{ text: "bad", refused: "Not like this." }]);
    gateway.script = () => undefined;
    page.sync.resend(page.outgoing[0]?.clientId ?? "");
    await shows(page, ["good", "bad"]);
  });

  test("a press is refused in the gateway's words and changes nothing by itself", async () => {
    const page = openPage();
    await opened(page);
    gateway.script = ({ method }) =>
      method === "chat.press" ? { error: { code: "approval-expired", message: "It has expired." } } : undefined;
    const press = page.sync.press({ kind: "approval", approvalId: "a1", decision: "allow-once" });
    await expect(press).rejects.toMatchObject({ code: "approval-expired", message: "It has expired." });
    expect(page.texts()).toEqual([]);
  });
});
