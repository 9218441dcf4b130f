/** What becomes of a turn that is over: who is told what, and what the model is told of it later. */
import type { ModelMessage } from "ai";
import type { Config } from "../core/config/schema.ts";
import { HEARTBEAT_MAX_AGE_MS } from "../core/events/heartbeat.ts";
import { visibleAnswer } from "../core/events/heartbeat-filter.ts";
import { heartbeatVisibility } from "../core/events/heartbeat-visibility.ts";
import type { Route } from "../core/route.ts";
import type { Versioned } from "../core/store/store.ts";
import { phrase, type Wording } from "../core/words/phrase.ts";
import type { Transcripts, TurnRecord, TurnState } from "./transcript.ts";
import type { TurnEnd } from "./turn.ts";
import { wordsOfShortAnswer } from "./words.ts";

/** What people are told of a turn instead of an answer. */
export interface Notice {
  readonly text: Wording;
  readonly hint?: Wording;
  readonly tone: "info" | "warning" | "error";
}

export interface EndingOptions {
  readonly config: () => Config;
  /** `maxAgeMs`: not worth delivering any more after so long. */
  readonly post: (
    message: Notice & { readonly key: string; readonly route: Route; readonly maxAgeMs?: number },
  ) => Promise<void>;
  readonly onEnd?: (end: { readonly trigger: TurnRecord["trigger"]; readonly state: TurnState }) => void;
}

/** A turn as it ended, and what people are told beside the answer in it. */
export interface Ending {
  readonly sessionKey: string;
  readonly turn: Versioned<TurnRecord>;
  readonly notice?: Notice;
}

/**
 * Ends a turn: its answer or the notice is handed to the deliveries first, under a key of the turn, so that a kill in
 * between says it once. What a failed turn was to do for people is told them by code.
 */
export async function endTurn(
  { sessionKey, turn: { value, version }, notice }: Ending,
  options: EndingOptions & { readonly transcripts: Transcripts },
): Promise<void> {
  const { config, transcripts } = options;
  let record = value;
  let at = version;
  if (record.state === "answering") at = await transcripts.save(sessionKey, at, record);
  const said: Notice | undefined =
    notice ?? (record.answer === undefined ? undefined : { text: record.answer, tone: "info" });
  for (const route of record.routes) {
    const shown = shownAt(config(), route, record, said);
    const age = record.trigger === "heartbeat" ? { maxAgeMs: HEARTBEAT_MAX_AGE_MS } : {};
    if (shown) await options.post({ key: `turn:${record.id}`, route, ...shown, ...age });
  }
  if (record.state === "failed" || record.state === "cut") {
    for (const task of record.tasks) {
      if (task.route)
        await options.post({
          key: `task:${record.id}:${task.key}`,
          route: task.route,
          tone: "info",
          text: task.text,
        });
    }
  }
  const over: TurnState = record.state === "answering" ? "done" : record.state;
  record = { ...record, state: over, messages: closed(record.messages, over) };
  await transcripts.save(sessionKey, at, record);
  await transcripts.end(sessionKey, record.seq, isWorthKeeping(record));
  options.onEnd?.({ trigger: record.trigger, state: over });
}

function shownAt(config: Config, route: Route, record: TurnRecord, said: Notice | undefined): Notice | undefined {
  if (record.trigger === "heartbeat") {
    const { showOk, showAlerts } = heartbeatVisibility(config, route);
    const nothing = said === undefined && record.state === "answering";
    if (nothing) return showOk ? { text: phrase("agent.nothingToReport"), tone: "info" } : undefined;
    if (!showAlerts) return undefined;
  }
  // Nobody waits for the words of a wake that failed: its events have been told by code.
  const waitedFor = record.trigger === "message" || record.answer !== undefined || record.dispatched.length > 0;
  return waitedFor ? said : undefined;
}

/** What people read of a turn; the one place where an answer passes on its way out. */
export function answerOf(record: TurnRecord, end: TurnEnd, ackMaxChars: number): Wording | undefined {
  const isMessage = record.trigger === "message";
  const visible = visibleAnswer(end.text, isMessage ? 0 : ackMaxChars);
  const note = end.kind === "cut-short" ? wordsOfShortAnswer(end.by) : undefined;
  if (note !== undefined && (isMessage || visible !== undefined)) {
    return visible === undefined ? note : { lines: [visible, "", note] };
  }
  if (visible === undefined && isMessage && end.text.trim() === "") return phrase("agent.noWords");
  return visible;
}

/** As the model is told of a turn that is over: it ends with words of the assistant. */
function closed(messages: readonly ModelMessage[], state: TurnState): readonly ModelMessage[] {
  const note = CLOSING[state];
  if (note === undefined) return messages;
  return [...messages, { role: "assistant", content: note }];
}

const CLOSING: Partial<Record<TurnState, string>> = {
  stopped: "(This turn was stopped by a person.)",
  failed: "(This turn failed before an answer was given.)",
  cut: "(This turn was cut off when the gateway stopped. Nothing of it is repeated by itself.)",
};

/** A heartbeat that had nothing to say is not remembered. */
function isWorthKeeping(record: TurnRecord): boolean {
  if (record.messages.length === 0) return false;
  return !(record.trigger === "heartbeat" && record.answer === undefined && record.dispatched.length === 0);
}
