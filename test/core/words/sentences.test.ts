/** The catalogue of phrases: complete, with the same values in every language, and fit for the places it is shown in. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { COMMANDS } from "../../../src/commands/registry.ts";
import { LANGUAGES } from "../../../src/core/words/languages.ts";
import { inEnglish, mapWording, type PhraseKey, phrase, type Wording } from "../../../src/core/words/phrase.ts";
import { CATALOGUES, inLanguage } from "../../../src/core/words/say.ts";
import { HOLE, type Template, translation } from "../../../src/core/words/template.ts";

const KEYS = Object.keys(CATALOGUES.en) as PhraseKey[];
const OTHERS = LANGUAGES.filter((language) => language !== "en");
/** Discord's limit for descriptions of commands and options. */
const MAX_DESCRIPTION = 100;

/** Technical words and bare patterns that are the same everywhere. */
const SAME = new Set<string>([
  "subject.quoted",
  "policy.agent",
  "status.gateway",
  "status.gateway.value",
  "state.connected",
  "time.seconds",
  "time.minutes",
  "time.hours",
  "cron.times",
  "pairing.code",
  "cron.in",
  "whoami.chat",
  "whoami.thread",
  "whoami.agent",
  "subject.script",
  "session.note",
  "session.how.code",
  "layer.config:tools.exec",
  "layer.host-file:defaults",
  "layer.host-file:*",
  "revoke.rule",
]);

const wordings = (template: Template): string[] =>
  typeof template === "string" ? [template] : Object.values(template);
const holes = (text: string): string[] => [...text.matchAll(HOLE)].map((match) => match[1] ?? "");
const holesOf = (template: Template): string[] => {
  const found = new Set(wordings(template).flatMap(holes));
  if (typeof template !== "string") found.add("count");
  return [...found].sort();
};

