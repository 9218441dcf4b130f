/** A started gateway with one chat platform in front of it, for all tests of a `describe`. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, expect } from "vitest";
import { startTestGateway, type TestGateway } from "../support/gateway.ts";
import { eventually } from "../support/state.ts";
import type { OpenPlace, Place, PlaceOptions, ShownMessage } from "./place.ts";

export const WAIT_MS = 15_000;
const START_MS = 60_000;

const BUTTON = { once: 0, always: 1, deny: 2 } as const;

export type Word = string | RegExp;

export interface Stage {
  readonly place: Place;
  readonly gateway: TestGateway;
  /** Words no other test of this stage has used. */
  fresh(words: string): string;
  /** A file name no other test of this stage has used. */
  freshFile(words: string): string;
  /** The bot's message in this chat that says all of these and fits, as soon as there is one. */
  shows(
    chat: string,
    words: readonly Word[],
    fits?: (message: ShownMessage) => boolean,
    user?: string,
  ): Promise<ShownMessage>;
  /** The pending card of this command. */
  request(chat: string, command: string, user?: string): Promise<ShownMessage>;
  /** The guest runs this in the room; resolves with its pending card there. */
  ask(command: string): Promise<ShownMessage>;
  /** Presses by position: labels are in the language of whoever asked, their order is the same everywhere. */
  press(card: ShownMessage, button: keyof typeof BUTTON, user?: string): Promise<void>;
  /** The card once it has been decided: no buttons any more. */
  decided(card: ShownMessage, user?: string): Promise<ShownMessage>;
  workspaceFile(name: string): Promise<string | undefined>;
  /** Resolves with the file's text once it is there. */
  written(name: string): Promise<string>;
  restart(): Promise<void>;
}

export function stage(
  open: OpenPlace,
  { config = {}, ...options }: PlaceOptions & { readonly config?: object } = {},
): Stage {
  let place: Place;
  let gateway: TestGateway;
  let turn = 0;

  async function connected(): Promise<void> {
    await place.attach(gateway);
    await eventually(async () => {
      const person = await gateway.person("status");
      const { channels } = await person.call("channels.status", {});
      await person.leave();
      return channels.some((channel) => channel.channel === place.name && channel.state === "connected");
    }, WAIT_MS);
  }

  beforeAll(async () => {
    place = await open(options);
    gateway = await startTestGateway({
      env: place.env,
      config: { tools: { exec: { mode: "ask" } }, ...config, ...place.config },
    });
    await connected();
  }, START_MS);
  afterAll(async () => {
    await gateway?.stop();
    await place?.stop();
  });
  afterEach(() => {
    expect(place.violations()).toEqual([]);
  });

  const shows: Stage["shows"] = (chat, words, fits = () => true, user = place.owner) =>
    eventually(
      () => place.posted(user, chat).find((message) => saysAll(message.text, words) && fits(message)),
      WAIT_MS,
    ).catch(() => {
      throw new Error(`Nothing shows ${words.join(" and ")}. The chat:\n${place.screen(user, chat)}`);
    });
  const request: Stage["request"] = (chat, command, user) =>
    shows(chat, [command], (message) => message.buttons.length >= 2, user);
  const workspaceFile = (name: string) =>
    readFile(join(gateway.stateDir, "workspace", name), "utf8").catch(() => undefined);

  return {
    get place() {
      return place;
    },
    get gateway() {
      return gateway;
    },
    fresh: (words) => `${words} ${place.name}${++turn}`,
    freshFile: (words) => `${words}-${place.name}${++turn}`,
    shows,
    request,
    async ask(command) {
      await place.command(place.guest, place.room, `/exec ${command}`);
      return request(place.room, command);
    },
    press: (card, button, user = place.owner) => place.press(user, card, card.buttons[BUTTON[button]] ?? ""),
    decided: (card, user) =>
      shows(card.chat, [], (message) => message.id === card.id && message.buttons.length === 0, user),
    workspaceFile,
    written: async (name) => {
      await eventually(async () => (await workspaceFile(name)) !== undefined, WAIT_MS);
      return (await workspaceFile(name)) ?? "";
    },
    async restart() {
      await gateway.restart();
      await connected();
    },
  };
}

export function saysAll(text: string, words: readonly Word[]): boolean {
  return words.every((word) => (typeof word === "string" ? text.includes(word) : word.test(text)));
}
