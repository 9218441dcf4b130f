import fc from "fast-check";
import JSON5 from "json5";
import { describe, expect, test } from "vitest";
import { type KeyPath, parseKeyPath } from "../../../src/core/config/key-path.ts";
import { STARTER_CONFIG } from "../../../src/core/config/starter.ts";
import { type Edit, editText } from "../../../src/core/config/text-edit.ts";

const set = (text: string, key: string, value: unknown) =>
  editText(text, { kind: "set", path: parseKeyPath(key), value });
const unset = (text: string, key: string) => editText(text, { kind: "unset", path: parseKeyPath(key) });

describe("setting a key", () => {
  test.each([
    ["replaces a value and nothing else", "{\n  a: 1, // one\n  b: 2,\n}\n", "a", 7, "{\n  a: 7, // one\n  b: 2,\n}\n"],
    ["adds after the last line", "{\n  a: 1, // one\n}\n", "b", 2, "{\n  a: 1, // one\n  b: 2,\n}\n"],
    ["adds the missing comma", "{\n  a: 1 // one\n}\n", "b", 2, "{\n  a: 1, // one\n  b: 2,\n}\n"],
    ["keeps the indentation of the neighbours", "{\n    a: 1,\n}", "b", 2, "{\n    a: 1,\n    b: 2,\n}"],
    ["stays on one line", "{ a: 1 }", "b", 2, "{ a: 1, b: 2 }"],
    ["stays on one line after a comma", "{ a: 1, }", "b", 2, "{ a: 1, b: 2 }"],
    ["makes the groups on the way", "{}", "a.b", true, "{\n  a: {\n    b: true,\n  },\n}"],
    ["adds before a closing remark", "{\n  a: 1,\n  // end\n}", "b", 2, "{\n  a: 1,\n  // end\n  b: 2,\n}"],
    ["appends to a list", '{ l: ["x"] }', "l[1]", "y", '{ l: ["x", "y"] }'],
    ["quotes a name that needs it", "{}", 'a["b c"]', 1, '{\n  a: {\n    "b c": 1,\n  },\n}'],
    ["writes below the remarks of an empty file", "// mine\n", "a", 1, "// mine\n{\n  a: 1,\n}\n"],
    ["writes an empty file", "", "a", 1, "{\n  a: 1,\n}\n"],
    ["keeps a byte order mark", "\uFEFF{ a: 1 }", "a", 2, "\uFEFF{ a: 2 }"],
    ["does not take a slash in text for a remark", '{ u: "http://x", }', "v", 1, '{ u: "http://x", v: 1 }'],
  ])("%s", (_name, before, key, value, after) => {
    const edited = set(before, key, value);
    expect(JSON5.parse(edited.text.replace(/^\uFEFF/, ""))).toEqual(JSON5.parse(after.replace(/^\uFEFF/, "")));
    expect(edited).toMatchObject({ changed: true, commentsLost: false });
    expect(edited.text.replaceAll(/,(\s*[}\]])/g, "$1")).toBe(after.replaceAll(/,(\s*[}\]])/g, "$1"));
  });

  test("to what it already is changes not a byte", () => {
    const text = "{ a :\t1 /* odd */ }";
    expect(set(text, "a", 1)).toEqual({ text, changed: false, commentsLost: false });
  });

  test.each([
    ["{ a: 1 }", "a.b", "single value"],
    ["{ l: [] }", "l.name", "list"],
    ["{ l: [] }", "l[2]", "l[0]"],
  ])("%s %s does not fit and says why", (text, key, message) => {
    expect(() => set(text, key, 1)).toThrow(message);
  });
});

describe("unsetting a key", () => {
  test.each([
    ["takes its line and the remark on it", "{\n  a: 1, // one\n  b: 2, // two\n}\n", "a", "{\n  b: 2, // two\n}\n"],
    ["takes the last one", "{\n  a: 1,\n  b: 2\n}\n", "b", "{\n  a: 1,\n}\n"],
    ["keeps the remark above", "{\n  // about a\n  a: 1,\n}", "a", "{\n  // about a\n}"],
    ["on one line", "{ a: 1, b: 2 }", "a", "{ b: 2 }"],
    ["the last on one line", "{ a: 1, b: 2 }", "b", "{ a: 1 }"],
    ["a list entry", "[1, 2, 3]", "[1]", "[1, 3]"],
  ])("%s", (_name, before, key, after) => {
    expect(unset(before, key)).toEqual({ text: after, changed: true, commentsLost: false });
  });

  test("that is not there says so", () => {
    expect(() => unset("{ a: {} }", "a.b.c")).toThrow("a.b.c is not set");
  });
});

test("the starter configuration keeps every remark through a day of changes", () => {
  const remarks = STARTER_CONFIG.match(/\/\/.*/g) ?? [];
  let text = STARTER_CONFIG;
  for (const [key, value] of [
    ["tools.exec.mode", "auto"],
    ["tools.exec.timeoutSec", 60],
    ["commands.ownerAllowFrom[0]", "slack:U1"],
    ["channels.slack.allowFrom", ["U1", "U2"]],
    ["agents.list[0].id", "main"],
    ["agents.list[0].tools.exec.node", "mac-1"],
  ] as const) {
    text = set(text, key, value).text;
  }
  text = unset(text, "channels.slack").text;
  for (const remark of remarks) expect(text).toContain(remark);
  expect(JSON5.parse(text)).toEqual({
    tools: { exec: { mode: "auto", timeoutSec: 60 } },
    commands: { ownerAllowFrom: ["slack:U1"] },
    channels: {},
    agents: { list: [{ id: "main", tools: { exec: { node: "mac-1" } } }] },
  });
});

