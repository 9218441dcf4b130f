/** What a running or finished card says, before any platform's markup. Pure. */
import type { RunAction, RunCard } from "../../core/cards.ts";
import { formatClock, formatDuration } from "../../core/duration.ts";
import type { Messages } from "../../core/words/messages.ts";
import { cleanOutput } from "../text/clean.ts";
import { headWithin, tailWithin, textCost } from "../text/excerpt.ts";
import type { Redactor } from "../text/redact.ts";
import { showInvisible } from "../text/visible.ts";
import { encodeAction } from "./action-codec.ts";
import type { CardButton, Fact } from "./approval-view.ts";

/** Of a long output (channels.md 6.1): more lines push everything else off a screen, and the rest is in the full log. */
export const HEAD_LINES = 20;
export const TAIL_LINES = 40;
/** Share of the room for output that its beginning may take: how it ended matters more. */
const HEAD_SHARE = 1 / 3;

export type RunTone = "running" | "success" | "failure" | "neutral";

export interface RunView {
  readonly tone: RunTone;
  /** `Running for 00:42`, `Finished · exit code 0 · took 1m12s`. */
  readonly title: string;
  /** The command on few characters, masked and visible. */
  readonly command: string;
  readonly facts: readonly Fact[];
  /** The beginning of an output that is not shown whole. */
  readonly begin?: {
    readonly text: string;
    /** How much is left out behind it: `… 1234 lines left out …` */
    readonly gap: string;
  };
  /** Clean, masked text: all of it, or its end. With `begin` at most the budget; empty when there is none. */
  readonly output: string;
  /** `Last 1200 of 45000 characters` when its beginning is not shown, or that there is no output. */
  readonly outputNote?: string;
  readonly notes: readonly string[];
  readonly buttons: readonly CardButton[];
  readonly fallback: string;
}

export interface RunViewOptions {
  readonly messages: Messages;
  readonly redactor: Redactor;
  readonly nowMs: number;
  /** Most units of output, counted by `unitCost`. */
  readonly outputBudget: number;
  readonly unitCost?: (unit: number) => number;
  /** Name of an attached full log. */
  readonly attached?: string;
}

export function runView(card: RunCard, options: RunViewOptions): RunView {
  const m = options.messages.run;
  const clean = (text: string): string => showInvisible(options.redactor.redact(text).text);
  const shown = outputOf(card, options);
  const title = titleOf(card, options);
  const command = clean(card.command);
  return {
    tone: toneOf(card),
    title,
    command,
    facts: [
      { label: m.session, value: card.sessionId, code: true },
      { label: m.folder, value: clean(card.cwd), code: true },
      { label: m.host, value: card.node ? `node ${card.node}` : card.host },
    ],
    ...(shown.begin === undefined ? {} : { begin: shown.begin }),
    output: shown.end,
    ...outputNote(card, shown, options.messages),
    notes: [...card.notes.map(clean), ...(options.attached === undefined ? [] : [m.fullLogIn(options.attached)])],
    buttons: card.actions.map((action) => buttonOf(action, card.runId, options.messages)),
    fallback: [title, command.split("\n", 1)[0]].join(" · "),
  };
}

interface ShownOutput {
  readonly begin?: NonNullable<RunView["begin"]>;
  readonly end: string;
  readonly partial: boolean;
}

/** While it runs, the newest lines; once it has ended all of it, or its beginning and its end. */
function outputOf(card: RunCard, options: RunViewOptions): ShownOutput {
  const { outputBudget: budget, unitCost } = options;
  const m = options.messages.run;
  const text = options.redactor.redact(cleanOutput(card.tail)).text.trimEnd();
  const isAll = card.totalChars <= card.tail.length;
  const last = (room: number): { readonly end: string; readonly cut: boolean } => {
    const fitting = tailWithin(text, room, unitCost);
    const lines = (fitting.hidden === 0 ? fitting.head : fitting.tail).split("\n");
    return { end: lines.slice(-TAIL_LINES).join("\n"), cut: fitting.hidden > 0 || lines.length > TAIL_LINES };
  };
  if (card.state === "running") {
    const { end, cut } = last(budget);
    return { end, partial: cut || !isAll };
  }
  const lines = text.split("\n");
  if (isAll && lines.length <= HEAD_LINES + TAIL_LINES && textCost(text, unitCost) <= budget) {
    return { end: text, partial: false };
  }
  const start = isAll ? text : options.redactor.redact(cleanOutput(card.head ?? "")).text;
  const begin = headWithin(start, Math.floor(budget * HEAD_SHARE), unitCost)
    .split("\n")
    .slice(0, HEAD_LINES);
  // What was kept of the beginning ends somewhere in a line.
  if (begin.length === start.split("\n").length) begin.pop();
  const { end } = last(budget - textCost(begin.join("\n"), unitCost));
  const totalLines = isAll ? lines.length : (card.totalLines ?? Number.POSITIVE_INFINITY);
  const room = Math.max(0, totalLines - end.split("\n").length);
  const above = begin.slice(0, room);
  const joined = above.join("\n");
  const areWhole = text.endsWith(`\n${end}`) && start.startsWith(`${joined}\n`);
  const left = room - above.length;
  const gap =
    areWhole && left > 0 && Number.isFinite(left)
      ? m.linesLeftOut(left)
      : m.charactersLeftOut(Math.max(1, (isAll ? text.length : card.totalChars) - joined.length - end.length));
  return { ...(joined.trim() === "" || end === "" ? {} : { begin: { text: joined, gap } }), end, partial: true };
}

function outputNote(card: RunCard, shown: ShownOutput, messages: Messages): { readonly outputNote?: string } {
  const m = messages.run;
  if (card.queued) return {};
  if (shown.end === "") return { outputNote: card.state === "running" ? m.noOutputYet : m.noOutput };
  if (!shown.partial || shown.begin) return {};
  return { outputNote: m.lastOf(shown.end.length, Math.max(card.totalChars, shown.end.length)) };
}

function titleOf(card: RunCard, options: RunViewOptions): string {
  const m = options.messages.run;
  if (card.state === "running") {
    const clock = formatClock(options.nowMs - card.startedAtMs);
    return card.queued ? m.queued(clock) : m.running(clock);
  }
  const outcome = m.outcome[card.outcome ?? "lost"];
  const duration = card.durationMs ?? (card.endedAtMs === undefined ? undefined : card.endedAtMs - card.startedAtMs);
  return [
    outcome,
    ...(card.exitSignal != null
      ? [m.signal(card.exitSignal)]
      : card.exitCode != null
        ? [m.exitCode(card.exitCode)]
        : []),
    ...(duration === undefined || card.outcome === "not-started" ? [] : [m.took(formatDuration(duration))]),
  ].join(" · ");
}

function toneOf(card: RunCard): RunTone {
  if (card.state === "running") return "running";
  const outcome = card.outcome ?? "lost";
  switch (outcome) {
    case "completed":
      return card.exitCode == null || card.exitCode === 0 ? "success" : "failure";
    case "failed":
    case "timed-out":
    case "not-started":
      return "failure";
    case "killed":
    case "lost":
      return "neutral";
  }
}

function buttonOf(action: RunAction, runId: string, messages: Messages): CardButton {
  const m = messages.run;
  const label = { stop: m.stop, "full-log": m.fullLog, "run-again": m.runAgain }[action];
  const style = action === "stop" ? "danger" : "plain";
  const press = { kind: "run", action, runId } as const;
  return { label, style, action: press, code: encodeAction(press) };
}
