/** Slack's two text worlds as a reader sees them: mrkdwn strings and rich_text elements, to plain text and to safe HTML. */
import { escapeHtml } from "../shared/page.ts";

type Json = Record<string, unknown>;

interface Names {
  user(id: string): string;
  channel(id: string): string;
}

interface Piece {
  readonly text: string;
  /** HTML element the piece sits in. */
  readonly tag?: "b" | "i" | "s" | "code" | "pre" | "a" | "mark";
  readonly href?: string;
}

const TOKEN =
  /```\n?([\s\S]+?)\n?```|`([^`\n]+)`|<([^<>\n]+)>|(?<![\w*])\*([^*\n]+)\*(?![\w*])|(?<![\w_])_([^_\n]+)_(?![\w_])|(?<![\w~])~([^~\n]+)~(?![\w~])/g;

export function unescapeSlack(text: string): string {
  return text.replace(/&(amp|lt|gt);/g, (_all, name: string) => ({ amp: "&", lt: "<", gt: ">" })[name] ?? "");
}

function mrkdwnPieces(source: string, names: Names): Piece[] {
  const pieces: Piece[] = [];
  let at = 0;
  for (const match of source.matchAll(TOKEN)) {
    if (match.index > at) pieces.push({ text: unescapeSlack(source.slice(at, match.index)) });
    at = match.index + match[0].length;
    const [, fence, code, angle, bold, italic, strike] = match;
    if (fence !== undefined) pieces.push({ text: unescapeSlack(fence), tag: "pre" });
    else if (code !== undefined) pieces.push({ text: unescapeSlack(code), tag: "code" });
    else if (angle !== undefined) pieces.push(anglePiece(angle, names));
    else if (bold !== undefined) pieces.push({ text: unescapeSlack(bold), tag: "b" });
    else if (italic !== undefined) pieces.push({ text: unescapeSlack(italic), tag: "i" });
    else if (strike !== undefined) pieces.push({ text: unescapeSlack(strike), tag: "s" });
  }
  if (at < source.length) pieces.push({ text: unescapeSlack(source.slice(at)) });
  return pieces;
}

function anglePiece(inner: string, names: Names): Piece {
  const [target = "", label] = inner.split("|", 2);
  if (target.startsWith("@")) return { text: `@${names.user(target.slice(1))}`, tag: "mark" };
  if (target.startsWith("#")) return { text: `#${names.channel(target.slice(1))}`, tag: "mark" };
  if (target.startsWith("!date^")) return { text: unescapeSlack(label ?? target), tag: "i" };
  if (target.startsWith("!")) return { text: `@${target.slice(1).split("^", 1)[0]}`, tag: "mark" };
  return { text: unescapeSlack(label ?? target), tag: "a", href: unescapeSlack(target) };
}

/** Mentions in mrkdwn that would notify people. */
export function pingsInMrkdwn(source: string): string[] {
  return [...source.matchAll(/<(?:@[UW]\w+|!(?:channel|here|everyone|subteam\^\w+))(?:\|[^>]*)?>/g)].map(
    (match) => match[0],
  );
}

function asText(pieces: readonly Piece[]): string {
  return pieces.map((piece) => (piece.tag === "pre" ? `\n${piece.text}\n` : piece.text)).join("");
}

function asHtml(pieces: readonly Piece[]): string {
  return pieces
    .map((piece) => {
      const text = escapeHtml(piece.text);
      if (piece.tag === undefined) return text.replace(/\n/g, "<br>");
      if (piece.tag === "pre") return `<pre>${text}</pre>`;
      if (piece.tag === "a") {
        const safe = /^(?:https?|mailto):/.test(piece.href ?? "") ? escapeHtml(piece.href ?? "") : "#";
        return `<a href="${safe}" rel="noopener">${text}</a>`;
      }
      return `<${piece.tag}>${text.replace(/\n/g, "<br>")}</${piece.tag}>`;
    })
    .join("");
}

function richPieces(element: Json, names: Names): Piece[] {
  const children = (element.elements ?? []) as Json[];
  switch (element.type) {
    case "rich_text_preformatted":
      return [{ text: children.map((child) => leaf(child, names).text).join(""), tag: "pre" }];
    case "rich_text_list":
      return children.flatMap((item, i) => [{ text: i === 0 ? "• " : "\n• " }, ...richPieces(item, names)]);
    case "rich_text_quote":
    case "rich_text_section":
      return children.map((child) => leaf(child, names));
    default:
      return [];
  }
}

