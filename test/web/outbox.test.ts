import { expect, test } from "vitest";
import { Outbox, type OutgoingMessage } from "../../src/web/outbox.ts";
import { MemoryStorage } from "./memory-storage.ts";

const message = (clientId: string, queuedAtMs: number): OutgoingMessage => ({
  clientId,
  chatId: "main",
  text: `text of ${clientId}`,
  queuedAtMs,
});
const open = (storage: MemoryStorage, chatId = "main") => new Outbox(storage, storage.keys(), chatId, () => {});

test("a later page finds what an earlier one left, oldest first", () => {
  const storage = new MemoryStorage();
  const first = open(storage);
  first.add(message("b", 2));
  first.add(message("a", 1));
  expect(open(storage).messages.map(({ clientId }) => clientId)).toEqual(["a", "b"]);
});

test("two pages of one browser keep each other's messages", () => {
  const storage = new MemoryStorage();
  const [one, two] = [open(storage), open(storage)];
  one.add(message("a", 1));
  two.add(message("b", 2));
  one.remove("a");
  expect(open(storage).messages.map(({ clientId }) => clientId)).toEqual(["b"]);
});

test("chats do not see each other's messages", () => {
  const storage = new MemoryStorage();
  open(storage, "main").add(message("a", 1));
  expect(open(storage, "other").messages).toEqual([]);
  expect(open(storage, "main").messages).toHaveLength(1);
});

test.each(["not json", "null", "[]", '{"clientId":1}', '{"clientId":"a","chatId":"main","text":null,"queuedAtMs":1}'])(
  "damaged storage (%s) is cleared away and hurts nothing else",
  (damaged) => {
    const storage = new MemoryStorage();
    open(storage).add(message("a", 1));
    storage.setItem("openclaw-exec.outbox.main.broken", damaged);
    expect(open(storage).messages).toEqual([message("a", 1)]);
    expect(storage.keys()).toHaveLength(1);
  },
);

test("a full storage keeps the message for as long as the page lives", () => {
  const storage = new MemoryStorage();
  storage.full = true;
  const outbox = open(storage);
  outbox.add(message("a", 1));
  expect(outbox.messages).toEqual([message("a", 1)]);
});

test("a refused message keeps its reason over a reload, and loses it when tried again", () => {
  const storage = new MemoryStorage();
  open(storage).add(message("a", 1));
  open(storage).refuse("a", "too long");
  const reloaded = open(storage);
  expect(reloaded.messages).toEqual([{ ...message("a", 1), refused: "too long" }]);
  reloaded.retry("a");
  expect(open(storage).messages).toEqual([message("a", 1)]);
});
