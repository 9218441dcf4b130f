/** The buttons of an approval card and the two steps behind them. Nothing here claims an outcome. */
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { ApprovalCard } from "../../core/cards.ts";
import type { ApprovalDecision } from "../../core/policy/types.ts";
import type { Messages } from "../../core/words/messages.ts";
import { later } from "../platform.ts";
import { useReader } from "../words/reader.ts";
import { StoredRules } from "./facts.tsx";

/** The gateway's limit for a comment (protocol/frames.ts). */
const MAX_COMMENT = 500;
/** A card that has just slid in under the pointer takes no click yet: it was meant for what was there before. */
const ARM_MS = 400;
export type Step = "choose" | "confirm-always" | "give-reason";

export function Waiting() {
  return <span class="waiting">{useReader().words.card.sent}</span>;
}

export function useArmed(): boolean {
  const [armed, setArmed] = useState(false);
  useEffect(() => later(ARM_MS, () => setArmed(true)), []);
  return armed;
}

export interface DecideProps {
  readonly card: ApprovalCard;
  readonly step: Step;
  readonly busy: boolean;
  readonly off: boolean;
  readonly words: Messages["approval"];
  go(step: Step): void;
  decide(decision: ApprovalDecision, comment?: string): void;
  snooze(): void;
}

function Choose({ card, busy, off: offline, words, go, decide, snooze }: DecideProps) {
  const off = !useArmed() || offline;
  const offered = new Set(card.offered);
  return (
    <div class="actions">
      {offered.has("allow-once") && (
        <button type="button" class="button button-primary" disabled={off} onClick={() => decide("allow-once")}>
          {words.allowOnce}
        </button>
      )}
      {offered.has("allow-always") && (
        <button type="button" class="button" disabled={busy} onClick={() => go("confirm-always")}>
          {words.allowAlways}…
        </button>
      )}
      {offered.has("deny") && (
        <>
          <button type="button" class="button button-danger" disabled={off} onClick={() => decide("deny")}>
            {words.deny}
          </button>
          <button type="button" class="quiet-button" disabled={busy} onClick={() => go("give-reason")}>
            {words.denyWithReason}
          </button>
        </>
      )}
      {card.snoozable && !card.snoozes?.some(({ over }) => !over) && (
        <button type="button" class="quiet-button" disabled={off || busy} onClick={snooze}>
          {words.snooze}
        </button>
      )}
      {busy && <Waiting />}
    </div>
  );
}

function BackToChoice({ busy, words, go }: Pick<DecideProps, "busy" | "words" | "go">) {
  return (
    <>
      <button type="button" class="button" disabled={busy} onClick={() => go("choose")}>
        {words.cancel}
      </button>
      {busy && <Waiting />}
    </>
  );
}

function ConfirmAlways({ card, off, busy, words, go, decide }: DecideProps) {
  const confirm = useRef<HTMLButtonElement>(null);
  useLayoutEffect(() => confirm.current?.focus(), []);
  return (
    <fieldset class="step">
      <legend class="off-screen">{words.alwaysConfirmTitle}</legend>
      <StoredRules title={words.alwaysStores} rules={card.always} />
      <div class="actions">
        <button
          ref={confirm}
          type="button"
          class="button button-primary"
          disabled={off}
          onClick={() => decide("allow-always")}
        >
          {words.allowAlways}
        </button>
        <BackToChoice busy={busy} words={words} go={go} />
      </div>
    </fieldset>
  );
}

function GiveReason({ off, busy, words, go, decide }: DecideProps) {
  const [reason, setReason] = useState("");
  const field = useRef<HTMLInputElement>(null);
  useLayoutEffect(() => field.current?.focus(), []);
  return (
    <form
      class="step"
      onSubmit={(event) => {
        event.preventDefault();
        const comment = reason.trim();
        if (!off) decide("deny", comment === "" ? undefined : comment);
      }}
    >
      <label class="step-title">
        {words.reasonLabel}
        <input
          ref={field}
          class="field"
          type="text"
          maxLength={MAX_COMMENT}
          autocomplete="off"
          value={reason}
          onInput={(event) => setReason(event.currentTarget.value)}
        />
      </label>
      <div class="actions">
        <button type="submit" class="button button-danger" disabled={off}>
          {words.deny}
        </button>
        <BackToChoice busy={busy} words={words} go={go} />
      </div>
    </form>
  );
}

export function Decide(props: DecideProps) {
  switch (props.step) {
    case "choose":
      return <Choose {...props} />;
    case "confirm-always":
      return <ConfirmAlways {...props} />;
    case "give-reason":
      return <GiveReason {...props} />;
  }
}
