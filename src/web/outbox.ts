/** Messages that the gateway has not confirmed yet. They outlive a lost connection and a closed page. */

/** The part of `localStorage` that is used here. */
export interface KeyValue {
  getItem(key: string): string | null;
  setItem(key: string, value: string): void;
  removeItem(key: string): void;
}

export interface OutgoingMessage {
  /** The gateway takes a message with a known `clientId` once. */
  readonly clientId: string;
  readonly chatId: string;
  readonly text: string;
  readonly queuedAtMs: number;
  /** Why the gateway refused it; it then waits for a person. */
  readonly refused?: string;
  /** It is in the conversation already; only the gateway's word that it has been taken is missing. */
  readonly echoed?: true;
}

function isOutgoing(value: unknown): value is OutgoingMessage {
  if (typeof value !== "object" || value === null) return false;
  const { clientId, chatId, text, queuedAtMs, refused, echoed } = value as Record<string, unknown>;
  return (
    typeof clientId === "string" &&
    typeof chatId === "string" &&
    typeof text === "string" &&
    typeof queuedAtMs === "number" &&
    (refused === undefined || typeof refused === "string") &&
    (echoed === undefined || echoed === true)
  );
}

/** Every message has a key of its own, so that two tabs never overwrite each other's list. */
export class Outbox {
  private readonly storage: KeyValue;
  private readonly prefix: string;
  private readonly onChange: (messages: readonly OutgoingMessage[]) => void;
  private list: readonly OutgoingMessage[];

  /** Takes over what earlier pages of this browser left: `keys` are all keys of the storage. */
  constructor(
    storage: KeyValue,
    keys: readonly string[],
    chatId: string,
    onChange: (messages: readonly OutgoingMessage[]) => void,
  ) {
    this.storage = storage;
    this.prefix = `openclaw-exec.outbox.${chatId}.`;
    this.onChange = onChange;
    this.list = keys
      .filter((key) => key.startsWith(this.prefix))
      .flatMap((key) => this.read(key))
      .sort((a, b) => a.queuedAtMs - b.queuedAtMs);
  }

  get messages(): readonly OutgoingMessage[] {
    return this.list;
  }

  add(message: OutgoingMessage): void {
    this.keep(message);
    this.change([...this.list, message]);
  }

  /** The gateway has it, or a person threw it away. */
  remove(clientId: string): void {
    this.storage.removeItem(this.prefix + clientId);
    this.change(this.list.filter((message) => message.clientId !== clientId));
  }

  refuse(clientId: string, reason: string): void {
    this.replace(clientId, ({ echoed: _, ...message }) => ({ ...message, refused: reason }));
  }

  echoed(clientId: string): void {
    this.replace(clientId, (message) => ({ ...message, echoed: true }));
  }

  /** Puts a refused message back in line. */
  retry(clientId: string): void {
    this.replace(clientId, ({ refused: _, echoed: __, ...message }) => message);
  }

  private replace(clientId: string, edit: (message: OutgoingMessage) => OutgoingMessage): void {
    const next = this.list.map((message) => (message.clientId === clientId ? edit(message) : message));
    for (const message of next) if (message.clientId === clientId) this.keep(message);
    this.change(next);
  }

  private read(key: string): readonly OutgoingMessage[] {
    try {
      const value: unknown = JSON.parse(this.storage.getItem(key) ?? "null");
      if (isOutgoing(value)) return [value];
    } catch {
      // Not JSON: written by something else under our name; of no use to anybody.
    }
    this.storage.removeItem(key);
    return [];
  }

  private keep(message: OutgoingMessage): void {
    try {
      this.storage.setItem(this.prefix + message.clientId, JSON.stringify(message));
    } catch {
      // Storage is full or forbidden (private windows): the message lives as long as the page does.
    }
  }

  private change(list: readonly OutgoingMessage[]): void {
    this.list = list;
    this.onChange(list);
  }
}
