import type { JSX } from "preact";
import { useRef, useState } from "preact/hooks";
import type { ApprovalAction, ApprovalCard } from "../../core/cards.ts";
import type { ApprovalDecision } from "../../core/policy/types.ts";
import type { Messages } from "../../core/words/messages.ts";
import { actorName, timeLeft, timeOfDay } from "../format.ts";
import { useReader } from "../words/reader.ts";
import { useCardContext } from "./card-context.ts";
import { CommandText } from "./command-text.tsx";
import { Decide, type Step } from "./decide.tsx";
import { type Fact, Facts, Prose, Revealed, StoredRules } from "./facts.tsx";
import { CheckIcon, ClockIcon, CrossIcon, QuestionIcon, WarningIcon } from "./icons.tsx";
import { usePress } from "./use-press.ts";

/** From here on the time left is told in colour too. */
const HURRY_MS = 60_000;

type Words = Messages["approval"];

export function approvalTitle(card: ApprovalCard, words: Words): string {
  switch (card.state) {
    case "pending":
      return words.titlePending;
    case "allowed":
      return card.decision === "allow-always" ? words.titleAllowedAlways : words.titleAllowedOnce;
    case "denied":
      return words.titleDenied;
    case "expired":
      return words.titleExpired;
    case "cancelled":
      return words.titleCancelled;
  }
}

const LOOK: Readonly<Record<ApprovalCard["state"], { readonly tone: string; readonly icon: () => JSX.Element }>> = {
  pending: { tone: "pending", icon: QuestionIcon },
  allowed: { tone: "good", icon: CheckIcon },
  denied: { tone: "bad", icon: CrossIcon },
  expired: { tone: "quiet", icon: ClockIcon },
  cancelled: { tone: "quiet", icon: CrossIcon },
};

function TimeLeft({ expiresAtMs }: { readonly expiresAtMs: number }) {
  const { now } = useCardContext();
  const { messages, language } = useReader();
  const left = expiresAtMs - now.value;
  return (
    <span class={left < HURRY_MS ? "time-left time-short" : "time-left"}>
      {messages.approval.expires} {timeLeft(left, language)}
    </span>
  );
}

function facts(card: ApprovalCard, words: Words): readonly Fact[] {
  return [
    ...(card.inner ?? []).map((inner) => ({ label: words.inner, value: <Revealed text={inner} /> })),
    { label: words.folder, value: <Revealed text={card.cwd} /> },
    { label: words.host, value: card.node ? `node ${card.node}` : card.host },
    { label: words.agent, value: <Revealed text={card.agentId} /> },
    { label: words.requester, value: <Revealed text={actorName(card.requester)} /> },
    ...(card.envKeys.length > 0
      ? [{ label: words.environment, value: <Revealed text={card.envKeys.join(", ")} /> }]
      : []),
    { label: words.id, value: card.slug },
  ];
}

/** Why it asks and where it would run: before the decision always in view, afterwards on demand. */
function Background({ card, words }: { readonly card: ApprovalCard; readonly words: Words }) {
  return (
    <>
      {card.reasons.length > 0 && (
        <ul class="reasons" aria-label={words.why}>
          {card.reasons.map((reason) => (
            <li key={reason}>
              <Prose text={reason} />
            </li>
          ))}
        </ul>
      )}
      <Facts facts={facts(card, words)} />
      {card.state === "pending" && !card.offered.includes("allow-always") && (
        <p class="hint">{words.alwaysNotOffered}</p>
      )}
    </>
  );
}

function DecidedBy({ card, words }: { readonly card: ApprovalCard; readonly words: Words }) {
  if (card.decidedBy === undefined || card.decidedBy.kind === "system") return null;
  return (
    <span class="decided-by">
      <Revealed text={words.decidedBy(actorName(card.decidedBy))} />
    </span>
  );
}

/** Who put it off until when, and that it is asked again since. */
function PutOff({ card, words }: { readonly card: ApprovalCard; readonly words: Words }) {
  return (
    <>
      {(card.snoozes ?? []).map(({ by, untilMs, over }) => (
        <p key={untilMs} class="put-off">
          <ClockIcon />
          <Revealed
            text={over ? words.snoozeOver(actorName(by)) : `${words.snoozedUntil(actorName(by))} ${timeOfDay(untilMs)}`}
          />
        </p>
      ))}
    </>
  );
}

/** Nobody decided it: the same can be asked once more, and who did so. */
function AskAgain({
  card,
  words,
  off,
  ask,
}: {
  readonly card: ApprovalCard;
  readonly words: Words;
  readonly off: boolean;
  ask(): void;
}) {
  if (card.askedAgain !== undefined) {
    return (
      <p class="comment">
        <Revealed text={words.askedAgain(actorName(card.askedAgain.by), card.askedAgain.slug)} />
      </p>
    );
  }
  if (!card.askable) return null;
  return (
    <div class="actions">
      <button type="button" class="button" disabled={off} onClick={ask}>
        {words.askAgain}
      </button>
    </div>
  );
}

