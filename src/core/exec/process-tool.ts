/** The `process` tool: look at background sessions, feed them, end them (exec.md section 11). Failures are results, not throws. */
import * as z from "zod";
import { ExecError } from "../errors.ts";
import { nearestOf } from "../nearest.ts";
import { cutMiddle } from "../process/command-name.ts";
import type { ProcessSessions } from "../process/registry.ts";
import type { ProcessSession } from "../process/session.ts";
import type { Delivery } from "../process/unread.ts";
import { inputActions, resizeTerminal } from "./process-input.ts";
import { exitLine, listLine, listRow, logPage } from "./process-view.ts";
import type { ToolResult } from "./results.ts";

export const PROCESS_ACTIONS = [
  "list",
  "poll",
  "log",
  "write",
  "send-keys",
  "submit",
  "paste",
  "resize",
  "kill",
  "clear",
  "remove",
] as const;
export type ProcessAction = (typeof PROCESS_ACTIONS)[number];

/** Longest wait of one poll. */
export const MAX_POLL_MS = 30_000;
/** What to wait before the next poll, after one, two, three and more polls that brought nothing. */
const RETRY_MS = [5_000, 10_000, 30_000, 60_000] as const;
/** Characters of the line shown to whoever may have to answer it. */
const PROMPT_CHARS = 160;

const optional = <T extends z.ZodType>(schema: T, about: string) =>
  schema
    .nullish()
    .transform((value) => value ?? undefined)
    .describe(about);
const whole = (what: string, about: string) =>
  optional(
    z.coerce.number({ error: `${what} must be a number` }).transform((value) => Math.max(0, Math.floor(value))),
    about,
  ).meta({ type: "number", description: about });

/** One flat schema: models send fields of other actions along, and those do no harm. */
export const processInput = z.strictObject({
  action: z.string().meta({ enum: PROCESS_ACTIONS, description: "What to do." }),
  sessionId: optional(z.string(), "Which session; for all actions but list."),
  data: optional(z.string(), "write: text for stdin."),
  eof: optional(z.boolean(), "write: end stdin afterwards."),
  keys: optional(z.array(z.string()), "send-keys: names such as Enter, Up, C-c, M-x, F5, or single characters."),
  hex: optional(z.array(z.string()), "send-keys: bytes in hex."),
  literal: optional(z.string(), "send-keys: text typed before the keys."),
  paceMs: optional(z.number().min(0).max(1000), "send-keys: milliseconds between keys."),
  text: optional(z.string(), "paste: the text."),
  bracketed: optional(z.boolean(), "paste: with paste marks; default as the program asked for."),
  offset: whole("offset", "log: first line, from 0."),
  limit: whole("limit", "log: most lines."),
  timeout: optional(
    z.coerce.number({ error: "timeout must be a number of milliseconds" }),
    `poll: wait so many milliseconds for news, at most ${MAX_POLL_MS}.`,
  ),
  cols: optional(z.coerce.number({ error: "cols must be a number" }), "resize: columns."),
  rows: optional(z.coerce.number({ error: "rows must be a number" }), "resize: rows."),
});
export type ProcessArgs = z.output<typeof processInput>;

export interface ProcessContext {
  readonly agentId: string;
  /** Default `agent:<agentId>`. */
  readonly scope?: string;
  /** Ends a waiting poll early. */
  readonly signal?: AbortSignal;
  /**
   * `manual`: the caller calls `acknowledge` once the result has arrived where it belongs (the transcript); until then
   * a poll's output is given again and its completion event stays. Default: at once.
   */
  readonly acknowledge?: "auto" | "manual";
}

export interface ProcessResult extends ToolResult {
  acknowledge(): void;
}

export interface ProcessTool {
  call(input: unknown, context: ProcessContext): Promise<ProcessResult>;
}

