/**
 * `parse_mode` as Telegram's server does it: text plus entities with UTF-16 offsets, or the server's own error
 * text ("can't parse entities: …"). Lengths are counted after this step, never on the markup.
 */

export interface Entity {
  readonly type: string;
  readonly offset: number;
  readonly length: number;
  readonly url?: string;
  readonly language?: string;
  /** Of a `text_mention`: the server turns it into the whole user. */
  readonly userId?: number;
}

export interface ParsedText {
  readonly text: string;
  readonly entities: readonly Entity[];
}

export class EntityError extends Error {}

const TAG_TYPES: Readonly<Record<string, string>> = {
  b: "bold",
  strong: "bold",
  i: "italic",
  em: "italic",
  u: "underline",
  ins: "underline",
  s: "strikethrough",
  strike: "strikethrough",
  del: "strikethrough",
  "tg-spoiler": "spoiler",
  span: "spoiler",
  a: "text_link",
  code: "code",
  pre: "pre",
  blockquote: "blockquote",
};

const NAMED: Readonly<Record<string, string>> = { lt: "<", gt: ">", amp: "&", quot: '"' };

function byteOffset(source: string, index: number): number {
  return Buffer.byteLength(source.slice(0, index));
}

function decodeReference(body: string): string | undefined {
  const numeric = /^#(?:x([0-9a-f]+)|([0-9]+))$/i.exec(body);
  if (!numeric) return NAMED[body];
  const code = numeric[1] ? Number.parseInt(numeric[1], 16) : Number.parseInt(numeric[2] ?? "", 10);
  return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : undefined;
}

interface OpenTag {
  readonly name: string;
  readonly start: number;
  readonly attributes: ReadonlyMap<string, string>;
}

function parseAttributes(body: string): Map<string, string> {
  const found = new Map<string, string>();
  for (const match of body.matchAll(/([a-z-]+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+)))?/gi)) {
    const raw = match[2] ?? match[3] ?? match[4] ?? "";
    found.set(
      (match[1] ?? "").toLowerCase(),
      raw.replace(/&([^;\s]+);/g, (all, ref) => decodeReference(ref) ?? all),
    );
  }
  return found;
}

export function parseHtml(source: string): ParsedText {
  let text = "";
  const entities: Entity[] = [];
  const open: OpenTag[] = [];
  let index = 0;
  while (index < source.length) {
    const char = source[index];
    if (char === "&") {
      const match = /^&([^;\s&<]{1,10});/.exec(source.slice(index, index + 14));
      const decoded = match ? decodeReference(match[1] ?? "") : undefined;
      if (match && decoded !== undefined) {
        text += decoded;
        index += match[0].length;
        continue;
      }
    }
    if (char !== "<") {
      text += char;
      index += 1;
      continue;
    }
    const end = source.indexOf(">", index);
    if (end < 0) throw new EntityError(`Unclosed start tag at byte offset ${byteOffset(source, index)}`);
    const body = source.slice(index + 1, end);
    if (body.startsWith("/")) {
      const last = open.pop();
      const name = body.slice(1).trim().toLowerCase();
      if (!last) throw new EntityError(`Unexpected end tag at byte offset ${byteOffset(source, index)}`);
      if (name !== "" && name !== last.name)
        throw new EntityError(
          `Unmatched end tag at byte offset ${byteOffset(source, index)}, expected "</${last.name}>", found "</${name}>"`,
        );
      closeTag(last, text, entities);
    } else {
      const name = (/^[^\s>]*/.exec(body)?.[0] ?? "").toLowerCase();
      const attributes = parseAttributes(body.slice(name.length));
      const spoilerSpan = name !== "span" || attributes.get("class") === "tg-spoiler";
      if (!(name in TAG_TYPES) || !spoilerSpan)
        throw new EntityError(`Unsupported start tag "${name}" at byte offset ${byteOffset(source, index)}`);
      open.push({ name, start: text.length, attributes });
    }
    index = end + 1;
  }
  const left = open.pop();
  if (left) throw new EntityError(`Can't find end tag corresponding to start tag "${left.name}"`);
  return trimmed(text, entities);
}

