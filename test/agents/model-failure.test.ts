import { describe, expect, it } from "vitest";
import { classifyFailure, failureSentence } from "../../src/agents/model-failure.ts";
import { inEnglish } from "../../src/core/words/phrase.ts";

const api = (statusCode?: number) => ({ name: "AI_APICallError", message: "the key was sk-secret", statusCode });

describe("why a model gave no answer", () => {
  it.each([
    [api(401), "unauthorized"],
    [api(403), "unauthorized"],
    [api(404), "unknown-model"],
    [api(429), "rate-limited"],
    [api(400), "refused"],
    [api(503), "provider-error"],
    [api(200), "bad-answer"],
    [api(), "unreachable"],
    [{ name: "AI_RetryError", lastError: api(500) }, "provider-error"],
    [new DOMException("late", "TimeoutError"), "timed-out"],
    [{ name: "AI_TypeValidationError" }, "bad-answer"],
    [undefined, "bad-answer"],
  ])("%j is %s", (error, kind) => {
    expect(classifyFailure(error).kind).toBe(kind);
    const said = inEnglish(failureSentence(error, "house/small"));
    expect(said).toContain("house/small");
    expect(said).not.toContain("sk-secret");
  });
});
