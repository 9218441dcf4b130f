import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createReaders, type Readers } from "../../../src/core/events/readers.ts";
import type { Actor, Route } from "../../../src/core/route.ts";
import { manualClock, openTestState, type TestState } from "../../support/state.ts";

const room: Route = { channel: "discord", accountId: "default", chatType: "channel", chatId: "ops", scopeId: "acme" };
const direct: Route = { channel: "discord", accountId: "default", chatType: "dm", chatId: "dm-with-ann" };
const ann: Actor = { kind: "person", channel: "discord", accountId: "default", id: "ann", locale: "nl-BE" };
const bo: Actor = { kind: "person", channel: "discord", accountId: "default", id: "bo" };

let state: TestState;
let readers: Readers;
const open = () => createReaders({ store: state.store, configured: () => "pt-BR" });

beforeEach(async () => {
  state = await openTestState(manualClock());
  readers = open();
});
afterEach(() => state.dispose());

describe("in which language somebody is answered", () => {
  it("a private answer in the person's own, whatever the room speaks", async () => {
    await readers.heard({ actor: ann, route: room, roomLocale: "vi" });
    expect(await readers.languageOf(room, ann)).toBe("nl");
    expect(await readers.languageOf(room, bo)).toBe("pt-BR");
  });

  it("a room in its own, else the configured one: never that of whoever asked", async () => {
    await readers.heard({ actor: ann, route: room });
    expect(await readers.languageOf(room)).toBe("pt-BR");
    await readers.heard({ actor: bo, route: room, roomLocale: "vi" });
    expect(await readers.languageOf(room)).toBe("vi");
    expect(await readers.languageOf({ ...room, chatId: "another room of the server" })).toBe("vi");
    expect(await readers.languageOf({ ...room, scopeId: "another server" })).toBe("pt-BR");
  });

  it("a direct message as its person speaks, by the chat and by the person, also after a restart", async () => {
    await readers.heard({ actor: ann, route: direct });
    readers = open();
    expect(await readers.languageOf(direct)).toBe("nl");
    expect(await readers.languageOf({ ...direct, chatId: "ann" })).toBe("nl");
    expect(await readers.languageOf({ ...direct, chatId: "bo" })).toBe("pt-BR");
    expect(await readers.languageOf({ ...direct, accountId: "second" })).toBe("pt-BR");
  });

  it("a person whose event tells no language keeps the last one they told; a new one replaces it", async () => {
    await readers.heard({ actor: ann, route: direct });
    const { locale: _, ...silent } = ann;
    await readers.heard({ actor: silent, route: direct });
    expect(await readers.languageOf(room, silent)).toBe("nl");
    await readers.heard({ actor: { ...ann, locale: "en-GB" }, route: direct });
    expect(await readers.languageOf(direct)).toBe("en");
  });

  it("a language that the product does not speak changes nothing", async () => {
    await readers.heard({ actor: ann, route: direct });
    await readers.heard({ actor: { ...ann, locale: "de" }, route: direct });
    expect(await readers.languageOf(direct)).toBe("nl");
    expect(await readers.languageOf(room, { ...bo, locale: "de" })).toBe("pt-BR");
  });
});
