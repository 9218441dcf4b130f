/** Tells when nothing was heard for a while, again after each such while. A look that takes long is not joined by another. */
export class Silence {
  readonly #ms: number;
  readonly #look: () => Promise<void>;
  #timer: NodeJS.Timeout | undefined;
  #isLooking = false;

  constructor(ms: number, look: () => Promise<void>) {
    this.#ms = ms;
    this.#look = look;
  }

  start(): void {
    this.#timer ??= setTimeout(() => void this.#silent(), this.#ms).unref();
  }

  heard(): void {
    this.#timer?.refresh();
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  async #silent(): Promise<void> {
    if (this.#isLooking) return;
    this.#isLooking = true;
    try {
      await this.#look();
    } finally {
      this.#isLooking = false;
      this.#timer?.refresh();
    }
  }
}
