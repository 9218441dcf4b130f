/** What zod refuses is told in the reader's language. */
import { describe, expect, it } from "vitest";
import * as z from "zod";
import { issueWording } from "../../../src/core/words/issues.ts";
import { LANGUAGES } from "../../../src/core/words/languages.ts";
import { inLanguage } from "../../../src/core/words/say.ts";

const refused = (schema: z.ZodType, value: unknown) => {
  const [issue] = schema.safeParse(value).error?.issues ?? [];
  if (!issue) throw new Error("this is accepted");
  return issueWording(issue);
};

describe("a refused value in words", () => {
  it.each([
    ["a type", z.number(), "x", "it must be a number", "het moet een getal zijn"],
    ["a number in text", z.coerce.number(), "wide", "it must be a number", "het moet een getal zijn"],
    ["the least", z.number().min(3), 1, "it must be 3 or more", "het moet 3 of meer zijn"],
    ["more than", z.number().gt(3), 3, "it must be more than 3", "het moet meer zijn dan 3"],
    ["the most", z.number().max(3), 9, "it must be 3 or less", "het moet 3 of minder zijn"],
    ["no text", z.string().min(1), "", "it must not be empty", "het mag niet leeg zijn"],
    ["too long", z.string().max(2), "abc", "it may have 2 characters at most", "er passen hoogstens 2 tekens"],
    ["a choice", z.enum(["a", "b"]), "c", "it must be one of a, b", "het moet een van a, b zijn"],
    ["a key", z.strictObject({}), { colour: 1 }, "unknown: colour", "onbekend: colour"],
  ])("%s", (_what, schema, value, english, dutch) => {
    const wording = refused(schema, value);
    expect(inLanguage(wording, "en")).toBe(english);
    expect(inLanguage(wording, "nl")).toBe(dutch);
    for (const language of LANGUAGES) expect(inLanguage(wording, language)).not.toMatch(/Invalid|expected|Too /);
  });

  it("what a schema says in words of its own stays", () => {
    expect(refused(z.string().regex(/x/, "needs an x"), "y")).toBe("needs an x");
  });
});
