/** What people read of an agent's turns besides its own words. */
import { type Phrase, phrase, type Wording } from "../core/words/phrase.ts";

export interface Words {
  readonly text: Wording;
  readonly hint?: Wording;
}

/** So many calls are named one by one. */
const MAX_NAMED = 5;

function started(dispatched: readonly string[]): Wording {
  const named = dispatched.slice(-MAX_NAMED).map((one) => `\`${one.replaceAll("`", "'")}\``);
  const more = dispatched.length - named.length;
  const calls = named.join(", ");
  return more > 0 ? phrase("agent.callsAndMore", { calls, more }) : calls;
}

export function wordsOfCut(dispatched: readonly string[]): Words {
  return { text: phrase("agent.cut", { calls: started(dispatched) }), hint: phrase("agent.cut.hint") };
}

export function wordsOfGivingUp(starts: number): Words {
  return { text: phrase("agent.gaveUp", { starts }), hint: phrase("agent.gaveUp.hint") };
}

export function wordsOfFailure(why: Wording, dispatched: readonly string[]): Words {
  return {
    text:
      dispatched.length > 0
        ? phrase("agent.failed.after", { why, calls: started(dispatched) })
        : phrase("agent.failed", { why }),
    hint: phrase("agent.failed.hint"),
  };
}

export function wordsOfTimeout(seconds: number): Words {
  return { text: phrase("agent.timedOut", { seconds }), hint: phrase("agent.timedOut.hint") };
}

export function wordsOfShortAnswer(by: "length" | "filter" | "steps"): Phrase {
  return phrase(`agent.short.${by}`);
}