describe("the catalogue", () => {
  test.each(OTHERS)("%s has every sentence, and none of its own", (language) => {
    expect(Object.keys(CATALOGUES[language]).sort()).toEqual([...KEYS].sort());
  });

  test.each(OTHERS)("%s needs the same values as English in every sentence", (language) => {
    const differing = KEYS.filter(
      (key) => String(holesOf(CATALOGUES[language][key])) !== String(holesOf(CATALOGUES.en[key])),
    );
    expect(differing).toEqual([]);
  });

  test.each(OTHERS)("%s leaves no sentence in English", (language) => {
    const same = KEYS.filter((key) => {
      const [said, english] = [CATALOGUES[language][key], CATALOGUES.en[key]].map((one) => String(wordings(one)));
      return said === english && /[a-z]{3}/i.test(String(english).replace(HOLE, ""));
    });
    expect(same.filter((key) => !SAME.has(key))).toEqual([]);
  });

  test.each(LANGUAGES)(
    "%s: each plural form is a form of that language, and only `one` may leave the number out",
    (language) => {
      const known = new Intl.PluralRules(language).resolvedOptions().pluralCategories;
      for (const key of KEYS) {
        const template = CATALOGUES[language][key];
        if (typeof template === "string") continue;
        for (const [form, text] of Object.entries(template)) {
          // Vietnamese has no plural: a second form there could never be said, unless it says the same.
          if (!(known as string[]).includes(form)) expect(text, key).toBe(template.other);
          if (form !== "one" && holes(text).length > 0 && /count/.test(template.other))
            expect(text, key).toContain("{count}");
        }
      }
    },
  );

  test.each(LANGUAGES)("%s ends sentences and keeps commands as English does", (language) => {
    for (const key of KEYS) {
      const [said, english] = [CATALOGUES[language][key], CATALOGUES.en[key]].map((one) => wordings(one).at(-1) ?? "");
      expect(said?.endsWith("."), key).toBe(english?.endsWith("."));
      const typed = (text = "") => [
        ...text.matchAll(/(?<![\w<{])\/(?:exec|help|status|whoami|process|pair|cron|stop|approve)\b/g),
      ];
      expect(new Set(typed(said).map(String)), key).toEqual(new Set(typed(english).map(String)));
    }
  });

  test.each(LANGUAGES)("%s: commands and options fit Discord's descriptions", (language) => {
    for (const command of COMMANDS) {
      for (const text of [command.summary, ...command.options.map((option) => option.description)]) {
        expect(inLanguage(text, language).length, inLanguage(text, language)).toBeLessThanOrEqual(MAX_DESCRIPTION);
      }
    }
  });

  test("a translation that misses a value or has one too many is a type error", () => {
    const pattern = { "a.b": "{count} of {total}", c: "plain" } as const;
    translation<typeof pattern>()({ "a.b": "{total}: {count}", c: "gewoon" });
    // @ts-expect-error {total} is missing
    translation<typeof pattern>()({ "a.b": "{count}", c: "gewoon" });
    // @ts-expect-error {more} is not in the pattern
    translation<typeof pattern>()({ "a.b": "{count} {total} {more}", c: "gewoon" });
    // @ts-expect-error c is missing
    translation<typeof pattern>()({ "a.b": "{count} {total}" });
    // @ts-expect-error d is not in the pattern
    translation<typeof pattern>()({ "a.b": "{count} {total}", c: "gewoon", d: "te veel" });
    // @ts-expect-error a sentence without its value
    expect(phrase("approve.allowed").text).toBe("Allowed .");
    // @ts-expect-error a value that the sentence does not have
    expect(phrase("stop.nothing", { slug: "x" }).text).toMatch(/^Nothing/);
  });
});

describe("a phrase", () => {
  test("is its English sentence and, for each reader, one in their language", () => {
    const said = phrase("request.denied", { slug: "1a2b3c4d", who: "alice (slack)" });
    expect(inEnglish(said)).toBe("1a2b3c4d was denied by alice (slack); it did not run.");
    expect(inLanguage(said, "nl")).toBe("1a2b3c4d is geweigerd door alice (slack); het is niet uitgevoerd.");
    expect(inLanguage(said, "pt-BR")).toBe("1a2b3c4d foi negado por alice (slack); não foi executado.");
    expect(inLanguage(said, "vi")).toBe("1a2b3c4d đã bị alice (slack) từ chối; lệnh không chạy.");
  });

  test.each([
    ["en", "Stopped 1 command and 2 waiting requests."],
    ["nl", "Gestopt: 1 opdracht en 2 wachtende verzoeken."],
    ["pt-BR", "Interrompido: 1 comando e 2 pedidos pendentes."],
    ["vi", "Đã dừng 1 lệnh và 2 yêu cầu đang chờ."],
  ] as const)("holds phrases, each with its own plural, in %s", (language, sentence) => {
    const what = phrase("list.and", {
      first: [phrase("stop.commands", { count: 1 })],
      last: phrase("stop.requests", { count: 2 }),
    });
    expect(inLanguage(phrase("stop.done", { what }), language)).toBe(sentence);
  });

  test("survives the queue, and a version that no longer knows its key shows the English", () => {
    const stored = JSON.parse(JSON.stringify(phrase("chat.log", { session: "quiet-otter" }))) as Wording;
    expect(inLanguage(stored, "nl")).toBe("Volledig logboek van quiet-otter.");
    expect(inLanguage({ ...(stored as object), phrase: "gone" } as unknown as Wording, "nl")).toBe(
      "Full log of quiet-otter.",
    );
  });

  test("takes values as they are: braces, dollars and other keys in them stay", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), fc.constantFrom(...LANGUAGES), (name, language) => {
        const value = `${name}{near}$1{count}`;
        const said = inLanguage(phrase("chat.noSuchCommand", { name: value }), language);
        expect(said).toBe(
          inLanguage(phrase("chat.noSuchCommand", { name: "@@" }), language).replace("@@", () => value),
        );
      }),
    );
  });

  test("is masked in its values and in its English", () => {
    const secret = "xoxb-1";
    const said: Wording = {
      lines: [
        phrase("error.exec.denied", { why: phrase("subject.quoted", { text: secret }), layer: [secret] }),
        secret,
      ],
    };
    expect(JSON.stringify(mapWording(said, (text) => text.replaceAll(secret, "•••")))).not.toContain(secret);
  });
});
