/** The work behind `openclaw-exec config`. */
import { type EditResult, editConfig, InvalidEdit } from "../core/config/edit.ts";
import { KeyBook, printValue } from "../core/config/inspect.ts";
import { formatKeyPath, type KeyPath, parseKeyPath, valueAt } from "../core/config/key-path.ts";
import { type LoadResult, loadConfig, renderProblems } from "../core/config/load.ts";
import { keysAt } from "../core/config/problems.ts";
import { isReference } from "../core/config/secret-shapes.ts";
import type { Edit } from "../core/config/text-edit.ts";
import { ExecError } from "../core/errors.ts";
import { nearestOf } from "../core/nearest.ts";
import { type Cli, EXIT, readStdin } from "./io.ts";

const load = (cli: Cli): Promise<LoadResult> => loadConfig({ env: cli.env, workingDir: cli.cwd });

export async function get(
  cli: Cli,
  key: string | undefined,
  options: { json?: boolean; defaults?: boolean },
): Promise<number> {
  const path = key === undefined ? [] : parseKeyPath(key);
  const book = new KeyBook();
  requireKnown(book, path);
  const loaded = await load(cli);
  if (!loaded.ok && (loaded.stage === "file" || loaded.stage === "syntax")) return complain(cli, loaded);
  const written = valueAt(loaded.document, path);
  const value = written === undefined || options.defaults ? book.withDefaults(written, path) : written;
  if (value === undefined) {
    cli.err(`${formatKeyPath(path)} is not set, and has no default.`);
    return EXIT.failed;
  }
  const shown = book.redact(value, path);
  cli.out(options.json ? JSON.stringify(shown, null, 2) : printValue(shown));
  if (written === undefined && !options.json) cli.err("(default)");
  return EXIT.ok;
}

function requireKnown(book: KeyBook, path: KeyPath): void {
  if (book.describe(path) !== undefined) return;
  const parent = path.slice(0, -1);
  const nearest = nearestOf(String(path.at(-1)), keysAt(book.schema, parent));
  const hint = nearest === undefined ? "" : ` Did you mean ${formatKeyPath([...parent, nearest])}?`;
  throw new ExecError("invalid-argument", `There is no key ${formatKeyPath(path)}.${hint}`);
}

export async function set(
  cli: Cli,
  key: string,
  typed: string | undefined,
  options: { stdin?: boolean; dryRun?: boolean; json?: boolean },
): Promise<number> {
  const path = parseKeyPath(key);
  const book = new KeyBook();
  const fromStdin = options.stdin === true;
  if (fromStdin === (typed !== undefined)) {
    cli.err(fromStdin ? "Give the value either as an argument or with --stdin." : `Give a value: ${usage(key)}`);
    return EXIT.usage;
  }
  if (!fromStdin && book.isSecret(path) && !isReference(typed ?? "")) {
    cli.err(
      `${key} is a secret, and others on this machine can see command lines. Use env:NAME or file:/path, or pipe it:\n` +
        `  openclaw-exec config set ${key} --stdin`,
    );
    return EXIT.usage;
  }
  const text = fromStdin ? (await readStdin(cli)).trim() : (typed ?? "");
  return edit(cli, { kind: "set", path, value: book.parseValue(path, text) }, book, options);
}

const usage = (key: string) => `openclaw-exec config set ${key} VALUE`;

export function unset(cli: Cli, key: string, options: { dryRun?: boolean; json?: boolean }): Promise<number> {
  return edit(cli, { kind: "unset", path: parseKeyPath(key) }, new KeyBook(), options);
}

async function edit(
  cli: Cli,
  change: Edit,
  book: KeyBook,
  options: { dryRun?: boolean; json?: boolean },
): Promise<number> {
  const loaded = await load(cli);
  let result: EditResult;
  try {
    result = await editConfig(loaded, change, { dryRun: options.dryRun ?? false });
  } catch (error) {
    if (!(error instanceof InvalidEdit)) throw error;
    if (options.json) cli.out(JSON.stringify({ ok: false, problems: error.problems }, null, 2));
    else cli.err(`${error.message}\n${renderProblems("It", error.problems)}`);
    return EXIT.failed;
  }
  const value = change.kind === "set" ? book.redact(change.value, change.path) : undefined;
  if (options.json) {
    const { path, remaining, ...rest } = result;
    cli.out(JSON.stringify({ ok: true, path, value, file: loaded.file.path, ...rest, remaining }, null, 2));
    return EXIT.ok;
  }
  cli.out(said(result, change, value, loaded.file.path));
  for (const line of remarks(result, loaded.file.path)) cli.err(line);
  return EXIT.ok;
}

function said(result: EditResult, change: Edit, value: unknown, file: string): string {
  const what = change.kind === "set" ? `${result.path} = ${inline(value)}` : `${result.path} removed`;
  if (!result.changed) return `${what}: the file already says so.`;
  if (!result.written) return `${what}: this would be valid. Nothing was written.`;
  return `${what}, written to ${file}`;
}

function inline(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

function remarks(result: EditResult, file: string): string[] {
  const lines: string[] = [];
  if (result.commentsLost) {
    lines.push(
      result.backup === undefined
        ? "Comments in the file would be lost."
        : `Comments in the file were lost; they are still in ${result.backup}.`,
    );
  }
  if (result.written) {
    lines.push(result.restart ? "Restart the gateway to use it." : "A running gateway uses it at once.");
  }
  if (result.remaining.length > 0) lines.push(renderProblems(`${file} still`, result.remaining));
  return lines;
}

export async function validate(cli: Cli, options: { json?: boolean }): Promise<number> {
  const loaded = await load(cli);
  const file = loaded.file.path;
  if (options.json) {
    const body = loaded.ok
      ? { ok: true, file, warnings: loaded.warnings }
      : { ok: false, file, problems: loaded.problems };
    cli.out(JSON.stringify(body, null, 2));
    return loaded.ok ? EXIT.ok : EXIT.failed;
  }
  if (!loaded.ok) return complain(cli, loaded);
  cli.out(loaded.file.exists ? `${file} is valid.` : `${file} does not exist; everything has its default.`);
  for (const warning of loaded.warnings) cli.err(`Warning: ${warning}`);
  return EXIT.ok;
}

function complain(cli: Cli, loaded: LoadResult & { ok: false }): number {
  cli.err(renderProblems(loaded.file.path, loaded.problems));
  return EXIT.failed;
}

export async function schema(cli: Cli, key: string | undefined): Promise<number> {
  const path = key === undefined ? [] : parseKeyPath(key);
  const book = new KeyBook();
  requireKnown(book, path);
  cli.out(JSON.stringify(book.describe(path), null, 2));
  return EXIT.ok;
}

export async function file(cli: Cli): Promise<number> {
  cli.out((await load(cli)).file.path);
  return EXIT.ok;
}
