/** What every adapter is handed besides its account's own keys. */
import type { Clock } from "../core/clock.ts";
import type { Actor, Route } from "../core/route.ts";
import type { Wording } from "../core/words/phrase.ts";
import type { Redactor } from "./text/redact.ts";

/** The part of a pino logger that adapters use. Fields never hold a token: errors go through `describeError` first. */
export interface ChannelLog {
  info(fields: Readonly<Record<string, unknown>>, message: string): void;
  warn(fields: Readonly<Record<string, unknown>>, message: string): void;
  error(fields: Readonly<Record<string, unknown>>, message: string): void;
}

/**
 * How an option of a native command is written in the command's text form, which is what every channel hands on:
 * `word` as it is, `key` as `name=value`, `rest` raw at the end (after `--` when the command also has `key` options).
 */
export type OptionForm = "word" | "key" | "rest";

export interface NativeOption {
  readonly name: string;
  readonly description: Wording;
  readonly choices?: readonly string[];
  readonly required?: boolean;
  /** Default `word`. */
  readonly form?: OptionForm;
  /** Left out unless another option has one of these values: it would be read as something else. */
  readonly onlyWith?: { readonly option: string; readonly values: readonly string[] };
  /** Suggestions come from {@link Suggest}. */
  readonly autocomplete?: boolean;
}

/** A slash command as platforms register it; `commands/command.ts` definitions fit. */
export interface NativeCommand {
  readonly name: string;
  readonly summary: Wording;
  readonly options: readonly NativeOption[];
  /** The answer is for the asker alone, when known before the command has run. Default: not. */
  readonly answersPrivately?: (args: string) => boolean;
}

export interface SuggestQuery {
  readonly command: string;
  readonly option: string;
  /** What was typed so far. */
  readonly typed: string;
  readonly actor: Actor;
  readonly route: Route;
}

/** Suggestions for one option, best first; only what this actor may see. */
export type Suggest = (query: SuggestQuery) => Promise<readonly string[]>;

/** A room, thread or direct chat, with the newest message of it that needs nothing more. */
export interface HeardPlace {
  readonly placeId: string;
  /** Of a Discord server. */
  readonly scopeId?: string;
  readonly lastId: string;
}

/** Where one account was spoken to lately, kept over restarts and shared with whoever takes the account over. */
export interface HeardPlaces {
  /** Whether what this person says there may be answered: other places are not worth keeping. */
  listens(actor: Actor, route: Route): Promise<boolean>;
  /** Most recently heard first. */
  load(): Promise<readonly HeardPlace[]>;
  keep(places: readonly HeardPlace[]): Promise<void>;
}

export interface AdapterDeps {
  readonly clock: Clock;
  readonly log: ChannelLog;
  readonly redactor: Redactor;
  /** Language of what is said to nobody in particular. */
  readonly locale?: string;
  /** Registered with the platform; empty: what was registered before is taken away. */
  readonly commands: readonly NativeCommand[];
  readonly suggest?: Suggest;
  /** Absent: nothing outlives the process. */
  readonly heard?: HeardPlaces;
}

/**
 * An error for logs and status lines. Client libraries put request URLs, and with them bot tokens, into messages and
 * causes; what is not proven clean is masked (bug case error-object-leaks-token).
 */
export function describeError(error: unknown, redactor: Redactor): string {
  const parts: string[] = [];
  let current: unknown = error;
  for (let depth = 0; depth < 4 && current !== undefined && current !== null; depth++) {
    if (!(current instanceof Error)) {
      parts.push(String(current));
      break;
    }
    const code = (current as { code?: unknown }).code;
    const text = current.message === "" ? current.name : current.message;
    parts.push(typeof code === "string" && !text.includes(code) ? `${text} (${code})` : text);
    current = current.cause ?? (current as { error?: unknown }).error;
  }
  return redactor.redact(parts.join(": ")).text;
}
