/** One completion for the automatic reviewer; it never sees a chat, a file or the value of a variable. */
import type { ReviewerModel } from "../core/policy/reviewer.ts";
import { type ModelOptions, openModel } from "./provider.ts";

/** Whatever goes wrong rejects, and then a person is asked: one try, since somebody waits. */
export function reviewerModel(options: ModelOptions): ReviewerModel {
  return {
    async complete({ system, prompt, temperature, maxTokens, signal }) {
      const model = await openModel(options);
      const { generateText } = await import("ai");
      const { text, finishReason } = await generateText({
        model,
        system,
        prompt,
        temperature,
        maxOutputTokens: maxTokens,
        maxRetries: 0,
        abortSignal: signal,
      });
      return { text, complete: finishReason === "stop" };
    },
  };
}
