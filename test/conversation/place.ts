/** One chat platform as the conversation suite uses it: people, a direct chat, a room, and what the bot has posted there. */
import type { TestGateway } from "../support/gateway.ts";
import type { BESIDES } from "./labels.ts";

export interface ShownMessage {
  readonly id: string;
  readonly chat: string;
  readonly text: string;
  readonly buttons: readonly string[];
  readonly files: readonly ShownFile[];
  /** The thread or topic it stands in. */
  readonly thread?: string;
}

export interface ShownFile {
  readonly name: string;
  readonly text: string;
}

export interface PlaceOptions {
  /** `execApprovals.target`. Default `channel`. */
  readonly target?: "dm" | "channel" | "both";
  /** `published`: the bot keeps to the rates it has by default. Default `lifted`: tests are faster than people. */
  readonly rates?: "published" | "lifted";
  /** Waits before an event that was not acknowledged comes again, where the platform does that. Default: its own. */
  readonly redeliverMs?: readonly number[];
  /** `execApprovals.approvers` is empty. Default no. */
  readonly nobodyDecides?: boolean;
  /** `second` owns the bot too. Default no. */
  readonly twoOwners?: boolean;
  /** So many more people who may write to the bot directly. Default none. */
  readonly crowd?: number;
  /** What their app tells the platform. Default English. */
  readonly speaks?: Partial<Readonly<Record<"owner" | "guest" | "second" | "stranger", string>>>;
}

export interface Place {
  readonly name: "slack" | "discord" | "telegram" | "web";
  readonly config: object;
  readonly env: Readonly<Record<string, string>>;
  /** Owns the bot and may approve. */
  readonly owner: string;
  /** A second approver, no owner. */
  readonly second: string;
  /** May talk and run commands, not approve. */
  readonly guest: string;
  /** Nobody has let them in. */
  readonly stranger: string;
  readonly crowd: readonly string[];
  /** Where owner, second and guest are together with the bot. */
  readonly room: string;
  direct(user: string): string;
  /** Told at each start of the gateway: the web chat's people connect to it. */
  attach(gateway: TestGateway): Promise<void>;
  stop(): Promise<void>;
  /**
   * A command as this platform's people give it: `/exec ls`. False when the platform told the person that the bot did
   * not answer; the person has to ask again then.
   */
  command(user: string, chat: string, text: string): Promise<boolean>;
  /** A command as plain words that address the bot. */
  say(user: string, chat: string, text: string, thread?: string): Promise<string>;
  press(user: string, message: ShownMessage, label: string): Promise<void>;
  /** What the card can do besides being decided, wherever this platform keeps it. */
  besides(user: string, message: ShownMessage, what: keyof typeof BESIDES): Promise<void>;
  /** Chooses to deny with a reason and gives the reason the way this platform asks for it. */
  denyWithReason(user: string, message: ShownMessage, reason: string): Promise<void>;
  /** A thread (Slack, Discord) or topic (Telegram) with the room's people: where to talk, and the chat it is read in. */
  openThread(user: string): Promise<{ readonly chat: string; readonly thread: string; readonly readIn: string }>;
  /** Everything the bot shows now in this chat, thread replies too, as this person sees it; or only the newest. */
  posted(user: string, chat: string, newest?: number): readonly ShownMessage[];
  /** The chat as text, alerts of a press included. */
  screen(user: string, chat: string): string;
  /** Where a browser plays this person in this chat; absent for the web chat, which is a page itself. */
  page?(user: string, chat: string): string;
  /** How often people have been shown that the bot types; absent where a platform has nothing like it. */
  typed?(): number;
  violations(): readonly string[];
  duplicateLast(): Promise<void>;
  /** The platform's own time moves on: its rate limits are fresh again. */
  passTime(ms: number): void;
  /** From now on the platform refuses what is over its published rates, bursts included. */
  enforceRates(): void;
  /** How often the platform answered that it is too much (HTTP 429). */
  refusals(): number;
  /** The platform refuses the next edit for good; the web chat takes every edit. */
  refuseEdit?(): void;
  /** How many edits it was asked for. */
  edits?(): number;
  /** The platform takes this long to answer each new message; 0 ends it. */
  slowSends(ms: number): void;
  /** The next file is there at once, but the platform answers only after so long. */
  holdUpload(ms: number): void;
}

export type OpenPlace = (options?: PlaceOptions) => Promise<Place>;
