/** A started gateway with one chat platform in front of it, for all tests of a `describe`. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, expect } from "vitest";
import type { Clock } from "../../src/core/clock.ts";
import { startTestGateway, type TestGateway } from "../support/gateway.ts";
import { eventually } from "../support/state.ts";
import { LABELS, labelAmong } from "./labels.ts";
import type { OpenPlace, Place, PlaceOptions, ShownMessage } from "./place.ts";

/** From a file that is there to what is written into it. */
const WRITTEN_MS = 2_000;
export const WAIT_MS = 12_000;
const START_MS = 60_000;

const SETTLED: readonly string[] = [...LABELS.takeBack, ...LABELS.askAgain];

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
  /** In whatever language the card is. */
  press(card: ShownMessage, button: keyof typeof LABELS, user?: string): Promise<void>;
  /** The card once it has been decided: no buttons any more but the one that takes a rule back or asks again. */
  decided(card: ShownMessage, user?: string): Promise<ShownMessage>;
  workspaceFile(name: string): Promise<string | undefined>;
  /** Resolves with the file's text once it is there and written. */
  written(name: string): Promise<string>;
  restart(): Promise<void>;
  /** Another life of the gateway, after the test has stopped the last one itself. */
  start(): Promise<void>;
}

/** What else the gateway talks to: a model's provider. */
export interface Beside {
  readonly config: object;
  readonly env: Readonly<Record<string, string>>;
  stop(): Promise<void>;
}
export type OpenBeside = () => Promise<Beside>;

export function stage(
  open: OpenPlace,
  {
    config = {},
    beside,
    clock,
    ...options
  }: PlaceOptions & { readonly config?: object; readonly beside?: OpenBeside; readonly clock?: Clock } = {},
): Stage {
  let place: Place;
  let other: Beside | undefined;
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
    other = await beside?.();
    gateway = await startTestGateway({
      env: { ...place.env, ...other?.env },
      ...(clock ? { clock } : {}),
      config: {
        tools: { exec: { mode: "ask" } },
        ...config,
        ...other?.config,
        ...place.config,
        commands: { ...section(config, "commands"), ...section(place.config, "commands") },
      },
    });
    await connected();
  }, START_MS);
  afterAll(async () => {
    await gateway?.stop();
    await place?.stop();
    await other?.stop();
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
  const request: Stage["request"] = (chat, command, user) => shows(chat, [command], isRequest, user);
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
    async press(card, button, user = place.owner) {
      await place.press(user, card, labelAmong(LABELS[button], card.buttons));
    },
    decided: (card, user) =>
      shows(
        card.chat,
        [],
        (message) => message.id === card.id && message.buttons.every((label) => SETTLED.includes(label)),
        user,
      ),
    workspaceFile,
    written: async (name) => {
      await eventually(async () => (await workspaceFile(name)) !== undefined, WAIT_MS);
      // A shell makes the file before the command writes into it; what is only touched stays empty.
      return eventually(async () => (await workspaceFile(name)) || undefined, WRITTEN_MS).catch(() => "");
    },
    async restart() {
      await gateway.restart();
      await connected();
    },
    async start() {
      await gateway.start();
      await connected();
    },
  };
}

function section(config: object, name: string): object {
  return (config as Readonly<Record<string, object | undefined>>)[name] ?? {};
}

export function isRequest(message: ShownMessage): boolean {
  return message.buttons.some((label) => LABELS.deny.includes(label));
}

export function saysAll(text: string, words: readonly Word[]): boolean {
  return words.every((word) => (typeof word === "string" ? text.includes(word) : word.test(text)));
}
