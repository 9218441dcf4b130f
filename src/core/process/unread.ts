import type { OutputBuffer } from "./output-buffer.ts";

/** Unread output. It is given again at the next read unless `acknowledge` was called. */
export interface Delivery {
  readonly text: string;
  readonly droppedChars: number;
  acknowledge(): void;
}

/** Output that is handed out until its receiver says that it has arrived: a tool result can be lost on its way. */
export class Unread {
  readonly #output: OutputBuffer;
  readonly #capChars: number;
  #unacknowledged = { text: "", droppedChars: 0 };

  /** `capChars`: what is handed out at once; older text counts as dropped. */
  constructor(output: OutputBuffer, capChars: number) {
    this.#output = output;
    this.#capChars = capChars;
  }

  get any(): boolean {
    return this.#output.hasUnread || this.#unacknowledged.text !== "";
  }

  /** What was read but not acknowledged comes first. */
  read(): Delivery {
    const fresh = this.#output.drain();
    const pending = this.#unacknowledged;
    const whole = pending.text + fresh.text;
    const text = whole.slice(Math.max(0, whole.length - this.#capChars)).replace(/^[\udc00-\udfff]/, "");
    const joined = { text, droppedChars: pending.droppedChars + fresh.droppedChars + whole.length - text.length };
    this.#unacknowledged = joined;
    return {
      ...joined,
      acknowledge: () => {
        if (this.#unacknowledged === joined) this.#unacknowledged = { text: "", droppedChars: 0 };
      },
    };
  }
}
