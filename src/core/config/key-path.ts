/**
 * Names of configuration keys as people write them: `agents.list[0].tools.exec.node`, `channels.slack.channels["C1"]`.
 * Dots separate names, brackets hold an index or a quoted name, and a name with a dot in it must be quoted.
 */
import { ExecError } from "../errors.ts";

export type KeyPath = readonly (string | number)[];

const PLAIN_NAME = /^[A-Za-z_$*-][A-Za-z0-9_$*-]*$/;
const QUOTED = /^\[\s*("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')\s*\]/;
const INDEX = /^\[\s*(\d{1,9})\s*\]/;
const NAME = /^[^.[\]"'\s]+/;

/** @throws ExecError `invalid-argument` that points at the character that does not fit. */
export function parseKeyPath(source: string): KeyPath {
  const path: (string | number)[] = [];
  let rest = source.trim();
  const fail = (why: string): never => {
    const at = source.trim().length - rest.length;
    throw new ExecError(
      "invalid-argument",
      `"${source}" is not a key: ${why} at character ${at + 1}. Write it like tools.exec.mode or agents.list[0].tools.exec.node.`,
    );
  };
  if (rest === "") fail("it is empty");
  while (rest !== "") {
    const index = INDEX.exec(rest);
    const quoted = index ? null : QUOTED.exec(rest);
    if (index?.[1] !== undefined) {
      path.push(Number(index[1]));
      rest = rest.slice(index[0].length);
    } else if (quoted?.[1] !== undefined) {
      path.push(unquote(quoted[1]));
      rest = rest.slice(quoted[0].length);
    } else if (rest.startsWith("[")) {
      fail('expected an index or a quoted name, such as [0] or ["name"],');
    } else {
      if (path.length > 0) {
        if (!rest.startsWith(".")) fail('expected "." or "["');
        rest = rest.slice(1);
      }
      const name = NAME.exec(rest);
      if (!name) fail("expected a name");
      const word = name?.[0] ?? "";
      // `agents.list.0.id` is how many other tools write an index.
      path.push(path.length > 0 && /^(0|[1-9]\d{0,8})$/.test(word) ? Number(word) : word);
      rest = rest.slice(word.length);
    }
  }
  return path;
}

function unquote(literal: string): string {
  return literal.slice(1, -1).replace(/\\(.)/g, "$1");
}

/** The inverse of `parseKeyPath`. */
export function formatKeyPath(path: readonly PropertyKey[]): string {
  let text = "";
  for (const part of path) {
    if (typeof part === "number") text += `[${part}]`;
    else if (PLAIN_NAME.test(String(part))) text += text === "" ? String(part) : `.${String(part)}`;
    else text += `["${String(part).replace(/["\\]/g, "\\$&")}"]`;
  }
  return text;
}

/** The value at a path, or undefined. An index also finds the member of an object that is named with digits. */
export function valueAt(root: unknown, path: readonly PropertyKey[]): unknown {
  let value = root;
  for (const part of path) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, part)) return undefined;
    value = Reflect.get(value, part);
  }
  return value;
}
