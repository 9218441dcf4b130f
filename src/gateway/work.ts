/** Counts calls at work, so that a stopping server can wait for them. */
export class Work {
  #active = 0;
  #idle: (() => void)[] = [];

  get active(): number {
    return this.#active;
  }

  async run<T>(call: () => Promise<T>): Promise<T> {
    this.#active += 1;
    try {
      return await call();
    } finally {
      this.#active -= 1;
      if (this.#active === 0) for (const tell of this.#idle.splice(0)) tell();
    }
  }

  /** True when nothing is at work any more, false when `withinMs` passed before. */
  async idle(withinMs: number): Promise<boolean> {
    if (this.#active === 0) return true;
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<boolean>((resolve) => {
      timer = setTimeout(resolve, withinMs, false);
    });
    const done = new Promise<boolean>((resolve) => {
      this.#idle.push(() => resolve(true));
    });
    try {
      return await Promise.race([done, late]);
    } finally {
      clearTimeout(timer);
    }
  }
}
