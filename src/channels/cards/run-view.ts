/** What a running or finished card says, before any platform's markup. Pure. */
import type { RunAction, RunCard } from "../../core/cards.ts";
import { formatClock, formatDuration } from "../../core/duration.ts";
import type { Messages } from "../../core/words/messages.ts";
import { cleanOutput } from "../text/clean.ts";
import { tailWithin } from "../text/excerpt.ts";
import type { Redactor } from "../text/redact.ts";
import { showInvisible } from "../text/visible.ts";
import { encodeAction } from "./action-codec.ts";
import type { CardButton, Fact } from "./approval-view.ts";

/** More lines than this push everything else off a screen, however short they are; the rest is in the full log. */
const MAX_OUTPUT_LINES = 40;

export type RunTone = "running" | "success" | "failure" | "neutral";

export interface RunView {
  readonly tone: RunTone;
  /** `Running for 00:42`, `Finished · exit code 0 · took 1m12s`. */
  readonly title: string;
  /** The command on few characters, masked and visible. */
  readonly command: string;
  readonly facts: readonly Fact[];
  /** Clean, masked text of at most the budget; empty when there is none. */
  readonly output: string;
  /** `Last 1200 of 45000 characters`, or that there is no output. */
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
  const output = options.redactor.redact(cleanOutput(card.tail)).text.trimEnd();
  const shown = tailWithin(output, options.outputBudget, options.unitCost);
  const { visible, cut } = lastLines(shown.hidden === 0 ? shown.head : shown.tail);
  const partial = cut || shown.hidden > 0 || card.totalChars > card.tail.length;
  const title = titleOf(card, options);
  const command = clean(card.command);
  return {
    tone: toneOf(card),
    title,
    command,
    facts: [
      { label: m.session, value: card.sessionId, code: true },
      { label: m.folder, value: clean(card.cwd), code: true },
      { label: m.host, value: card.host },
    ],
    output: visible,
    ...outputNote(card, visible, partial, options.messages),
    notes: [...card.notes.map(clean), ...(options.attached === undefined ? [] : [m.fullLogIn(options.attached)])],
    buttons: card.actions.map((action) => buttonOf(action, card.runId, options.messages)),
    fallback: [title, command.split("\n", 1)[0]].join(" · "),
  };
}

function lastLines(text: string): { readonly visible: string; readonly cut: boolean } {
  const lines = text.split("\n");
  if (lines.length <= MAX_OUTPUT_LINES) return { visible: text, cut: false };
  return { visible: lines.slice(-MAX_OUTPUT_LINES).join("\n"), cut: true };
}

function outputNote(
  card: RunCard,
  visible: string,
  partial: boolean,
  messages: Messages,
): { readonly outputNote?: string } {
  const m = messages.run;
  if (card.queued) return {};
  if (visible === "") return { outputNote: card.state === "running" ? m.noOutputYet : m.noOutput };
  return partial ? { outputNote: m.lastOf(visible.length, Math.max(card.totalChars, visible.length)) } : {};
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
