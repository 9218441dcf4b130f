/** The automatic reviewer of mode `auto`, with the model that the agent's settings name; without one a person is asked. */
import { failureSentence } from "../agents/model-failure.ts";
import { reviewerModel } from "../agents/reviewer-model.ts";
import type { Config } from "../core/config/schema.ts";
import type { ExecToolOptions } from "../core/exec/exec-tool.ts";
import { type ReviewerModel, review } from "../core/policy/reviewer.ts";
import { inEnglish } from "../core/words/phrase.ts";

export function reviewWith(
  config: () => Config,
  keys: Readonly<Record<string, string>>,
  onTrouble: (why: string) => void,
): ExecToolOptions["review"] {
  function open(name: string): ReviewerModel {
    const model = reviewerModel({ name, providers: config().models.providers, keys });
    return {
      complete: (request) =>
        model.complete(request).catch((error) => {
          onTrouble(inEnglish(failureSentence(error, name)));
          throw error;
        }),
    };
  }
  return (decision, input, settings) => {
    const { model: name, timeoutMs } = settings.exec.reviewer;
    return review(decision, input, {
      model: name === undefined ? undefined : open(name),
      signal: AbortSignal.timeout(timeoutMs),
      nonce: crypto.randomUUID(),
    });
  };
}