describe("any document in any layout", () => {
  type Json = number | string | boolean | null | Json[] | { [key: string]: Json };
  const name = fc.constantFrom("a", "b", "long-name", "x y", "0", "__proto__", "$k", "ü");
  const { value } = fc.letrec<{ value: Json; object: { [key: string]: Json } }>((tie) => ({
    value: fc.oneof(
      { depthSize: "small" },
      fc.constantFrom<Json>(0, -1.5, true, null, "", "text", "// no remark", "/* nor this */", "q\"'", "a\nb"),
      fc.array(tie("value"), { maxLength: 3 }),
      tie("object"),
    ),
    object: fc.dictionary(name, tie("value"), { maxKeys: 4 }),
  }));
  const root = fc.dictionary(name, value, { maxKeys: 4 });

  /** Renders with remarks, quotes, commas and line breaks of every kind; `dice` gives the layout. */
  function render(json: Json, dice: () => number, remarks: string[]): string {
    const trivia = () => {
      const kind = dice() % 7;
      if (kind > 3) return [" ", "\n  ", "\t"][kind - 4] ?? "";
      if (kind > 1) return "";
      const remark = kind === 0 ? `/* ${remarks.length} */` : `// ${remarks.length}`;
      remarks.push(remark);
      return kind === 0 ? remark : `${remark}\n`;
    };
    const wrap = (text: string) => `${trivia()}${text}${trivia()}`;
    const join = (parts: string[]) => parts.join(",") + (parts.length > 0 && dice() % 2 === 0 ? "," : "");
    if (Array.isArray(json)) return `[${join(json.map((entry) => wrap(render(entry, dice, remarks))))}${trivia()}]`;
    if (typeof json === "object" && json !== null) {
      const members = Object.entries(json).map(([key, entry]) => {
        const written = /^[a-z$]\w*$/i.test(key) && dice() % 2 === 0 ? key : JSON.stringify(key);
        return `${wrap(written)}:${wrap(render(entry, dice, remarks))}`;
      });
      return `{${join(members)}${trivia()}}`;
    }
    return JSON.stringify(json);
  }

  function dice(seed: number): () => number {
    let state = seed >>> 0;
    return () => {
      state = (Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x9e3779b9) >>> 0;
      return state >>> 8;
    };
  }

  function* paths(json: Json, at: KeyPath = []): Generator<KeyPath> {
    if (at.length > 0) yield at;
    if (Array.isArray(json)) for (const [index, entry] of json.entries()) yield* paths(entry, [...at, index]);
    else if (typeof json === "object" && json !== null) {
      for (const [key, entry] of Object.entries(json)) yield* paths(entry, [...at, key]);
    }
  }

  const parse = (text: string): unknown => JSON5.parse(text);

  test("setting changes that key alone and keeps the remarks outside of it", () => {
    fc.assert(
      fc.property(root, value, fc.nat(), fc.nat(), name, (document, fresh, seed, pick, newName) => {
        const remarks: string[] = [];
        const text = render(document, dice(seed), remarks);
        const known = [...paths(document)];
        const path: KeyPath =
          known.length > 0 && pick % 3 > 0 ? (known[pick % known.length] ?? []) : [newName, "inner"];
        const edit: Edit = { kind: "set", path, value: fresh };
        let edited: ReturnType<typeof editText>;
        try {
          edited = editText(text, edit);
        } catch (error) {
          expect(String(error)).toMatch(/single value|is a list/);
          return;
        }
        expect(parse(edited.text)).toEqual(withValue(parse(text), path, fresh));
        expect(edited.commentsLost).toBe(false);
        const isNew = !known.some((other) => other.join() === path.join());
        if (isNew) for (const remark of remarks) expect(edited.text).toContain(remark);
      }),
      { numRuns: 400 },
    );
  });

  test("unsetting removes that key alone", () => {
    fc.assert(
      fc.property(root, fc.nat(), fc.nat(), (document, seed, pick) => {
        const known = [...paths(document)];
        const path = known[pick % Math.max(1, known.length)];
        if (path === undefined) return;
        const text = render(document, dice(seed), []);
        const edited = editText(text, { kind: "unset", path });
        expect(parse(edited.text)).toEqual(without(parse(text), path));
        expect(edited.commentsLost).toBe(false);
      }),
      { numRuns: 400 },
    );
  });

  /** The model: copies on the way down instead of changing anything. */
  function withValue(json: unknown, [part, ...rest]: KeyPath, fresh: unknown): unknown {
    if (part === undefined) return fresh;
    const inner = (holder: object) => withValue(Object.getOwnPropertyDescriptor(holder, part)?.value, rest, fresh);
    if (Array.isArray(json)) return Object.assign([...json], { [part]: inner(json) });
    const holder = typeof json === "object" && json !== null ? json : {};
    return Object.fromEntries([...Object.entries(holder).filter(([key]) => key !== part), [part, inner(holder)]]);
  }

  function without(json: unknown, [part, ...rest]: KeyPath): unknown {
    if (Array.isArray(json)) {
      return json.flatMap((entry, index) => (index !== part ? [entry] : rest.length > 0 ? [without(entry, rest)] : []));
    }
    return Object.fromEntries(
      Object.entries(json as object).flatMap(([key, entry]) => {
        if (key !== part) return [[key, entry]];
        return rest.length > 0 ? [[key, without(entry, rest)]] : [];
      }),
    );
  }
});
