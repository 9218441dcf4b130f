/** Shell variables in the code of a script, strings and comments left out. Pure. */

export type Finding =
  | { readonly kind: "shell-variable"; readonly variable: string; readonly line: number }
  | { readonly kind: "shell-syntax"; readonly line: number };

const VARIABLE = /\$[A-Z_][A-Z0-9_]*/;

export function pythonFinding(source: string): Finding | undefined {
  const code = pythonCode(source);
  const hit = VARIABLE.exec(code);
  return hit === null ? undefined : { kind: "shell-variable", variable: hit[0], line: lineAt(source, hit.index) };
}

export function nodeFinding(source: string): Finding | undefined {
  const lines = source.split("\n");
  const first = lines.findIndex((line) => line.trim() !== "");
  const opening = lines[first]?.trim() ?? "";
  if (
    /^NODE\b/.test(opening) ||
    /^[A-Z_][A-Z0-9_]*=\S*\s+node\b/.test(opening) ||
    /^#!.*\/(env )?(ba|da|z)?sh\b/.test(opening)
  ) {
    return { kind: "shell-syntax", line: first + 1 };
  }
  const code = nodeCode(source);
  for (const hit of code.matchAll(new RegExp(`(?<![\\w$.])${VARIABLE.source}(?![\\w$])`, "g"))) {
    // `$NAME` is a legal name in JavaScript: only one that is never given a value is a slip.
    if (!isDeclared(code, hit[0])) {
      return { kind: "shell-variable", variable: hit[0], line: lineAt(source, hit.index) };
    }
  }
  return undefined;
}

function isDeclared(code: string, name: string): boolean {
  const word = `${name.replaceAll("$", "\\$")}(?![\\w$])`;
  return [
    `\\b(const|let|var|function\\*?|class|import|export|catch)\\b[^;]*?${word}`,
    `${word}\\s*(=(?!=)|=>|:)`,
    `\\([^()]*${word}[^()]*\\)\\s*(=>|\\{)`,
  ].some((pattern) => new RegExp(pattern).test(code));
}

function lineAt(source: string, index: number): number {
  return source.slice(0, index).split("\n").length;
}

/** The same length as `source`, with strings and comments blanked; expressions inside f-strings stay. */
function pythonCode(source: string): string {
  const out = source.split("");
  const blank = (from: number, to: number): void => {
    for (let at = from; at < to; at++) if (out[at] !== "\n") out[at] = " ";
  };
  /** Scans code from `at` to the end, or to the bracket that closes an f-string's expression. */
  const scan = (start: number, inExpression: boolean): number => {
    let depth = 0;
    let at = start;
    while (at < source.length) {
      const char = source[at] as string;
      if (inExpression && depth === 0 && char === "}") return at;
      if ("([{".includes(char)) depth++;
      if (")]}".includes(char)) depth--;
      if (char === "#" && !inExpression) {
        const end = source.indexOf("\n", at);
        const to = end < 0 ? source.length : end;
        blank(at, to);
        at = to;
        continue;
      }
      const opening = /^([A-Za-z]{0,2})("""|'''|"|')/.exec(source.slice(at, at + 5));
      const before = source[at - 1] ?? " ";
      if (opening !== null && !/\w/.test(before)) at = text(at, opening[1] ?? "", opening[2] ?? '"');
      else if (char === '"' || char === "'") at = text(at, "", char);
      else at++;
    }
    return at;
  };
  const text = (start: number, prefix: string, quote: string): number => {
    const formatted = /[ft]/i.test(prefix);
    let at = start + prefix.length + quote.length;
    let from = start;
    while (at < source.length) {
      if (source.startsWith(quote, at)) {
        at += quote.length;
        break;
      }
      if (quote.length === 1 && source[at] === "\n") break;
      if (source[at] === "\\") at += 2;
      else if (formatted && source[at] === "{" && source[at + 1] === "{") at += 2;
      else if (formatted && source[at] === "{") {
        blank(from, at + 1);
        at = scan(at + 1, true);
        from = at;
      } else at++;
    }
    blank(from, Math.min(at, source.length));
    return at;
  };
  scan(0, false);
  return out.join("");
}

/** The same for JavaScript: strings, comments and regular expressions blanked; `${…}` of templates stays. */
function nodeCode(source: string): string {
  const out = source.split("");
  const blank = (from: number, to: number): void => {
    for (let at = from; at < to; at++) if (out[at] !== "\n") out[at] = " ";
  };
  const skipTo = (at: number, end: number): number => {
    const to = end < 0 ? source.length : end;
    blank(at, to);
    return to;
  };
  const scan = (start: number, inTemplate: boolean): number => {
    let depth = 0;
    let at = start;
    let last = "";
    while (at < source.length) {
      const char = source[at] as string;
      if (inTemplate && depth === 0 && char === "}") return at;
      if (char === "{") depth++;
      if (char === "}") depth--;
      if (source.startsWith("//", at)) at = skipTo(at, source.indexOf("\n", at));
      else if (source.startsWith("/*", at)) {
        const end = source.indexOf("*/", at + 2);
        at = skipTo(at, end < 0 ? -1 : end + 2);
      } else if (char === '"' || char === "'") at = quoted(at, char);
      else if (char === "`") at = template(at);
      else if (char === "/" && /^[(,=:[!&|?{};+\-*%<>~^]?$/.test(last)) at = pattern(at);
      else {
        if (!/\s/.test(char)) last = char;
        at++;
        continue;
      }
      last = "x";
    }
    return at;
  };
  const quoted = (start: number, quote: string): number => {
    let at = start + 1;
    while (at < source.length && source[at] !== quote && source[at] !== "\n") at += source[at] === "\\" ? 2 : 1;
    return skipTo(start, Math.min(at + 1, source.length));
  };
  const pattern = (start: number): number => {
    let inClass = false;
    let at = start + 1;
    for (; at < source.length && source[at] !== "\n"; at++) {
      if (source[at] === "\\") at++;
      else if (source[at] === "[") inClass = true;
      else if (source[at] === "]") inClass = false;
      else if (source[at] === "/" && !inClass) break;
    }
    return skipTo(start, Math.min(at + 1, source.length));
  };
  const template = (start: number): number => {
    let from = start;
    let at = start + 1;
    while (at < source.length && source[at] !== "`") {
      if (source[at] === "\\") at += 2;
      else if (source.startsWith("${", at)) {
        blank(from, at + 2);
        at = scan(at + 2, true);
        from = at;
      } else at++;
    }
    return skipTo(from, Math.min(at + 1, source.length));
  };
  scan(0, false);
  return out.join("");
}
