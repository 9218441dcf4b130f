/** The automatic reviewer of mode `auto`, with the model that the agent's settings name; without one a person is asked. */
import { openModel } from "../agents/model.ts";
import type { Config } from "../core/config/schema.ts";
import type { ExecToolOptions } from "../core/exec/exec-tool.ts";
import { type ReviewerModel, review } from "../core/policy/reviewer.ts";

export function reviewWith(
  config: () => Config,
  keys: Readonly<Record<string, string>>,
  onError: (error: unknown, what: string) => void,
): ExecToolOptions["review"] {
  return (decision, input, settings) => {
    const { model: name, timeoutMs } = settings.exec.reviewer;
    let model: ReviewerModel | undefined;
    try {
      model = name === undefined ? undefined : openModel({ name, providers: config().models.providers, keys });
    } catch (error) {
      onError(error, "opening the reviewer's model; a person is asked");
    }
    return review(decision, input, {
      model,
      signal: AbortSignal.timeout(timeoutMs),
      nonce: crypto.randomUUID(),
    });
  };
}
