import { readFile } from "node:fs/promises";
import { describe, expect, test } from "vitest";

/** WCAG 2.2, success criterion 1.4.3: text against its background. */
const MIN_CONTRAST = 4.5;

const css = await readFile(new URL("../../src/web/styles/theme.css", import.meta.url), "utf8");

function tokens(from: string): ReadonlyMap<string, string> {
  const block = css.slice(css.indexOf(from), css.indexOf("\n}", css.indexOf(from)));
  return new Map(
    [...block.matchAll(/(--[\w-]+):\s*(#[0-9a-f]{6});/g)].map(([, name = "", value = ""]) => [name, value]),
  );
}

function luminance(hex: string): number {
  const [r = 0, g = 0, b = 0] = [1, 3, 5].map((at) => {
    const part = Number.parseInt(hex.slice(at, at + 2), 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

function contrast(one: string, other: string): number {
  const [light = 0, dark = 0] = [luminance(one), luminance(other)].sort((a, b) => b - a);
  return (light + 0.05) / (dark + 0.05);
}

const PAIRS: readonly (readonly [text: string, background: string])[] = [
  ...["--text", "--soft", "--faint"].flatMap((text) =>
    ["--page", "--raised", "--sunken"].map((background) => [text, background] as const),
  ),
  ["--text", "--accent-wash"],
  ["--text", "--hover"],
  ["--on-accent", "--accent"],
  ["--on-accent", "--accent-hover"],
  ["--accent", "--sunken"],
  ["--good", "--good-wash"],
  ["--bad", "--bad-wash"],
  ["--bad", "--raised"],
  ["--warn", "--warn-wash"],
  ["--warn", "--raised"],
  ...Array.from({ length: 16 }, (_, at) => [`--ansi-${at}`, "--sunken"] as const),
];

describe.each([
  ["light", ":root {"],
  ["dark, by the device", ':root:not([data-theme="light"])'],
  ["dark, chosen", ':root[data-theme="dark"]'],
])("colours: %s", (_, from) => {
  const values = tokens(from);
  test.each(PAIRS)("%s can be read on %s", (text, background) => {
    expect(contrast(values.get(text) ?? "", values.get(background) ?? "")).toBeGreaterThanOrEqual(MIN_CONTRAST);
  });
});

test("dark is the same whether the device or a person chose it", () => {
  expect(tokens(':root[data-theme="dark"]')).toEqual(tokens(':root:not([data-theme="light"])'));
});
