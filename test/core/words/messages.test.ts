import { describe, expect, test } from "vitest";
import { LANGUAGES, languageOf } from "../../../src/core/words/languages.ts";
import { messagesFor } from "../../../src/core/words/messages.ts";

describe("language choice", () => {
  test.each([
    ["nl-BE", "nl"],
    ["nl_NL", "nl"],
    ["pt-PT", "pt-BR"],
    ["PT-br", "pt-BR"],
    ["vi", "vi"],
    ["en-US", "en"],
    ["de-DE", undefined],
    [undefined, undefined],
  ])("%s is %s", (locale, language) => {
    expect(languageOf(locale)).toBe(language);
  });

  test("the reader's locale wins over the configured one, and English is the last resort", () => {
    expect(messagesFor("nl", "vi")).toBe(messagesFor("nl-NL"));
    expect(messagesFor("de", "vi")).toBe(messagesFor("vi"));
    expect(messagesFor("de", undefined)).toBe(messagesFor("en"));
  });
});

describe("catalogue", () => {
  /** Slack modal titles hold 24 characters, Slack and Discord button labels 75 and 80. */
  test.each(LANGUAGES)("%s fits the platforms' narrow places", (language) => {
    const { approval, run } = messagesFor(language);
    for (const title of [approval.reasonTitle, approval.cancel, approval.deny])
      expect(title.length).toBeLessThanOrEqual(24);
    const labels = [
      approval.allowOnce,
      approval.allowAlways,
      approval.denyWithReason,
      run.stop,
      run.fullLog,
      run.runAgain,
    ];
    for (const label of labels) expect(label.length).toBeLessThanOrEqual(40);
  });

  test("no sentence of another language is left in English", () => {
    const english = sentences(messagesFor("en"));
    for (const language of LANGUAGES) {
      if (language === "en") continue;
      const same = sentences(messagesFor(language)).filter((text, i) => text === english[i]);
      expect(same.filter((text) => !["ID", "Agent", "Stop"].includes(text))).toEqual([]);
    }
  });
});

function sentences(value: unknown): string[] {
  if (typeof value === "string") return [value];
  if (typeof value === "function") return [String((value as (...args: unknown[]) => unknown)(2, 3))];
  return Object.values(value as object).flatMap(sentences);
}
