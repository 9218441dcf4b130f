/**
 * Works a whole patch out against the files as they are, without changing any. Later operations see what earlier ones
 * would do. The first that does not fit ends it all.
 */
import { isUtf8 } from "node:buffer";
import { lstat, readFile, readlink } from "node:fs/promises";
import { ExecError } from "../../errors.ts";
import { applyChunks, PatchMismatch, sameText } from "./match.ts";
import type { Operation } from "./patch.ts";
import { locate, type Place } from "./workspace.ts";

/** Larger files are not edited by patch. */
const MAX_FILE_BYTES = 10 * 1024 * 1024;

/** What a file was when the plan was made; compared again right before it is replaced. */
export interface Fingerprint {
  readonly dev: number;
  readonly ino: number;
  readonly size: number;
  readonly mtimeMs: number;
  readonly mode: number;
  readonly uid: number;
  readonly gid: number;
}

export interface FileChange {
  readonly place: Place;
  /** Absent: the file did not exist. */
  readonly before: Fingerprint | undefined;
  /** Absent: the file goes away. */
  readonly after: string | undefined;
  /** Mode of the new file, when it takes the place of another. */
  readonly mode: number | undefined;
}

export interface PatchPlan {
  readonly changes: readonly FileChange[];
  /** As written in the patch, in its order; a file that was deleted and added stands in both. */
  readonly summary: {
    readonly added: readonly string[];
    readonly modified: readonly string[];
    readonly deleted: readonly string[];
  };
  /** Updates that came out as what was there. */
  readonly unchanged: readonly string[];
}

type Current =
  | { readonly kind: "absent" }
  | { readonly kind: "text"; readonly text: string; readonly mode: number | undefined }
  /** Something that only a delete may touch. */
  | { readonly kind: "other"; readonly what: "folder" | "link" | "special" | "binary" | "large" };

interface Entry {
  readonly place: Place;
  readonly before: Fingerprint | undefined;
  readonly original: Current;
  now: Current;
}

/** Throws `ExecError("invalid-argument")` with the operation that does not fit. */
export async function planPatch(
  operations: readonly Operation[],
  root: string,
  workspaceOnly: boolean,
): Promise<PatchPlan> {
  const entries = new Map<string, Entry>();
  const added: string[] = [];
  const modified: string[] = [];
  const deleted: string[] = [];
  const unchanged: string[] = [];

  const entryOf = async (path: string): Promise<Entry> => {
    const place = await locate(root, path, workspaceOnly);
    const known = entries.get(place.path);
    if (known !== undefined) return known;
    const { current, fingerprint } = await look(place);
    const entry: Entry = { place, before: fingerprint, original: current, now: current };
    entries.set(place.path, entry);
    return entry;
  };

  for (const operation of operations) {
    const entry = await entryOf(operation.path);
    switch (operation.kind) {
      case "add":
        if (entry.now.kind !== "absent")
          throw refused(`${operation.path} exists already; use Update File to change it.`);
        entry.now = { kind: "text", text: operation.lines.map((line) => `${line}\n`).join(""), mode: undefined };
        added.push(operation.path);
        break;
      case "delete":
        if (entry.now.kind === "absent") throw refused(`${operation.path}: file not found, so it can not be deleted.`);
        if (entry.now.kind === "other" && entry.now.what === "folder")
          throw refused(`${operation.path} is a folder; only files are deleted.`);
        entry.now = { kind: "absent" };
        deleted.push(operation.path);
        break;
      case "update": {
        const file = textOf(entry, operation.path);
        const text = updated(file.text, operation);
        const target = operation.moveTo === undefined ? entry : await entryOf(operation.moveTo);
        if (target === entry) {
          if (sameText(file.text, text)) unchanged.push(operation.path);
          else {
            entry.now = { ...file, text };
            modified.push(operation.path);
          }
          break;
        }
        if (target.now.kind !== "absent")
          throw refused(`${operation.moveTo} exists already, so ${operation.path} can not be moved there.`);
        target.now = { kind: "text", text, mode: file.mode };
        entry.now = { kind: "absent" };
        modified.push(operation.moveTo ?? operation.path);
        break;
      }
    }
  }
  return {
    changes: [...entries.values()].flatMap(changeOf),
    summary: { added: unique(added), modified: unique(modified), deleted: unique(deleted) },
    unchanged,
  };
}

function updated(text: string, operation: Extract<Operation, { kind: "update" }>): string {
  try {
    return applyChunks(text, operation.chunks, operation.path);
  } catch (error) {
    if (error instanceof PatchMismatch) throw refused(`${error.message}\n`);
    throw error;
  }
}

function textOf(entry: Entry, path: string): Extract<Current, { kind: "text" }> {
  const { now } = entry;
  switch (now.kind) {
    case "text":
      return now;
    case "absent":
      throw refused(`${path}: file not found, so it can not be updated.`);
    case "other": {
      const what = {
        folder: "is a folder",
        link: "is a symbolic link; name the file it points to",
        special: "is not an ordinary file",
        binary: "is not UTF-8 text",
        large: `is larger than ${MAX_FILE_BYTES} bytes`,
      }[now.what];
      throw refused(`${path} ${what}, so it can not be updated.`);
    }
  }
}

function changeOf(entry: Entry): FileChange[] {
  const { place, before, original, now } = entry;
  if (now === original) return [];
  if (now.kind === "text") return [{ place, before, after: now.text, mode: now.mode }];
  return before === undefined ? [] : [{ place, before, after: undefined, mode: undefined }];
}

async function look(
  place: Place,
): Promise<{ readonly current: Current; readonly fingerprint: Fingerprint | undefined }> {
  if (place.missing.length > 0) return { current: { kind: "absent" }, fingerprint: undefined };
  const fingerprint = await fingerprintOf(place.path);
  if (fingerprint === undefined) return { current: { kind: "absent" }, fingerprint };
  const other = (what: Extract<Current, { kind: "other" }>["what"]) => ({
    current: { kind: "other", what } as const,
    fingerprint,
  });
  const kind = fingerprint.mode & 0o170000;
  if (kind === 0o040000) return other("folder");
  if (kind === 0o120000) {
    // Read only to be sure that it is one; where it leads does not matter for a delete.
    await readlink(place.path);
    return other("link");
  }
  if (kind !== 0o100000) return other("special");
  if (fingerprint.size > MAX_FILE_BYTES) return other("large");
  const bytes = await readFile(place.path);
  if (!isUtf8(bytes)) return other("binary");
  return { current: { kind: "text", text: bytes.toString("utf8"), mode: fingerprint.mode & 0o7777 }, fingerprint };
}

/** Of the path itself, a final link not followed; undefined when there is nothing. */
export async function fingerprintOf(path: string): Promise<Fingerprint | undefined> {
  try {
    const { dev, ino, size, mtimeMs, mode, uid, gid } = await lstat(path);
    return { dev, ino, size, mtimeMs, mode, uid, gid };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw refused(`${path} can not be read (${(error as NodeJS.ErrnoException).code}).`);
  }
}

function unique(paths: readonly string[]): string[] {
  return [...new Set(paths)];
}

function refused(message: string): ExecError {
  return new ExecError("invalid-argument", `${message.trimEnd()} Nothing was changed.`);
}