function closeTag(tag: OpenTag, text: string, entities: Entity[]): void {
  const length = text.length - tag.start;
  if (length === 0) return;
  const type = TAG_TYPES[tag.name] ?? tag.name;
  if (type === "text_link") {
    const url = tag.attributes.get("href") ?? text.slice(tag.start);
    const person = /^tg:\/\/user\?id=(\d+)$/.exec(url);
    if (person) {
      entities.push({ type: "text_mention", offset: tag.start, length, userId: Number(person[1]) });
      return;
    }
    if (/^(https?|tg|mailto|tel):/.test(url)) entities.push({ type, offset: tag.start, length, url });
    return;
  }
  if (type === "pre") {
    // <pre><code class="language-x"> is one pre entity with a language.
    const inner = entities.findIndex((one) => one.type === "code" && one.offset === tag.start && one.length === length);
    const language = inner >= 0 ? entities[inner]?.language : undefined;
    if (inner >= 0) entities.splice(inner, 1);
    entities.push({ type, offset: tag.start, length, ...(language ? { language } : {}) });
    return;
  }
  const language = type === "code" ? /^language-(.+)$/.exec(tag.attributes.get("class") ?? "")?.[1] : undefined;
  entities.push({ type, offset: tag.start, length, ...(language ? { language } : {}) });
}

/** The server drops blank space at both ends and moves the entities along. */
function trimmed(text: string, entities: readonly Entity[]): ParsedText {
  const result = text.trim();
  const shift = text.length - text.trimStart().length;
  const moved = entities
    .map((one) => {
      const from = Math.max(0, one.offset - shift);
      const to = Math.min(result.length, one.offset + one.length - shift);
      return { ...one, offset: from, length: to - from };
    })
    .filter((one) => one.length > 0)
    .sort((a, b) => a.offset - b.offset || b.length - a.length);
  return { text: result, entities: moved };
}

const MARKDOWN_RESERVED = "_*[]()~`>#+-=|{}.!";
const MARKDOWN_PAIRS = [
  ["||", "spoiler"],
  ["__", "underline"],
  ["*", "bold"],
  ["_", "italic"],
  ["~", "strikethrough"],
] as const;

/** MarkdownV2: enough to refuse what the server refuses (reserved characters, entities left open). */
export function parseMarkdownV2(source: string): ParsedText {
  let text = "";
  const entities: Entity[] = [];
  const open: { mark: string; type: string; start: number; at: number }[] = [];
  let index = 0;
  const reserved = (char: string): never => {
    throw new EntityError(`Character '${char}' is reserved and must be escaped with the preceding '\\'`);
  };
  while (index < source.length) {
    const char = source[index] ?? "";
    if (char === "\\" && index + 1 < source.length) {
      text += source[index + 1];
      index += 2;
      continue;
    }
    if (char === "`") {
      const fence = source.startsWith("```", index) ? "```" : "`";
      const end = source.indexOf(fence, index + fence.length);
      if (end < 0)
        throw new EntityError(
          `Can't find end of ${fence === "`" ? "Code" : "PreCode"} entity at byte offset ${byteOffset(source, index)}`,
        );
      const inner = source.slice(index + fence.length, end).replace(/\\([`\\])/g, "$1");
      entities.push({ type: fence === "`" ? "code" : "pre", offset: text.length, length: inner.length });
      text += inner;
      index = end + fence.length;
      continue;
    }
    const pair = MARKDOWN_PAIRS.find(([mark]) => source.startsWith(mark, index));
    if (pair) {
      const [mark, type] = pair;
      const last = open.at(-1);
      if (last?.mark === mark) {
        open.pop();
        if (text.length > last.start) entities.push({ type, offset: last.start, length: text.length - last.start });
      } else open.push({ mark, type, start: text.length, at: index });
      index += mark.length;
      continue;
    }
    if (MARKDOWN_RESERVED.includes(char)) reserved(char);
    text += char;
    index += 1;
  }
  const left = open.pop();
  if (left)
    throw new EntityError(
      `Can't find end of ${left.type[0]?.toUpperCase()}${left.type.slice(1)} entity at byte offset ${byteOffset(source, left.at)}`,
    );
  return trimmed(text, entities);
}

/** What the server finds by itself in plain text: bot commands, mentions, links. */
export function autoEntities(text: string, marked: readonly Entity[]): readonly Entity[] {
  const found: Entity[] = [];
  const covered = (from: number, to: number): boolean =>
    marked.some(
      (one) => ["code", "pre", "text_link"].includes(one.type) && from < one.offset + one.length && to > one.offset,
    );
  const add = (type: string, pattern: RegExp): void => {
    for (const match of text.matchAll(pattern)) {
      const lead = match[1]?.length ?? 0;
      const offset = match.index + lead;
      const length = match[0].length - lead;
      if (!covered(offset, offset + length)) found.push({ type, offset, length });
    }
  };
  add("bot_command", /(^|[^\w/<>])\/[A-Za-z0-9_]{1,64}(?:@[A-Za-z0-9_]{3,32})?/g);
  add("mention", /(^|[^\w@/])@[A-Za-z0-9_]{3,32}/g);
  add("url", /()https?:\/\/[^\s<>"]+/g);
  return [...marked, ...found].sort((a, b) => a.offset - b.offset);
}