function leaf(element: Json, names: Names): Piece {
  const style = (element.style ?? {}) as Json;
  const tag = style.code === true ? "code" : style.bold === true ? "b" : style.italic === true ? "i" : undefined;
  const text = String(element.text ?? "");
  switch (element.type) {
    case "text":
      return { text, ...(tag === undefined ? {} : { tag }) };
    case "link":
      return { text: text || String(element.url), tag: "a", href: String(element.url) };
    case "user":
      return { text: `@${names.user(String(element.user_id))}`, tag: "mark" };
    case "broadcast":
      return { text: `@${String(element.range)}`, tag: "mark" };
    case "usergroup":
      return { text: `@${String(element.usergroup_id)}`, tag: "mark" };
    case "date":
      return { text: String(element.fallback ?? element.timestamp), tag: "i" };
    default:
      return { text };
  }
}

/** Elements of rich text that would notify people. */
export function pingsInBlocks(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(pingsInBlocks);
  if (typeof value !== "object" || value === null) return [];
  const json = value as Json;
  const own =
    json.type === "user" || json.type === "broadcast" || json.type === "usergroup"
      ? [JSON.stringify(json)]
      : json.type === "mrkdwn"
        ? pingsInMrkdwn(String(json.text))
        : [];
  return [...own, ...Object.values(json).flatMap(pingsInBlocks)];
}

function textObject(value: unknown, names: Names): Piece[] {
  const object = (value ?? {}) as Json;
  const text = String(object.text ?? "");
  return object.type === "mrkdwn" ? mrkdwnPieces(text, names) : [{ text }];
}

interface Drawn {
  readonly text: string;
  readonly html: string;
}

function drawBlock(block: Json, names: Names): Drawn {
  const both = (pieces: readonly Piece[], wrap = "div"): Drawn => ({
    text: asText(pieces).trim(),
    html: `<${wrap}>${asHtml(pieces)}</${wrap}>`,
  });
  switch (block.type) {
    case "header":
      return both(textObject(block.text, names), "h3");
    case "section": {
      const fields = (block.fields ?? []) as unknown[];
      return both([
        ...textObject(block.text, names),
        ...fields.flatMap((f) => [{ text: "\n" }, ...textObject(f, names)]),
      ]);
    }
    case "context": {
      const elements = (block.elements ?? []) as unknown[];
      return both(
        elements.flatMap((element, i) => [...(i === 0 ? [] : [{ text: "  ·  " }]), ...textObject(element, names)]),
        "footer",
      );
    }
    case "rich_text": {
      const parts = ((block.elements ?? []) as Json[]).map((element) => both(richPieces(element, names)));
      return { text: parts.map((p) => p.text).join("\n"), html: parts.map((p) => p.html).join("") };
    }
    case "divider":
      return { text: "", html: "<hr>" };
    default:
      return { text: "", html: "" };
  }
}

/** Blocks as a person reads them, without buttons; the message's `text` when there are no blocks. */
export function drawMessage(text: string, blocks: readonly Json[], names: Names): Drawn {
  if (blocks.length === 0) {
    const pieces = mrkdwnPieces(text, names);
    return { text: asText(pieces).trim(), html: `<div>${asHtml(pieces)}</div>` };
  }
  const drawn = blocks.map((block) => drawBlock(block, names));
  return {
    text: drawn
      .map((part) => part.text)
      .filter((part) => part !== "")
      .join("\n"),
    html: drawn.map((part) => part.html).join(""),
  };
}

/** What Slack makes of text a person typed: entities, mentions, and links it finds by itself. */
export function typedToMrkdwn(
  typed: string,
  userId: (name: string) => string | undefined,
  channelId: (name: string) => string | undefined,
): string {
  const escaped = typed.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
  return escaped
    .split(/(```[\s\S]*?```|`[^`\n]+`)/)
    .map((part, index) => {
      if (index % 2 === 1) return part;
      return part
        .replace(
          /https?:\/\/[^\s"'`|]+|\b[\w.+-]+@[\w-]+\.[a-z]{2,}\b|(?<![\w@./-])(?:[\w-]+\.)+(?:com|org|net|io)\b/g,
          (link) => {
            if (link.startsWith("http")) return `<${link}>`;
            return link.includes("@") ? `<mailto:${link}|${link}>` : `<http://${link}|${link}>`;
          },
        )
        .replace(/(?<![\w<|:/.])@([\w.-]+)/g, (all, name: string) => {
          const id = userId(name);
          if (id === undefined) return all;
          return id.startsWith("S") ? `<!subteam^${id}|@${name}>` : `<@${id}>`;
        })
        .replace(/(?<![\w&<])#([\w-]+)/g, (all, name: string) => {
          const id = channelId(name);
          return id === undefined ? all : `<#${id}|${name}>`;
        });
    })
    .join("");
}
