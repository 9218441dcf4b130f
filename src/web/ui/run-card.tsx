import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { RunAction, RunCard, RunOutcome } from "../../core/cards.ts";
import { formatClock, formatDuration } from "../../core/duration.ts";
import type { Messages } from "../../core/words/messages.ts";
import { plainText } from "../ansi.ts";
import { timeOfDay } from "../format.ts";
import { RequestError } from "../request-error.ts";
import { useReader } from "../words/reader.ts";
import { useCardContext } from "./card-context.ts";
import { CommandText } from "./command-text.tsx";
import { CopyButton } from "./copy-button.tsx";
import { Facts, Prose, Revealed } from "./facts.tsx";
import { CheckIcon, ClockIcon, CrossIcon, LogIcon, PlayIcon, RepeatIcon, StopIcon, WarningIcon } from "./icons.tsx";
import { Output } from "./output.tsx";
import { usePress } from "./use-press.ts";

type Words = Messages["run"];

const LOOK: Readonly<Record<RunOutcome, { readonly tone: string; readonly icon: () => JSX.Element }>> = {
  completed: { tone: "good", icon: CheckIcon },
  failed: { tone: "bad", icon: CrossIcon },
  "timed-out": { tone: "bad", icon: ClockIcon },
  killed: { tone: "quiet", icon: StopIcon },
  lost: { tone: "pending", icon: WarningIcon },
  "not-started": { tone: "bad", icon: CrossIcon },
};

function ExitChip({ card, words }: { readonly card: RunCard; readonly words: Words }) {
  if (card.exitSignal) return <span class="chip chip-bad">{words.signal(card.exitSignal)}</span>;
  if (typeof card.exitCode !== "number") return null;
  return <span class={card.exitCode === 0 ? "chip chip-good" : "chip chip-bad"}>{words.exitCode(card.exitCode)}</span>;
}

function RunningTitle({ card }: { readonly card: RunCard }) {
  const { now } = useCardContext();
  const { messages } = useReader();
  const clock = formatClock(now.value - card.startedAtMs);
  return <>{card.queued ? messages.run.queued(clock) : messages.run.running(clock)}</>;
}

interface RunButtonProps {
  readonly action: RunAction;
  readonly off: boolean;
  readonly words: Words;
  act(action: RunAction): void;
}

function RunButton({ action, off, words, act }: RunButtonProps) {
  switch (action) {
    case "stop":
      return (
        <button type="button" class="button button-small button-danger" disabled={off} onClick={() => act("stop")}>
          <StopIcon />
          {words.stop}
        </button>
      );
    case "full-log":
      return (
        <button type="button" class="button button-small" onClick={() => act("full-log")}>
          <LogIcon />
          {words.fullLog}
        </button>
      );
    case "run-again":
      return (
        <button type="button" class="button button-small" disabled={off} onClick={() => act("run-again")}>
          <RepeatIcon />
          {words.runAgain}
        </button>
      );
  }
}

/**
 * Live output is told to who is there and not kept: a page that is opened or comes back in the middle of a run asks for
 * what has been printed so far, and shows it until the next live output comes.
 */
function useCurrentTail(card: RunCard): string {
  const { connected, outputSoFar } = useCardContext();
  const [soFar, setSoFar] = useState<{ readonly card: RunCard; readonly text: string } | undefined>(undefined);
  const wanted = card.state === "running" && connected.value;
  const shown = useRef(card);
  shown.current = card;
  const { runId } = card;
  useEffect(() => {
    if (!wanted) return;
    const asked = shown.current;
    outputSoFar(runId).then(
      (text) => setSoFar({ card: asked, text }),
      (error: unknown) => {
        // Without an answer the card shows what it has, and the next live output puts that right.
        if (!(error instanceof RequestError)) throw error;
      },
    );
  }, [wanted, runId, outputSoFar]);
  // Any newer form of the card knows better.
  const better = soFar?.card === card && card.state === "running" && soFar.text !== "";
  return better ? soFar.text : card.tail;
}