/** What "Allow always" stored, and the way back. Asks once more: the rule may be somebody else's. */
function Receipt({
  card,
  words,
  off,
  revoke,
}: {
  readonly card: ApprovalCard;
  readonly words: Words;
  readonly off: boolean;
  revoke(): void;
}) {
  const [asked, setAsked] = useState(false);
  if (card.revokedBy !== undefined) {
    return (
      <p class="comment">
        <Revealed text={words.takenBack(actorName(card.revokedBy))} />
      </p>
    );
  }
  if (!card.revocable) return null;
  return (
    <fieldset class="step">
      <legend class="off-screen">{words.takeBackTitle}</legend>
      <StoredRules title={words.alwaysStored} rules={card.always} />
      <div class="actions">
        {asked ? (
          <>
            <button type="button" class="button button-danger" disabled={off} onClick={revoke}>
              {words.takeBack}
            </button>
            <button type="button" class="button" onClick={() => setAsked(false)}>
              {words.cancel}
            </button>
          </>
        ) : (
          <button type="button" class="quiet-button" disabled={off} onClick={() => setAsked(true)}>
            {words.takeBack}…
          </button>
        )}
      </div>
    </fieldset>
  );
}

/** Keys of a focused card: `a` allow once, `A` allow always (asks back), `d` deny, `D` deny with a reason, Esc back. */
export function ApprovalView({ card, titleId }: { readonly card: ApprovalCard; readonly titleId: string }) {
  const context = useCardContext();
  const { messages, words: own } = useReader();
  const words = messages.approval;
  const { busy, trouble, press } = usePress(card);
  const [step, setStep] = useState<Step>("choose");
  const box = useRef<HTMLElement>(null);
  const pending = card.state === "pending";
  const off = busy || !context.connected.value;
  const title = approvalTitle(card, words);
  const { tone, icon: Icon } = LOOK[card.state];

  const decide = (decision: ApprovalDecision, comment?: string) => {
    // The pressed button goes off and would take the focus with it.
    box.current?.focus({ preventScroll: true });
    press({ kind: "approval", approvalId: card.approvalId, decision, ...(comment === undefined ? {} : { comment }) });
  };
  const besides = (action: ApprovalAction) => {
    box.current?.focus({ preventScroll: true });
    press({ kind: "approval-action", action, approvalId: card.approvalId });
  };
  const go = (next: Step) => {
    setStep(next);
    if (next === "choose") box.current?.focus({ preventScroll: true });
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (!pending || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Escape" && step !== "choose") {
      event.stopPropagation();
      go("choose");
      return;
    }
    if (event.target !== box.current || busy || step !== "choose") return;
    const offers = (decision: ApprovalDecision) => card.offered.includes(decision);
    // Opening a step needs no connection: a key that did nothing would leave the next ones to mean something else.
    if (event.key === "A" && offers("allow-always")) setStep("confirm-always");
    else if (event.key === "D" && offers("deny")) setStep("give-reason");
    else if (event.key === "a" && offers("allow-once") && !off) decide("allow-once");
    else if (event.key === "d" && offers("deny") && !off) decide("deny");
    else return;
    event.preventDefault();
  };

  return (
    <section
      ref={box}
      class={`card approval tone-${tone}`}
      data-waiting={pending ? "" : undefined}
      aria-labelledby={titleId}
      tabIndex={pending ? 0 : -1}
      aria-keyshortcuts={pending ? "a Shift+A d Shift+D" : undefined}
      data-approval={card.approvalId}
      onKeyDown={onKeyDown}
    >
      <header class="card-head">
        <span class="card-icon">
          <Icon />
        </span>
        <div class="card-title">
          <h3 id={titleId}>{title}</h3>
          <DecidedBy card={card} words={words} />
          {card.statusLine !== undefined && (
            <span class="status-line">
              <Prose text={card.statusLine} />
            </span>
          )}
        </div>
        <span class="card-side">
          {pending ? <TimeLeft expiresAtMs={card.expiresAtMs} /> : timeOfDay(card.decidedAtMs ?? card.createdAtMs)}
        </span>
      </header>
      {card.warnings.map((warning) => (
        <p key={warning} class="callout">
          <WarningIcon />
          <Prose text={warning} />
        </p>
      ))}
      <CommandText text={card.command} highlights={card.highlights} />
      {card.comment !== undefined && (
        <p class="comment">
          <Revealed text={words.comment(card.comment)} />
        </p>
      )}
      {pending ? (
        <Background card={card} words={words} />
      ) : (
        <details class="background">
          <summary>{own.card.details}</summary>
          <Background card={card} words={words} />
        </details>
      )}
      {!pending && (
        <Receipt
          card={card}
          words={words}
          off={off}
          revoke={() => press({ kind: "revoke", approvalId: card.approvalId })}
        />
      )}
      {!pending && <AskAgain card={card} words={words} off={off} ask={() => besides("ask-again")} />}
      {pending && <PutOff card={card} words={words} />}
      {pending && (
        <Decide
          card={card}
          step={step}
          busy={busy}
          off={off}
          words={words}
          go={go}
          decide={decide}
          snooze={() => besides("snooze")}
        />
      )}
      {pending && !context.connected.value && <p class="notice">{own.card.offline}</p>}
      {trouble !== undefined && (
        <p class="notice notice-warning" role="alert">
          {trouble}
        </p>
      )}
    </section>
  );
}
