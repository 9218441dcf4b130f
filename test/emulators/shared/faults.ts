/** What goes wrong on purpose, decided before a request is worked. */
export interface Fault {
  /** How many requests it hits. Default 1. */
  readonly times?: number;
  /** HTTP status, with an empty or HTML body as proxies send it. */
  readonly status?: number;
  /** The platform's own error, in its own shape. */
  readonly error?: string;
  /** A 429 with this Retry-After, in seconds. */
  readonly retryAfterS?: number;
  /** The request is worked, but its answer never arrives: the connection is cut. */
  readonly loseReply?: boolean;
  /** The request is worked at once, but its answer comes this much later. */
  readonly holdReplyMs?: number;
  /** Only requests that bring a file. */
  readonly uploadsOnly?: boolean;
  /** The connection is cut before the request is worked. */
  readonly cut?: boolean;
}

interface Armed {
  readonly fault: Fault;
  left: number;
}

export class Faults {
  private readonly armed = new Map<string, Armed[]>();
  private readonly delays = new Map<string, number>();

  /** `method` is the platform's name of the call (`chat.postMessage`, `sendMessage`, `POST /channels/:id/messages`) or `*`. */
  fail(method: string, fault: Fault): void {
    const list = this.armed.get(method) ?? [];
    list.push({ fault, left: fault.times ?? 1 });
    this.armed.set(method, list);
  }

  /** Answers to `method` (or `*`) come this much later. 0 ends it. */
  delay(ms: number, method = "*"): void {
    if (ms > 0) this.delays.set(method, ms);
    else this.delays.delete(method);
  }

  take(method: string, isUpload = false): Fault | undefined {
    for (const name of [method, "*"]) {
      const list = this.armed.get(name);
      const first = list?.[0];
      if (list === undefined || first === undefined || (first.fault.uploadsOnly && !isUpload)) continue;
      first.left -= 1;
      if (first.left <= 0) list.shift();
      return first.fault;
    }
    return undefined;
  }

  delayFor(method: string): number {
    return this.delays.get(method) ?? this.delays.get("*") ?? 0;
  }

  reset(): void {
    this.armed.clear();
    this.delays.clear();
  }
}
