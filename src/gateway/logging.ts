/**
 * The gateway's log: one JSON line per event on stderr, or short lines when a person is looking. What a log must never
 * hold is masked by name here and, for text, by whoever writes it.
 */
import { styleText } from "node:util";
import { type DestinationStream, type Logger, pino } from "pino";

export interface LoggerOptions {
  readonly level: string;
  readonly destination: DestinationStream;
  /** Short coloured lines instead of JSON. */
  readonly pretty: boolean;
}

/**
 * What is logged in one turn of the event loop is written at its end, in one piece: a command logs four lines, and nobody
 * who waits for it should wait for whoever reads the log. Call `flush` before the process ends.
 */
export function atEndOfTurn(write: (text: string) => void): DestinationStream & { flush(): void } {
  let waiting = "";
  const flush = (): void => {
    const text = waiting;
    waiting = "";
    if (text !== "") write(text);
  };
  return {
    write(line) {
      if (waiting === "") setImmediate(flush);
      waiting += line;
    },
    flush,
  };
}

/** Names under which secrets travel, at the first two levels of a log object. */
const SECRET_NAMES = ["token", "authorization", "password", "secret", "apiKey", "cookie"];

export function createLogger({ level, destination, pretty }: LoggerOptions): Logger {
  return pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { err: plainError },
      redact: { paths: SECRET_NAMES.flatMap((name) => [name, `*.${name}`]), censor: "[masked]" },
    },
    pretty ? { write: (line: string) => void destination.write(prettyLine(line)) } : destination,
  );
}

/**
 * What an error says, and nothing else it carries: libraries hang the whole failed call on it (ioredis the arguments of
 * AUTH, HTTP clients the headers).
 */
function plainError(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const { name, message, stack, cause, code } = error as Error & { readonly code?: unknown };
  return {
    type: name,
    message,
    stack,
    ...(typeof code === "string" || typeof code === "number" ? { code } : {}),
    ...(cause === undefined ? {} : { cause: plainError(cause) }),
  };
}

const COLOURS = { fatal: "red", error: "red", warn: "yellow", info: "green", debug: "blue", trace: "gray" } as const;

/** `12:30:01 warn  request refused  address=127.0.0.1 reason=unauthorized` */
function prettyLine(line: string): string {
  const { time, level, msg, err, ...rest } = JSON.parse(line) as Record<string, unknown>;
  const name = String(level);
  const colour = COLOURS[name as keyof typeof COLOURS] ?? "reset";
  const paint = (format: Parameters<typeof styleText>[0], text: string) =>
    styleText(format, text, { validateStream: false });
  const fields = Object.entries(rest).map(([key, value]) => {
    const text = typeof value === "string" && /^[^\s"]+$/.test(value) ? value : JSON.stringify(value);
    return paint("gray", `${key}=${text}`);
  });
  const stack = (err as { stack?: string } | undefined)?.stack;
  const head = [paint("gray", String(time).slice(11, 19)), paint(colour, name.padEnd(5)), String(msg ?? ""), ...fields];
  return `${head.join(" ")}\n${stack ? `${stack}\n` : ""}`;
}