/** Lines of the beginning that are shown over the end. */
const BEGIN_LINES = 20;

/** How a long output began, and how much is between that and its end. Nothing where the two would overlap. */
function beginningOf(card: RunCard, words: Words): { readonly text: string; readonly gap: string } | undefined {
  if (card.state === "running" || card.head === undefined) return undefined;
  const lines = card.head.split("\n");
  const text = lines.slice(0, Math.min(BEGIN_LINES, lines.length - 1)).join("\n");
  if (text === "") return undefined;
  if (card.totalLines === undefined) {
    return { text, gap: words.charactersLeftOut(Math.max(1, card.totalChars - text.length - card.tail.length)) };
  }
  const below = plainText(card.tail).trimEnd().split("\n").length;
  const left = card.totalLines - text.split("\n").length - below;
  return left > 0 ? { text, gap: words.linesLeftOut(left) } : undefined;
}

export function RunView({ card, titleId }: { readonly card: RunCard; readonly titleId: string }) {
  const context = useCardContext();
  const { busy, trouble, press } = usePress(card);
  const running = card.state === "running";
  const { messages, words: own } = useReader();
  const words = messages.run;
  const outcome = card.outcome ?? "lost";
  const { tone, icon: Icon } = LOOK[outcome];
  const off = busy || !context.connected.value;
  const tail = useCurrentTail(card);
  const partial = card.totalChars > card.tail.length;
  const begin = beginningOf(card, words);

  const act = (action: RunAction) => {
    if (action === "full-log") context.showLog({ runId: card.runId, command: card.command });
    else press({ kind: "run", action, runId: card.runId });
  };

  return (
    <section class={`card run tone-${running ? "running" : tone}`} aria-labelledby={titleId} data-run={card.runId}>
      <header class="card-head">
        <span class="card-icon">{running ? <span class="pulse" /> : <Icon />}</span>
        <div class="card-title">
          <h3 id={titleId}>{running ? <RunningTitle card={card} /> : words.outcome[outcome]}</h3>
          {!running && <ExitChip card={card} words={words} />}
          {!running && card.durationMs !== undefined && outcome !== "not-started" && (
            <span class="elapsed">{formatDuration(card.durationMs)}</span>
          )}
        </div>
        <span class="card-side">{timeOfDay(card.endedAtMs ?? card.startedAtMs)}</span>
      </header>
      <CommandText text={card.command} />
      {card.queued ? null : tail === "" ? (
        <p class="no-output">{running ? words.noOutputYet : words.noOutput}</p>
      ) : (
        <div class="output-box">
          {begin !== undefined ? (
            <>
              <Output text={begin.text} label={own.card.output} />
              <p class="output-more">{begin.gap}</p>
            </>
          ) : (
            partial && <p class="output-more">{words.lastOf(card.tail.length, card.totalChars)}</p>
          )}
          <Output text={tail} label={own.card.output} follow />
          <CopyButton text={() => plainText(tail)} label={own.card.copyOutput} />
        </div>
      )}
      {card.notes.map((note) => (
        <p key={note} class="notice">
          <Prose text={note} />
        </p>
      ))}
      <footer class="card-foot">
        {card.actions.length > 0 && (
          <div class="actions">
            {card.actions.map((action) => (
              <RunButton key={action} action={action} off={off} words={words} act={act} />
            ))}
            {card.recorded && (
              <button
                type="button"
                class="button button-small"
                onClick={() => context.showReplay({ runId: card.runId, command: card.command })}
              >
                <PlayIcon />
                {own.replay.title}
              </button>
            )}
            {busy && <span class="waiting">{running ? own.card.stopping : own.card.sent}</span>}
          </div>
        )}
        <Facts
          facts={[
            { label: words.folder, value: <Revealed text={card.cwd} /> },
            { label: words.host, value: card.node ? `node ${card.node}` : card.host },
            { label: words.session, value: card.sessionId },
          ]}
        />
      </footer>
      {trouble !== undefined && (
        <p class="notice notice-warning" role="alert">
          {trouble}
        </p>
      )}
    </section>
  );
}
