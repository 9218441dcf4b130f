import { useMemo } from "preact/hooks";
import type { RunAction, RunCard } from "../../core/cards.ts";
import { plainText } from "../ansi.ts";
import { amount, duration, elapsed, timeOfDay } from "../format.ts";
import { useCardContext } from "./card-context.ts";
import { CommandText } from "./command-text.tsx";
import { CopyButton } from "./copy-button.tsx";
import { Facts, Prose, Revealed } from "./facts.tsx";
import { CheckIcon, ClockIcon, CrossIcon, LogIcon, RepeatIcon, StopIcon, WarningIcon } from "./icons.tsx";
import { Output } from "./output.tsx";
import { usePress } from "./use-press.ts";

function ending(card: RunCard): { readonly title: string; readonly tone: string; readonly icon: preact.JSX.Element } {
  switch (card.outcome ?? "ended") {
    case "completed":
      return { title: "Finished", tone: "good", icon: <CheckIcon /> };
    case "failed":
      return { title: "Failed", tone: "bad", icon: <CrossIcon /> };
    case "timed-out":
      return { title: "Timed out", tone: "bad", icon: <ClockIcon /> };
    case "killed":
      return { title: "Stopped", tone: "quiet", icon: <StopIcon /> };
    case "lost":
      return { title: "Outcome unknown", tone: "pending", icon: <WarningIcon /> };
    case "not-started":
      return { title: "Did not start", tone: "bad", icon: <CrossIcon /> };
    case "ended":
      return { title: "Ended", tone: "quiet", icon: <CheckIcon /> };
  }
}

function ExitChip({ card }: { readonly card: RunCard }) {
  if (typeof card.exitCode === "number") {
    return <span class={card.exitCode === 0 ? "chip chip-good" : "chip chip-bad"}>exit {card.exitCode}</span>;
  }
  return card.exitSignal ? <span class="chip chip-bad">{card.exitSignal}</span> : null;
}

function Elapsed({ startedAtMs }: { readonly startedAtMs: number }) {
  const ms = useCardContext().now.value - startedAtMs;
  return (
    <span class="elapsed" role="timer" aria-live="off" aria-label="Elapsed time">
      {elapsed(ms)}
    </span>
  );
}

function RunButton({
  action,
  off,
  act,
}: {
  readonly action: RunAction;
  readonly off: boolean;
  act(action: RunAction): void;
}) {
  switch (action) {
    case "stop":
      return (
        <button type="button" class="button button-small button-danger" disabled={off} onClick={() => act("stop")}>
          <StopIcon />
          Stop
        </button>
      );
    case "full-log":
      return (
        <button type="button" class="button button-small" onClick={() => act("full-log")}>
          <LogIcon />
          Full log
        </button>
      );
    case "run-again":
      return (
        <button type="button" class="button button-small" disabled={off} onClick={() => act("run-again")}>
          <RepeatIcon />
          Run again
        </button>
      );
  }
}

export function RunView({ card, titleId }: { readonly card: RunCard; readonly titleId: string }) {
  const context = useCardContext();
  const { busy, trouble, press } = usePress(card);
  const running = card.state === "running";
  const end = ending(card);
  const off = busy || !context.connected.value;
  const hidden = useMemo(() => Math.max(0, card.totalChars - card.tail.length), [card.totalChars, card.tail]);

  const act = (action: RunAction) => {
    if (action === "full-log") context.showLog({ runId: card.runId, command: card.command });
    else press({ kind: "run", action, runId: card.runId });
  };

  return (
    <section class={`card run tone-${running ? "running" : end.tone}`} aria-labelledby={titleId} data-run={card.runId}>
      <header class="card-head">
        <span class="card-icon">{running ? <span class="pulse" /> : end.icon}</span>
        <h3 id={titleId}>{running ? "Running" : end.title}</h3>
        {!running && <ExitChip card={card} />}
        {running ? (
          <Elapsed startedAtMs={card.startedAtMs} />
        ) : (
          card.durationMs !== undefined && <span class="elapsed">{duration(card.durationMs)}</span>
        )}
        <span class="card-side">{timeOfDay(card.endedAtMs ?? card.startedAtMs)}</span>
      </header>
      <CommandText text={card.command} />
      {card.tail === "" ? (
        <p class="no-output">{running ? "No output yet." : "No output."}</p>
      ) : (
        <div class="output-box">
          {hidden > 0 && <p class="output-more">{amount(hidden, "earlier character")} in the full log</p>}
          <Output text={card.tail} label={running ? "Live output" : "Output"} follow />
          <CopyButton text={() => plainText(card.tail)} what="output" />
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
              <RunButton key={action} action={action} off={off} act={act} />
            ))}
            {busy && <span class="waiting">{running ? "Stopping." : "Sent."}</span>}
          </div>
        )}
        <Facts
          facts={[
            { label: "Directory", value: <Revealed text={card.cwd} /> },
            { label: "Runs on", value: card.host },
            { label: "Session", value: card.sessionId },
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