export function createProcessTool(options: { readonly sessions: ProcessSessions }): ProcessTool {
  const { sessions } = options;
  const emptyPolls = new WeakMap<ProcessSession, number>();

  return {
    async call(input, context) {
      const parsed = processInput.safeParse(input ?? {});
      if (!parsed.success) {
        const [issue] = parsed.error.issues;
        const where = issue?.path.length ? ` (${issue.path.join(".")})` : "";
        return failed(`These arguments are not usable: ${issue?.message ?? "unknown"}${where}.`);
      }
      const args = parsed.data;
      const action = args.action.trim().toLowerCase();
      if (!isAction(action)) {
        const near = nearestOf(action, PROCESS_ACTIONS);
        return failed(
          `Unknown action "${args.action.slice(0, 64)}".${near === undefined ? "" : ` Did you mean "${near}"?`} Known: ${PROCESS_ACTIONS.join(", ")}.`,
        );
      }
      const scope = context.scope ?? `agent:${context.agentId}`;
      try {
        const result = await perform(action, args, scope, context);
        if (context.acknowledge !== "manual") result.acknowledge();
        return result;
      } catch (error) {
        if (error instanceof ExecError) return failed(error.message);
        throw error;
      }
    },
  };

  async function perform(
    action: ProcessAction,
    args: ProcessArgs,
    scope: string,
    context: ProcessContext,
  ): Promise<ProcessResult> {
    if (action === "list") return list(scope);
    const id = args.sessionId?.trim() ?? "";
    if (id === "") return failed(`sessionId is required for ${action}. "list" shows the sessions.`);
    const session = sessions.find(id, scope);
    switch (action) {
      case "poll":
        return session === undefined ? unknown(id) : (foreground(session) ?? poll(session, args, context));
      case "log":
        return session === undefined ? unknown(id) : (foreground(session) ?? log(session, args));
      case "kill":
        if (session === undefined || session.end !== undefined) return failed(`No active session found for ${id}.`);
        return foreground(session) ?? kill(session);
      case "clear":
        if (session?.end === undefined || !session.backgrounded) return failed(`No finished session found for ${id}.`);
        sessions.forget(session);
        return done(`Cleared session ${id}.`, { status: "completed", sessionId: id });
      case "remove":
        return session === undefined ? unknown(id) : (foreground(session) ?? remove(session));
      case "write":
      case "send-keys":
      case "submit":
      case "paste": {
        if (session === undefined) return unknown(id);
        if (session.end !== undefined) return failed(`Session ${id} has ended; stdin is not writable.`);
        const refused = foreground(session);
        if (refused !== undefined) return refused;
        if (!session.stdinWritable) {
          return failed(
            `stdin is not writable for session ${id}. Start the command with pty: true, or with stdin: "open", to send it input.`,
          );
        }
        const sent = await inputActions[action](session, args);
        return done(sent.text, { status: "running", sessionId: id, ...sent.details });
      }
      case "resize": {
        if (session === undefined) return unknown(id);
        if (session.end !== undefined) return failed(`Session ${id} has ended; there is no terminal to resize.`);
        const refused = foreground(session);
        if (refused !== undefined) return refused;
        const resized = resizeTerminal(session, args);
        return done(resized.text, { status: "running", sessionId: id, ...resized.details });
      }
    }
  }

  function list(scope: string): ProcessResult {
    const found = sessions.list(scope);
    const text = found.length === 0 ? "No running or recent sessions." : found.map(listLine).join("\n");
    return done(text, { status: "completed", sessions: found.map(listRow) });
  }

  async function poll(session: ProcessSession, args: ProcessArgs, context: ProcessContext): Promise<ProcessResult> {
    const waitMs = Math.min(MAX_POLL_MS, Math.max(0, args.timeout ?? 0));
    await session.waitForNews(Number.isFinite(waitMs) ? waitMs : 0, context.signal);
    const delivery = session.read();
    const dropped =
      delivery.droppedChars > 0
        ? [`[${delivery.droppedChars} characters were dropped before this poll; log may still have them.]`]
        : [];
    const output = delivery.text.replace(/\s+$/, "");
    const body = [...dropped, output === "" ? "(no new output)" : output];
    if (session.end !== undefined) return pollEnded(session, delivery, body);
    const empty = delivery.text === "" ? (emptyPolls.get(session) ?? 0) + 1 : 0;
    emptyPolls.set(session, empty);
    const retryInMs = RETRY_MS[Math.min(Math.max(empty, 1), RETRY_MS.length) - 1];
    const text = [...body, session.waitingForInput ? waitingHint(session) : exitLine(session)].join("\n\n");
    return done(
      text,
      { ...listRow(session), status: "running", aggregated: session.aggregated(), retryInMs },
      delivery.acknowledge,
    );
  }

  function pollEnded(session: ProcessSession, delivery: Delivery, body: readonly string[]): ProcessResult {
    session.observeEnd();
    const notes = (session.end?.notes ?? []).map((note) => `[${note}]`);
    return done(
      [...body, ...notes, exitLine(session)].join("\n\n"),
      { ...listRow(session), aggregated: session.aggregated() },
      () => {
        delivery.acknowledge();
        session.acknowledgeEnd();
      },
    );
  }

  function log(session: ProcessSession, args: ProcessArgs): ProcessResult {
    const page = logPage(session.aggregated(), args.offset, args.limit);
    const running = session.end === undefined;
    const lost = session.lost ? ["[Earlier output is no longer in memory.]"] : [];
    const empty = running ? "(no output yet)" : "(no output recorded)";
    const text = [
      ...lost,
      page.text === "" ? empty : page.text,
      ...(page.hint === undefined ? [] : [page.hint]),
      ...(running ? (session.waitingForInput ? [waitingHint(session)] : []) : [exitLine(session)]),
    ].join("\n\n");
    return done(text, {
      ...listRow(session),
      output: page.text,
      total: page.totalLines,
      totalLines: page.totalLines,
      totalChars: session.totalChars,
      truncated: session.truncated,
    });
  }

  function kill(session: ProcessSession): ProcessResult {
    const { queued } = session;
    session.stop("manual-cancel");
    if (queued) {
      return done(`Taken out of the line: session ${session.id} never ran.`, {
        status: "completed",
        sessionId: session.id,
      });
    }
    return done(`Termination requested for session ${session.id}. Poll it to see its end.`, {
      status: "running",
      sessionId: session.id,
    });
  }

  function remove(session: ProcessSession): ProcessResult {
    const running = session.end === undefined;
    if (running) sessions.remove(session);
    else sessions.forget(session);
    const text = running ? `Removed session ${session.id} (termination requested).` : `Removed session ${session.id}.`;
    return done(text, { status: "completed", sessionId: session.id });
  }
}

