/** Changing the configuration file: checked before it is written, one writer at a time, the old text kept. */
import { randomUUID } from "node:crypto";
import { mkdirSync, readFileSync } from "node:fs";
import { dirname } from "node:path";
import { ExecError } from "../errors.ts";
import { asWritten, normaliseAliases } from "./aliases.ts";
import { parseDocument } from "./document.ts";
import { formatKeyPath, type KeyPath } from "./key-path.ts";
import { checkConfig, hashText, type LoadResult } from "./load.ts";
import { withFileLock } from "./lock.ts";
import { jsonSchema, type Problem, type SchemaNode, schemaAt } from "./problems.ts";
import { needsRestart } from "./reload-rules.ts";
import { saveConfigText } from "./save.ts";
import { STARTER_CONFIG } from "./starter.ts";
import { type Edit, type Edited, editText } from "./text-edit.ts";

/** For installations whose configuration is managed elsewhere. */
const READ_ONLY_VARIABLE = "OPENCLAW_CONFIG_READONLY";

export interface EditOptions {
  /** Refuse when the file is no longer the one with this hash (`ConfigFile.hash`). */
  readonly baseHash?: string;
  /** Check and report, write nothing. */
  readonly dryRun?: boolean;
}

export interface EditResult {
  /** The key as the file spells it. */
  readonly path: string;
  readonly changed: boolean;
  readonly written: boolean;
  readonly hash: string;
  readonly backup?: string;
  readonly commentsLost: boolean;
  /** A running gateway takes this up only when it is started again. */
  readonly restart: boolean;
  /** What was wrong before and still is, and what is missing to start (a token …). */
  readonly remaining: readonly Problem[];
}

/** The file would not be valid afterwards; nothing was written. */
export class InvalidEdit extends ExecError {
  readonly problems: readonly Problem[];
  constructor(problems: readonly Problem[]) {
    super("invalid-argument", "The configuration would not be valid, so nothing was changed.", { problems });
    this.problems = problems;
  }
}

/**
 * Applies one change to the file that `loaded` was read from.
 *
 * @throws InvalidEdit
 * @throws ExecError `not-found` when there is nothing to unset, `invalid-argument` when the file changed meanwhile,
 * is a symbolic link or can not be written
 */
export async function editConfig(loaded: LoadResult, edit: Edit, options: EditOptions = {}): Promise<EditResult> {
  let key: KeyPath = edit.path;
  const changed = await change(
    loaded,
    (text) => {
      key = spelledAsFile(text, edit.path);
      return editText(text, { ...edit, path: key });
    },
    options,
  );
  return { ...changed, path: formatKeyPath(key), restart: needsRestart(edit.path) };
}

/**
 * Applies the changes that `plan` makes of the file as it is now: all of them in one write, or none.
 *
 * @throws as {@link editConfig}
 */
export function editConfigBy(
  loaded: LoadResult,
  plan: (document: unknown) => readonly Edit[],
): Promise<Omit<EditResult, "path" | "restart">> {
  return change(
    loaded,
    (before) => {
      const parsed = parseDocument(before);
      if (!parsed.ok) throw new ExecError("invalid-argument", `The file is not valid JSON5: ${parsed.message}.`);
      return plan(parsed.value).reduce<Edited>(
        (so, edit) => {
          const edited = editText(so.text, edit);
          return {
            text: edited.text,
            changed: so.changed || edited.changed,
            commentsLost: so.commentsLost || edited.commentsLost,
          };
        },
        { text: before, changed: false, commentsLost: false },
      );
    },
    {},
  );
}

async function change(
  loaded: LoadResult,
  edit: (text: string) => Edited,
  options: EditOptions,
): Promise<Omit<EditResult, "path" | "restart">> {
  const path = loaded.file.path;
  if (!loaded.ok && loaded.stage === "file") {
    throw new ExecError("invalid-argument", loaded.problems.map(({ message }) => message).join("\n"));
  }
  if (!options.dryRun && loaded.environment.get(READ_ONLY_VARIABLE) !== undefined) {
    throw new ExecError("invalid-argument", `The configuration is read-only here: ${READ_ONLY_VARIABLE} is set.`);
  }
  const work = () => {
    const { text, hash, exists } = readCurrent(path);
    if (options.baseHash !== undefined && options.baseHash !== hash) {
      throw new ExecError("invalid-argument", `${path} was changed meanwhile; read it again and repeat the change.`);
    }
    const edited = edit(text);
    const changed = edited.changed || !exists;
    const remaining = check(loaded, text, edited.text);
    const base = { changed, commentsLost: edited.commentsLost, remaining };
    if (!changed || options.dryRun) return { ...base, written: false, hash };
    const backup = saveConfigText(path, edited.text, randomUUID());
    return { ...base, written: true, hash: hashText(edited.text), ...(backup !== undefined && { backup }) };
  };
  if (options.dryRun) return work();
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  return withFileLock(path, work);
}

/** A first change starts from the starter configuration, never from the open defaults of an empty file. */
function readCurrent(path: string): { text: string; hash: string; exists: boolean } {
  try {
    const text = readFileSync(path, "utf8");
    return { text, hash: hashText(text), exists: true };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    return { text: STARTER_CONFIG, hash: hashText(""), exists: false };
  }
}

/** A key that the file has under another accepted name keeps that name; an index that is really a name becomes text. */
function spelledAsFile(text: string, path: KeyPath): KeyPath {
  const schema = jsonSchema() as SchemaNode;
  const named = path.map((part, index) =>
    typeof part === "number" && schemaAt(schema, path.slice(0, index))?.items === undefined ? String(part) : part,
  );
  const parsed = parseDocument(text);
  if (!parsed.ok) return named;
  return asWritten(named, normaliseAliases(parsed.value).moves) as KeyPath;
}

/**
 * What is still wrong. A file that had problems may be repaired one by one; a problem that was not there before
 * refuses the change. A secret that is missing refuses nothing: tokens are entered one after the other.
 */
function check(loaded: LoadResult, before: string, after: string): readonly Problem[] {
  const result = checkConfig(after, loaded.environment, loaded);
  if (result.ok) return [];
  if (result.stage === "secrets") return result.problems;
  const old = checkConfig(before, loaded.environment, loaded);
  const known = new Set(old.ok ? [] : old.problems.map(({ path, message }) => `${path}\n${message}`));
  if (result.problems.every(({ path, message }) => known.has(`${path}\n${message}`))) return result.problems;
  throw new InvalidEdit(result.problems);
}
