/** The state of the page, as signals, and what a person can do. The composition root of the browser side. */
import { computed, type ReadonlySignal, signal } from "@preact/signals";
import type { PressAction } from "../core/cards.ts";
import type { ChatEntry, CompletionItem, MethodResults, RecordingEntry } from "../protocol/frames.ts";
import { ChatSync } from "./chat-sync.ts";
import { Connection, type ConnectionState } from "./connection.ts";
import { type Conversation, EMPTY, saidTexts, waiting } from "./conversation.ts";
import { type KeyValue, Outbox, type OutgoingMessage } from "./outbox.ts";
import { type Draft, draftOf, later, newId, surroundings } from "./platform.ts";
import { RequestError } from "./request-error.ts";
import { keepToken, type Session } from "./session.ts";

/** The gateway's limit for one message (protocol/frames.ts, `chat.send`). */
export const MAX_MESSAGE = 262_144;
const CLOCK_MS = 1000;

export interface Chat {
  readonly connection: ReadonlySignal<ConnectionState>;
  readonly conversation: ReadonlySignal<Conversation>;
  readonly outgoing: ReadonlySignal<readonly OutgoingMessage[]>;
  /** False until the first page of messages is in. */
  readonly loaded: ReadonlySignal<boolean>;
  readonly trouble: ReadonlySignal<string | undefined>;
  /** The gateway's time in milliseconds, moved once a second: elapsed times agree on every device. */
  readonly now: ReadonlySignal<number>;
  readonly pending: ReadonlySignal<ReturnType<typeof waiting>>;
  /** Newest change told while the page looks on, for announcements. */
  readonly news: ReadonlySignal<ChatEntry | undefined>;
  readonly said: ReadonlySignal<readonly string[]>;
  readonly draft: Draft;
  send(text: string): void;
  resend(clientId: string): void;
  discard(clientId: string): void;
  /** Rejects with `RequestError`. */
  press(action: PressAction): Promise<void>;
  older(): Promise<void>;
  complete(text: string): Promise<readonly CompletionItem[]>;
  runLog(runId: string, offset: number | undefined, limit: number): Promise<MethodResults["run.log"]>;
  /** Newest first. Rejects with `RequestError`, as `readRecording` does. */
  recordings(): Promise<readonly RecordingEntry[]>;
  /** A page from the byte `offset`. */
  readRecording(runId: string, offset: number): Promise<MethodResults["recordings.read"]>;
  signIn(token: string): void;
  retryNow(): void;
  retryOpen(): void;
}

export interface ChatOptions {
  readonly session: Session;
  readonly storage: KeyValue;
  readonly storageKeys: readonly string[];
  readonly version: string;
  readonly locale: string;
}

export function createChat(options: ChatOptions): Chat {
  const { session, storage } = options;
  const connectionState = signal<ConnectionState>({ kind: "connecting" });
  const conversation = signal<Conversation>(EMPTY);
  const loaded = signal(false);
  const trouble = signal<string | undefined>(undefined);
  const news = signal<ChatEntry | undefined>(undefined);
  const outgoing = signal<readonly OutgoingMessage[]>([]);
  const now = signal(Date.now());
  let clockOffsetMs = 0;

  const outbox = new Outbox(storage, options.storageKeys, session.chatId, (messages) => {
    outgoing.value = messages;
  });
  outgoing.value = outbox.messages;

  const connection = new Connection({
    client: { id: session.clientId, kind: "web", version: options.version },
    token: session.token,
    locale: options.locale,
    surroundings: surroundings(),
    onState: (state) => {
      connectionState.value = state;
    },
    onReady: (welcome) => {
      void sync.ready(welcome);
    },
    onEvent: (frame) => {
      if (frame.event === "tick") clockOffsetMs = frame.payload.atMs - Date.now();
      // Told the moment it happened: as good as a tick, and often sooner.
      if (frame.event === "chat.entry") clockOffsetMs = frame.payload.entry.atMs - Date.now();
      sync.event(frame);
    },
  });

  const sync = new ChatSync({
    connection,
    chatId: session.chatId,
    outbox,
    newId,
    now: () => Date.now(),
    later,
    onConversation: (value) => {
      conversation.value = value;
    },
    onNews: (entries) => {
      news.value = entries.at(-1);
    },
    onOpened: (message) => {
      trouble.value = message;
      loaded.value ||= message === undefined;
    },
  });

  setInterval(() => {
    now.value = Date.now() + clockOffsetMs;
  }, CLOCK_MS);
  addEventListener("online", () => connection.wake());
  document.addEventListener("visibilitychange", () => {
    if (document.visibilityState === "visible") connection.wake();
  });
  // A page that comes back from the back-forward cache has a dead socket.
  addEventListener("pageshow", () => connection.wake());
  connection.start();

  return {
    connection: connectionState,
    conversation,
    outgoing,
    loaded,
    trouble,
    now,
    news,
    pending: computed(() => waiting(conversation.value)),
    said: computed(() => saidTexts(conversation.value)),
    draft: draftOf(session.chatId),
    send: (text) => sync.send(text),
    resend: (clientId) => sync.resend(clientId),
    discard: (clientId) => outbox.remove(clientId),
    press: (action) => sync.press(action),
    older: () => sync.older(),
    complete: async (text) => {
      try {
        return (await connection.request("chat.complete", { text })).items;
      } catch (error) {
        // Completion is a convenience: without an answer the person types on.
        if (error instanceof RequestError) return [];
        throw error;
      }
    },
    runLog: (runId, offset, limit) =>
      connection.request("run.log", { runId, limit, ...(offset === undefined ? {} : { offset }) }),
    recordings: async () => (await connection.request("recordings.list", {})).recordings,
    readRecording: (runId, offset) => connection.request("recordings.read", { runId, offset }),
    signIn: (token) => {
      keepToken(storage, token);
      connection.signIn(token);
    },
    retryNow: () => connection.retryNow(),
    retryOpen: () => sync.retryOpen(),
  };
}