function foreground(session: ProcessSession): ProcessResult | undefined {
  if (session.backgrounded) return undefined;
  return session.end === undefined
    ? failed(`Session ${session.id} is not backgrounded: the call that started it is still waiting for it.`)
    : unknown(session.id);
}

/** Foreign, expired and never existing ids sound the same: nobody learns of another agent's sessions. */
function unknown(id: string): ProcessResult {
  return failed(`No session found for ${id.slice(0, 64)}.`);
}

function waitingHint(session: ProcessSession): string {
  const last = session
    .tail(PROMPT_CHARS * 4)
    .split(/[\r\n]+/)
    .findLast((line) => line.trim() !== "");
  const prompt = last === undefined ? "" : ` Last line: ${cutMiddle(last.trim(), PROMPT_CHARS)}`;
  return `No output for ${Math.round(session.idleMs / 1000)} s and stdin is open: the process is probably waiting for input (write, send-keys, submit, paste).${prompt}`;
}

function isAction(action: string): action is ProcessAction {
  return (PROCESS_ACTIONS as readonly string[]).includes(action);
}

function done(
  text: string,
  details: Readonly<Record<string, unknown>> & { readonly status: string },
  acknowledge: () => void = () => {},
): ProcessResult {
  return { content: [{ type: "text", text }], details, acknowledge };
}

function failed(error: string): ProcessResult {
  return done(error, { status: "failed", error });
}
