import { readFile } from "node:fs/promises";
import { describe, expect, test } from "vitest";

/** WCAG 2.2, success criterion 1.4.3: text against its background. */
const MIN_CONTRAST = 4.5;

const css = await readFile(new URL("../../src/web/styles/theme.css", import.meta.url), "utf8");

/** The colours of one of the two pages. */
function tokens(page: "light" | "dark"): ReadonlyMap<string, string> {
  const found = css.matchAll(/(--[\w-]+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\);/g);
  return new Map([...found].map(([, name = "", light = "", dark = ""]) => [name, page === "light" ? light : dark]));
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

describe.each(["light", "dark"] as const)("colours: %s", (page) => {
  const values = tokens(page);
  test.each(PAIRS)("%s can be read on %s", (text, background) => {
    expect(contrast(values.get(text) ?? "", values.get(background) ?? "")).toBeGreaterThanOrEqual(MIN_CONTRAST);
  });
});
