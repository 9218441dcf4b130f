/** Recordings as the web chat replays them: by page, and with secrets masked in place. */
import type { Redactor, SecretFinder } from "../channels/text/redact.ts";
import { without } from "../channels/text/without.ts";
import type { Clock } from "../core/clock.ts";
import type { RecordingInfo, Recordings } from "../core/process/recording.ts";
import type { MethodResults, RecordingEntry, ReplayEvent } from "../protocol/frames.ts";

/** Bytes of a recording in one answer: all events that begin within so much of the file. */
export const PAGE_BYTES = 256 * 1024;
/** Bytes around a page that are looked at too, for a secret that lies across its edge. */
const CONTEXT_BYTES = 16 * 1024;
/** The longest line of a recording that is read: one chunk of output, every byte of it escaped. */
const MAX_LINE_BYTES = 1024 * 1024;
const MAX_COMMAND_CHARS = 2_000;

export interface Replays {
  list(): Promise<MethodResults["recordings.list"]>;
  read(request: { readonly runId: string; readonly offset?: number }): Promise<MethodResults["recordings.read"]>;
}

export function createReplays({
  recordings,
  redactor,
  clock,
}: {
  readonly clock: Clock;
  readonly recordings: Recordings;
  readonly redactor: Redactor & SecretFinder;
}): Replays {
  const entry = ({ runId, command, startedAtMs, bytes }: RecordingInfo): RecordingEntry => ({
    runId,
    command: redactor.redact(command.slice(0, MAX_COMMAND_CHARS)).text,
    startedAtMs,
    bytes,
  });
  return {
    async list() {
      await recordings.sweep(clock.now());
      return { recordings: (await recordings.list()).map(entry) };
    },

    async read({ runId, offset = 0 }) {
      const from = Math.max(0, offset - CONTEXT_BYTES);
      const found = await recordings.range(runId, from, offset - from + PAGE_BYTES + MAX_LINE_BYTES);
      const lines = wholeLines(found.chunk, from);
      const first = lines.findIndex((line) => line.at >= offset);
      const page = first < 0 ? [] : lines.slice(first).filter((line) => line.at < offset + PAGE_BYTES);
      const after = first < 0 ? [] : lines.slice(first + page.length);
      const edge = (after[0]?.at ?? 0) + CONTEXT_BYTES;
      const context = [...lines.slice(0, Math.max(0, first)), ...page, ...after.filter((line) => line.at < edge)];
      const wanted = new Set(page);
      const events = context.flatMap((line) => {
        const event = eventOf(line.bytes.toString("utf8"));
        return event === undefined ? [] : [{ event, wanted: wanted.has(line) }];
      });
      const masked = maskEvents(
        events.map(({ event }) => event),
        redactor,
      );
      return {
        ...entry(found),
        cols: found.cols,
        rows: found.rows,
        events: masked.filter((_, at) => events[at]?.wanted),
        ...(after[0] === undefined ? {} : { next: after[0].at }),
      };
    },
  };
}

interface Line {
  /** Its first byte, in the file. */
  readonly at: number;
  readonly bytes: Buffer;
}

/** Half a line at either end is left out: at the front it belongs to the page before, at the end it is being written. */
function wholeLines(chunk: Buffer, offset: number): readonly Line[] {
  const lines: Line[] = [];
  let start = offset === 0 ? 0 : chunk.indexOf(10) + 1;
  for (let end = chunk.indexOf(10, start); end >= 0; end = chunk.indexOf(10, start)) {
    lines.push({ at: offset + start, bytes: chunk.subarray(start, end) });
    start = end + 1;
  }
  return lines;
}

function eventOf(line: string): ReplayEvent | undefined {
  if (!line.startsWith("[")) return undefined;
  try {
    const [seconds, kind, data] = JSON.parse(line) as unknown[];
    if (typeof seconds !== "number" || (kind !== "o" && kind !== "r") || typeof data !== "string") return undefined;
    return [seconds, kind, data];
  } catch {
    return undefined;
  }
}

/** What a terminal does not show: control sequences and strings, and single controls other than line ends. */
const UNSEEN = new RegExp(
  [
    String.raw`\x1b\[[0-?]*[ -/]*[@-~]`,
    String.raw`\x1b[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)?`,
    String.raw`\x1b[ -/]*[0-~]?`,
    String.raw`[\x00-\x09\x0b\x0c\x0e-\x1f]`,
  ].join("|"),
  "g",
);

/**
 * A secret may come in pieces, and with colours in between: it is looked for in all that was shown, then masked in
 * each piece.
 */
export function maskEvents(events: readonly ReplayEvent[], secrets: SecretFinder): readonly ReplayEvent[] {
  const raw = events.map(([, kind, data]) => (kind === "o" ? data : "")).join("");
  const seen = without(raw, UNSEEN);
  const spans = secrets.find(seen.text);
  if (spans.length === 0) return events;

  let masked = "";
  let done = 0;
  for (const { start, end } of spans.flatMap((span) => seen.sources(span))) {
    masked += raw.slice(done, start) + raw.slice(start, end).replace(/[^\r\n ]/g, "•");
    done = end;
  }
  masked += raw.slice(done);
  let from = 0;
  return events.map((event) => {
    const [seconds, kind, data] = event;
    if (kind !== "o") return event;
    from += data.length;
    return [seconds, kind, masked.slice(from - data.length, from)];
  });
}
