/** The configuration of a running gateway: follows the file, takes up what can change live, survives a broken edit. */
import { unwatchFile, watch, watchFile } from "node:fs";
import { basename, dirname } from "node:path";
import { buildConfig, type LoadedConfig, type LoadOptions, loadConfig, type Problem } from "./load.ts";
import { mergeLive } from "./reload-rules.ts";
import type { Config } from "./schema.ts";

export type Reload =
  /** The text is the one already loaded. */
  | { readonly kind: "unchanged" }
  /** Keys taken up at once, and keys that differ from what runs until the gateway is started again. */
  | { readonly kind: "applied"; readonly live: readonly string[]; readonly restart: readonly string[] }
  /** The running configuration stays as it is. */
  | { readonly kind: "refused"; readonly problems: readonly Problem[] };

export type ReloadListener = (reload: Reload, config: Config) => void;

/** Runs something later; the result cancels it. `setTimeout` in the product. */
export type Schedule = (work: () => void, delayMs: number) => () => void;

/** Editors write a file in several steps; wait until they are done. */
const SETTLE_MS = 250;
const POLL_MS = 2_000;

const scheduleTimer: Schedule = (work, delayMs) => {
  const timer = setTimeout(work, delayMs);
  timer.unref();
  return () => clearTimeout(timer);
};

export class ConfigHolder {
  readonly secrets: LoadedConfig["secrets"];
  private readonly options: LoadOptions;
  private readonly schedule: Schedule;
  private readonly listeners = new Set<ReloadListener>();
  private readonly file: string;
  private readonly home: string;
  private config: Config;
  /** What `config` was made of. */
  private document: unknown;
  private seenHash: string;
  private wasEmpty: boolean;
  private unwatch: (() => void) | undefined;
  private cancelPending: (() => void) | undefined;
  private tail: Promise<unknown> = Promise.resolve();

  constructor(loaded: LoadedConfig, options: LoadOptions, schedule: Schedule = scheduleTimer) {
    this.options = options;
    this.schedule = schedule;
    this.secrets = loaded.secrets;
    this.file = loaded.file.path;
    this.home = loaded.home;
    this.config = loaded.config;
    this.document = loaded.document;
    this.seenHash = loaded.file.hash;
    this.wasEmpty = isEmpty(loaded.document);
  }

  current(): Config {
    return this.config;
  }

  /** Called after every reload that found a changed file. The result unsubscribes. */
  onChange(listener: ReloadListener): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  /** Follows the file until `stop()`. Watches the directory, because a save replaces the file. */
  watch(): void {
    if (this.unwatch) return;
    const name = basename(this.file);
    try {
      const watcher = watch(dirname(this.file), { persistent: false }, (_event, changed) => {
        if (changed === null || changed === name) this.settle();
      });
      watcher.on("error", () => this.poll());
      this.unwatch = () => watcher.close();
    } catch {
      this.poll();
    }
  }

  /** For file systems without notifications, and when the system has run out of watches. */
  private poll(): void {
    this.unwatch?.();
    const look = () => this.settle();
    watchFile(this.file, { persistent: false, interval: POLL_MS }, look);
    this.unwatch = () => unwatchFile(this.file, look);
  }

  stop(): void {
    this.unwatch?.();
    this.unwatch = undefined;
    this.cancelPending?.();
    this.cancelPending = undefined;
  }

  /** Reads the file now. Reloads never overlap. */
  reload(): Promise<Reload> {
    const next = this.tail.then(() => this.readOnce());
    this.tail = next.catch(() => undefined);
    return next;
  }

  private settle(): void {
    this.cancelPending?.();
    this.cancelPending = this.schedule(() => {
      this.cancelPending = undefined;
      this.reload().catch((error: unknown) =>
        this.tell({ kind: "refused", problems: [{ path: "", message: String(error) }] }),
      );
    }, SETTLE_MS);
  }

  private async readOnce(): Promise<Reload> {
    const loaded = await loadConfig(this.options);
    if (loaded.file.hash === this.seenHash) return { kind: "unchanged" };
    this.seenHash = loaded.file.hash;
    const reload = loaded.ok ? this.take(loaded) : { kind: "refused" as const, problems: loaded.problems };
    this.tell(reload);
    return reload;
  }

  private tell(reload: Reload): void {
    for (const listener of this.listeners) listener(reload, this.config);
  }

  private take(loaded: LoadedConfig): Reload {
    // The defaults are an open policy; a file that vanished or was emptied must not open a running gateway.
    if (isEmpty(loaded.document) && !this.wasEmpty) {
      const message = loaded.file.exists
        ? "the file is empty; the running configuration stays"
        : "the file is gone; the running configuration stays";
      return { kind: "refused", problems: [{ path: "", message }] };
    }
    const { document, live, restart } = mergeLive(this.document, loaded.document);
    const built = buildConfig(document, this.home);
    if (!built.ok) return { kind: "applied", live: [], restart: [...live, ...restart] };
    this.config = built.config;
    this.document = document;
    this.wasEmpty = isEmpty(document);
    return { kind: "applied", live, restart };
  }
}

function isEmpty(document: unknown): boolean {
  return typeof document === "object" && document !== null && Object.keys(document).length === 0;
}
