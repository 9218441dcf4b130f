/** What people read of an agent's turns besides its own words. */

export interface Words {
  readonly text: string;
  readonly hint?: string;
}

export interface AgentWords {
  cut(dispatched: readonly string[]): Words;
  gaveUp(starts: number): Words;
  failed(why: string, dispatched: readonly string[]): Words;
  timedOut(seconds: number): Words;
  cutShort(by: "length" | "filter" | "steps"): string;
  noWords(): string;
  /** A heartbeat that found nothing, where `showOk` wants it said. */
  nothingToReport(): string;
}

/** So many calls are named one by one. */
const MAX_NAMED = 5;

const started = (dispatched: readonly string[]): string => {
  const named = dispatched.slice(-MAX_NAMED).map((one) => `\`${one.replaceAll("`", "'")}\``);
  const more = dispatched.length - named.length;
  return `${named.join(", ")}${more > 0 ? ` and ${more} before` : ""}`;
};

const ENGLISH: AgentWords = {
  cut: (dispatched) => ({
    text: `The gateway was stopped while I worked on this. Already started: ${started(dispatched)}. It is not repeated by itself.`,
    hint: "Ask me to go on, and I look first at what was done.",
  }),
  gaveUp: (starts) => ({
    text: `The gateway was stopped ${starts} times while I thought about this, so I leave it. Nothing was run.`,
    hint: "Ask again when you like.",
  }),
  failed: (why, dispatched) => ({
    text: `No answer: ${why}${dispatched.length > 0 ? ` Already started: ${started(dispatched)}.` : " Nothing was run."}`,
    hint: "Commands still work: /exec ls -la",
  }),
  timedOut: (seconds) => ({
    text: `I was not done after ${seconds} seconds, so the turn was ended.`,
    hint: "agents.defaults.turn.timeoutSec sets how long a turn may take.",
  }),
  cutShort: (by) =>
    ({
      length: "(The answer is cut here: it reached agents.defaults.turn.maxOutputTokens.)",
      filter: "(The provider's filter ended the answer here.)",
      steps: "(I stopped here: the turn reached agents.defaults.turn.maxSteps. Ask me to go on.)",
    })[by],
  noWords: () => "(The model gave no words for an answer.)",
  nothingToReport: () => "Heartbeat: nothing to report.",
};

export function agentWords(..._locales: readonly (string | undefined)[]): AgentWords {
  return ENGLISH;
}
