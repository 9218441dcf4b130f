/** The body of a message call: components, files, nobody pinged. Pure. */
import { createHash } from "node:crypto";
import { type APIMessageTopLevelComponent, ComponentType, type RawFile } from "discord.js";
import type { DiscordFile, DiscordMessage } from "./cards.ts";
import { escapeMarkdown, small } from "./markup.ts";

export interface Body {
  readonly components: readonly APIMessageTopLevelComponent[];
  readonly files: readonly RawFile[];
}

const NOBODY = { parse: [] as never[], replied_user: false };

/** One call of the message endpoints; `flags` always names the components version. */
export function requestOf(body: Body, flags: number, extra: object = {}) {
  return {
    body: { components: body.components, flags, allowed_mentions: NOBODY, ...extra },
    ...(body.files.length === 0 ? {} : { files: [...body.files] }),
  };
}

export function filesOf(file: DiscordFile | undefined): RawFile[] {
  return file ? [rawFile(file)] : [];
}

export function rawFile(file: DiscordFile): RawFile {
  return { name: file.name, data: Buffer.from(file.content, "utf8"), contentType: "text/plain; charset=utf-8" };
}

/** A run card shows its log itself; elsewhere the file stands below the text. */
export function bodyOf(
  part: DiscordMessage,
  log: { readonly attachment?: RawFile | undefined; readonly missing?: string | undefined },
  shownByCard: boolean,
): Body {
  const { attachment, missing } = log;
  const below: APIMessageTopLevelComponent[] = [
    ...(attachment && !shownByCard
      ? [{ type: ComponentType.File as const, file: { url: `attachment://${attachment.name}` } }]
      : []),
    ...(missing === undefined
      ? []
      : [{ type: ComponentType.TextDisplay as const, content: small(escapeMarkdown(missing)) }]),
  ];
  return {
    components: [...part.components, ...below],
    files: [...filesOf(part.file), ...(attachment ? [attachment] : [])],
  };
}

/** Components may have a number of the sender's choice; it stands for the message, invisibly. */
export function marked(body: Body, key: string): Body {
  const [first, ...rest] = body.components;
  return first ? { ...body, components: [{ ...first, id: markOf(key) }, ...rest] } : body;
}

/** 31 bits, above the small numbers that Discord gives to components without one. */
export function markOf(key: string): number {
  return (createHash("sha256").update(key).digest().readUInt32BE() % 0x3fff_ffff) + 0x4000_0000;
}

/** `attachment://` links break on anything else. */
export function attachmentName(name: string): string {
  return name.replace(/[^A-Za-z0-9._-]/g, "_").slice(-100) || "log.txt";
}

/** 24 hex digits, at most 25 are allowed: a repeated send finds the message of the first. */
export function nonceOf(key: string, index: number): string {
  return createHash("sha256").update(`${key}#${index}`).digest("hex").slice(0, 24);
}
