/** The `process` tool: look at background sessions, feed them, end them (exec.md section 11). Failures are results, not throws. */

import * as z from "zod";
import { ExecError } from "../errors.ts";
import { nearestOf } from "../nearest.ts";
import { cutMiddle } from "../process/command-name.ts";
import type { ProcessSessions } from "../process/registry.ts";
import type { ProcessSession } from "../process/session.ts";
import type { Delivery } from "../process/unread.ts";
import { issueWording } from "../words/issues.ts";
import { inEnglish, type Phrase, phrase, type Wording } from "../words/phrase.ts";
import { inputActions, resizeTerminal } from "./process-input.ts";
import { exitPhrase, listLine, listRow, logPage } from "./process-view.ts";
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
const whole = (about: string) =>
  optional(
    z.coerce.number().transform((value) => Math.max(0, Math.floor(value))),
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
  offset: whole("log: first line, from 0."),
  limit: whole("log: most lines."),
  timeout: optional(z.coerce.number(), `poll: wait so many milliseconds for news, at most ${MAX_POLL_MS}.`),
  cols: optional(z.coerce.number(), "resize: columns."),
  rows: optional(z.coerce.number(), "resize: rows."),
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
        const parameter = issue?.path.join(".");
        const why = issue === undefined ? phrase("error.argument.notAcceptable") : issueWording(issue);
        return failed(
          parameter
            ? phrase("error.argument.invalid", { parameter, tool: "process", why })
            : phrase("session.arguments", { why }),
        );
      }
      const args = parsed.data;
      const action = args.action.trim().toLowerCase();
      if (!isAction(action)) {
        const near = nearestOf(action, PROCESS_ACTIONS);
        const told = { action: args.action.slice(0, 64), known: PROCESS_ACTIONS };
        return failed(
          near === undefined ? phrase("session.action", told) : phrase("session.actionNear", { ...told, near }),
        );
      }
      const scope = context.scope ?? `agent:${context.agentId}`;
      try {
        const result = await perform(action, args, scope, context);
        if (context.acknowledge !== "manual") result.acknowledge();
        return result;
      } catch (error) {
        if (error instanceof ExecError) return failed(error.wording);
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
    if (id === "") return failed(phrase("session.idMissing", { action }));
    const session = sessions.find(id, scope);
    switch (action) {
      case "poll":
        return session === undefined ? unknown(id) : (foreground(session) ?? poll(session, args, context));
      case "log":
        return session === undefined ? unknown(id) : (foreground(session) ?? log(session, args));
      case "kill":
        if (session === undefined || session.end !== undefined) {
          return failed(phrase("session.noneActive", { session: id }));
        }
        return foreground(session) ?? kill(session);
      case "clear":
        if (session?.end === undefined || !session.backgrounded) {
          return failed(phrase("session.noneFinished", { session: id }));
        }
        sessions.forget(session);
        return done(phrase("session.cleared", { session: id }), { status: "completed", sessionId: id });
      case "remove":
        return session === undefined ? unknown(id) : (foreground(session) ?? remove(session));
      case "write":
      case "send-keys":
      case "submit":
      case "paste": {
        if (session === undefined) return unknown(id);
        if (session.end !== undefined) return failed(phrase("session.ended", { session: id }));
        const refused = foreground(session);
        if (refused !== undefined) return refused;
        if (!session.stdinWritable) {
          return failed(phrase("session.noInput", { session: id }));
        }
        const sent = await inputActions[action](session, args);
        return done(sent.said, { status: "running", sessionId: id, ...sent.details });
      }
      case "resize": {
        if (session === undefined) return unknown(id);
        if (session.end !== undefined) return failed(phrase("session.endedTerminal", { session: id }));
        const refused = foreground(session);
        if (refused !== undefined) return refused;
        const resized = resizeTerminal(session, args);
        return done(resized.said, { status: "running", sessionId: id, ...resized.details });
      }
    }
  }

  function list(scope: string): ProcessResult {
    const found = sessions.list(scope);
    const said = found.length === 0 ? phrase("session.none") : found.map(listLine).join("\n");
    return done(said, { status: "completed", sessions: found.map(listRow) });
  }

  async function poll(session: ProcessSession, args: ProcessArgs, context: ProcessContext): Promise<ProcessResult> {
    const waitMs = Math.min(MAX_POLL_MS, Math.max(0, args.timeout ?? 0));
    await session.waitForNews(Number.isFinite(waitMs) ? waitMs : 0, context.signal);
    const delivery = session.read();
    const dropped = delivery.droppedChars > 0 ? [phrase("session.dropped", { characters: delivery.droppedChars })] : [];
    const output = delivery.text.replace(/\s+$/, "");
    const body = [...dropped, output === "" ? phrase("session.noNewOutput") : output];
    if (session.end !== undefined) return pollEnded(session, delivery, body);
    const empty = delivery.text === "" ? (emptyPolls.get(session) ?? 0) + 1 : 0;
    emptyPolls.set(session, empty);
    const retryInMs = RETRY_MS[Math.min(Math.max(empty, 1), RETRY_MS.length) - 1];
    const said = paragraphs([...body, session.waitingForInput ? waitingHint(session) : exitPhrase(session)]);
    return done(
      said,
      { ...listRow(session), status: "running", aggregated: session.aggregated(), retryInMs },
      delivery.acknowledge,
    );
  }

  function pollEnded(session: ProcessSession, delivery: Delivery, body: readonly Wording[]): ProcessResult {
    session.observeEnd();
    const notes = (session.end?.notes ?? []).map((note) => phrase("session.note", { note }));
    return done(
      paragraphs([...body, ...notes, exitPhrase(session)]),
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
    const lost = session.lost ? [phrase("session.outputGone")] : [];
    const empty = phrase(running ? "session.noOutputYet" : "session.noOutput");
    const said = paragraphs([
      ...lost,
      page.text === "" ? empty : page.text,
      ...(page.hint === undefined ? [] : [page.hint]),
      ...(running ? (session.waitingForInput ? [waitingHint(session)] : []) : [exitPhrase(session)]),
    ]);
    return done(said, {
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
      return done(phrase("session.killedInLine", { session: session.id }), {
        status: "completed",
        sessionId: session.id,
      });
    }
    return done(phrase("session.killed", { session: session.id }), {
      status: "running",
      sessionId: session.id,
    });
  }

  function remove(session: ProcessSession): ProcessResult {
    const running = session.end === undefined;
    if (running) sessions.remove(session);
    else sessions.forget(session);
    const said = phrase(running ? "session.removedRunning" : "session.removed", { session: session.id });
    return done(said, { status: "completed", sessionId: session.id });
  }
}

function foreground(session: ProcessSession): ProcessResult | undefined {
  if (session.backgrounded) return undefined;
  return session.end === undefined
    ? failed(phrase("session.foreground", { session: session.id }))
    : unknown(session.id);
}

/** Foreign, expired and never existing ids sound the same: nobody learns of another agent's sessions. */
function unknown(id: string): ProcessResult {
  return failed(phrase("session.unknown", { session: id.slice(0, 64) }));
}

function waitingHint(session: ProcessSession): Phrase {
  const last = session
    .tail(PROMPT_CHARS * 4)
    .split(/[\r\n]+/)
    .findLast((line) => line.trim() !== "");
  const seconds = Math.round(session.idleMs / 1000);
  if (last === undefined) return phrase("session.waiting", { seconds });
  return phrase("session.waitingAt", { seconds, line: cutMiddle(last.trim(), PROMPT_CHARS) });
}

/** With an empty line between. */
function paragraphs(parts: readonly Wording[]): Wording {
  return { lines: parts.flatMap((part, index) => (index === 0 ? [part] : ["", part])) };
}

function isAction(action: string): action is ProcessAction {
  return (PROCESS_ACTIONS as readonly string[]).includes(action);
}

function done(
  said: Wording,
  details: Readonly<Record<string, unknown>> & { readonly status: string },
  acknowledge: () => void = () => {},
): ProcessResult {
  return { content: [{ type: "text", text: inEnglish(said) }], said, details, acknowledge };
}

function failed(error: Wording): ProcessResult {
  return done(error, { status: "failed", error: inEnglish(error) });
}
