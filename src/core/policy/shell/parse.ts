/**
 * The only file that knows the parser (unbash, decisions.md D7). It turns a command into pipelines of literal words,
 * or says which construct stops that. The list of syntax nodes it accepts is closed: a node it has never heard of, an
 * error the parser reports, a word whose two readings differ and an exception all end in "not analysed".
 */
import {
  type Command,
  forEachChild,
  type ParsedScript,
  parse,
  type Redirection,
  type SyntaxNode,
  type Word,
} from "unbash";
import type { Reason, ReasonCode, Span } from "../decision.ts";
import { decodeWord } from "./word.ts";

/** More parts than this are asked about, never skipped. */
const MAX_SEGMENTS = 64;
/** Characters that can stand between parts, quoted ones included. More are not parsed: that alone would take its time. */
const MAX_SEPARATORS = 8 * MAX_SEGMENTS;
/** Enough to tell a person what is wrong without burying it. */
const MAX_REASONS = 8;

export interface ParsedWord extends Span {
  readonly value: string;
}

export interface ParsedCommand extends Span {
  readonly text: string;
  /** At least one; the first names the program. */
  readonly words: readonly ParsedWord[];
  readonly assignments: readonly { readonly name: string; readonly value: string }[];
  /** In source order, in one spelling: `2>&1`, `>/dev/null` … (decisions.md D9). */
  readonly redirects: readonly string[];
}

export interface ParsedPipeline {
  readonly prefixes: readonly ("!" | "time" | "time -p")[];
  readonly commands: readonly ParsedCommand[];
  readonly operators: readonly ("|" | "|&")[];
}

/** `joins[i]` stands between pipeline i and i + 1. */
export interface ParsedList {
  readonly pipelines: readonly ParsedPipeline[];
  readonly joins: readonly ("&&" | "||" | ";")[];
}

export type ParseResult =
  | { readonly ok: true; readonly list: ParsedList }
  | { readonly ok: false; readonly reasons: readonly Reason[] };

/** Why a node other than a plain command, pipeline or and-or list stops the analysis. */
const SHAPES: Readonly<Record<string, ReasonCode>> = {
  Subshell: "subshell",
  BraceGroup: "group",
  If: "conditional",
  TestCommand: "conditional",
  For: "loop",
  ArithmeticFor: "loop",
  While: "loop",
  Select: "loop",
  Case: "case",
  Function: "function",
  Coproc: "coproc",
  ArithmeticCommand: "arithmetic",
  Redirected: "redirect",
};

const EXPANSIONS: Readonly<Record<string, ReasonCode>> = {
  CommandExpansion: "command-substitution",
  ProcessSubstitution: "process-substitution",
  ArithmeticExpansion: "dynamic-argument",
  SimpleExpansion: "dynamic-argument",
  ParameterExpansion: "dynamic-argument",
  LocaleString: "dynamic-argument",
  Glob: "glob",
  ExtendedGlob: "glob",
  BraceExpansion: "brace-expansion",
};

const LITERAL_PARTS: ReadonlySet<string> = new Set(["Literal", "SingleQuoted", "DoubleQuoted", "AnsiCQuoted"]);

const separators = (source: string): number => source.match(/[;|&\n]/g)?.length ?? 0;

/** Parses text that has passed the raw gate. */
export function parseCommand(source: string): ParseResult {
  if (separators(source) > MAX_SEPARATORS) {
    return { ok: false, reasons: [{ code: "too-many-segments" }] };
  }
  let script: ParsedScript;
  try {
    script = parse(source);
  } catch {
    // Deep nesting overflows the parser's stack.
    return { ok: false, reasons: [{ code: "unsupported-syntax" }] };
  }
  const reader = new Reader(source);
  const error = script.errors?.[0];
  if (error) {
    const unterminated = /here-?doc/i.test(error.message) ? "heredoc" : "syntax-error";
    return {
      ok: false,
      reasons: [{ code: unterminated, subject: error.message, span: { start: error.pos, end: source.length } }],
    };
  }
  let list: ParsedList | undefined;
  try {
    list = reader.readScript(script);
    if (reader.reasons.length === 0) reader.checkCoverage();
  } catch {
    return { ok: false, reasons: [{ code: "unsupported-syntax" }] };
  }
  if (reader.reasons.length > 0) return { ok: false, reasons: reader.reasons };
  if (list.pipelines.length === 0) return { ok: false, reasons: [{ code: "empty" }] };
  return { ok: true, list };
}

class Reader {
  readonly reasons: Reason[] = [];
  private readonly source: string;
  private segments = 0;
  /** What of the source has been understood, in the order it was read. */
  private readonly understood: { readonly pos: number; readonly end: number }[] = [];

  constructor(source: string) {
    this.source = source;
  }

  readScript(script: ParsedScript): ParsedList {
    const pipelines: ParsedPipeline[] = [];
    const joins: ("&&" | "||" | ";")[] = [];
    for (const statement of script.commands) {
      if (statement.background) this.refuse("background", statement);
      const { command } = statement;
      const members = command.type === "AndOr" ? command.commands : [command];
      const operators = command.type === "AndOr" ? command.operators : [];
      for (const [index, member] of members.entries()) {
        if (pipelines.length > 0) joins.push(index === 0 ? ";" : (operators[index - 1] ?? ";"));
        pipelines.push(this.readPipeline(member));
        if (this.segments > MAX_SEGMENTS) {
          this.refuse("too-many-segments");
          return { pipelines, joins };
        }
      }
    }
    return { pipelines, joins };
  }

  private readPipeline(node: SyntaxNode): ParsedPipeline {
    if (node.type !== "Pipeline") return { prefixes: [], commands: this.readCommands([node]), operators: [] };
    this.understood.push(...node.prefixes);
    const prefixes = node.prefixes.map((prefix) => {
      if (prefix.type === "Negation") return "!" as const;
      if (prefix.endOfOptions) this.refuse("unsupported-syntax", prefix);
      return prefix.posix ? ("time -p" as const) : ("time" as const);
    });
    // `!` and `time` alone are legal to bash and mean nothing worth running.
    if (node.commands.length === 0) this.refuse("unsupported-syntax", node);
    return { prefixes, commands: this.readCommands(node.commands), operators: node.operators };
  }

  private readCommands(nodes: readonly SyntaxNode[]): ParsedCommand[] {
    const commands: ParsedCommand[] = [];
    for (const node of nodes) {
      this.segments += 1;
      if (this.segments > MAX_SEGMENTS) break;
      if (node.type !== "Command") {
        this.refuse(SHAPES[node.type] ?? "unsupported-syntax", node);
        continue;
      }
      const command = this.readCommand(node);
      if (command) commands.push(command);
    }
    return commands;
  }

  private readCommand(node: Command): ParsedCommand | undefined {
    const before = this.reasons.length;
    const assignments: { name: string; value: string }[] = [];
    const words: ParsedWord[] = [];
    const redirects: string[] = [];
    if (node.name) {
      const word = this.readWord(node.name, true);
      if (word) words.push(word);
    }
    for (const item of [...node.prefix, ...node.suffix]) {
      switch (item.type) {
        case "Assignment": {
          if (node.name === undefined || item.value.type !== "Word" || item.index || item.append) {
            this.refuse("assignment", item);
            break;
          }
          const value = this.readWord(item.value, false);
          if (value && node.prefix.includes(item)) assignments.push({ name: item.name, value: value.value });
          else if (value) this.refuse("assignment", item);
          break;
        }
        case "Word": {
          const word = this.readWord(item, false);
          if (word) words.push(word);
          break;
        }
        default: {
          const redirect = this.readRedirect(item);
          if (redirect) redirects.push(redirect);
        }
      }
    }
    if (this.reasons.length > before) return undefined;
    if (words.length === 0) {
      this.refuse("unsupported-syntax", node);
      return undefined;
    }
    const { pos: start, end } = node;
    const pieces = [...(node.name ? [node.name] : []), ...node.prefix, ...node.suffix].sort((a, b) => a.pos - b.pos);
    for (const [index, piece] of pieces.entries()) {
      const next = pieces[index + 1];
      if (next && !/^[ \t]*$/.test(this.source.slice(piece.end, next.pos))) this.refuse("syntax-error", node);
    }
    this.understood.push({ pos: pieces[0]?.pos ?? start, end: pieces.at(-1)?.end ?? end });
    return { text: this.source.slice(start, end), start, end, words, assignments, redirects };
  }

  private readWord(word: Word, isName: boolean): ParsedWord | undefined {
    const text = this.source.slice(word.pos, word.end);
    const stop = (code: ReasonCode): undefined => {
      const dynamic = code === "dynamic-argument" || code === "glob" || code === "brace-expansion" || code === "tilde";
      this.refuse(isName && dynamic ? "dynamic-executable" : code, word);
      return undefined;
    };
    // First our own reading: the parser's parts are made on demand, and nested expansions are costly to make.
    const decoded = decodeWord(text);
    if (!decoded.ok) return stop(/^[<>]\(/.test(text) ? "process-substitution" : decoded.code);
    for (const part of word.parts ?? []) {
      const children = part.type === "DoubleQuoted" ? part.parts : [part];
      for (const child of children) {
        if (!LITERAL_PARTS.has(child.type)) return stop(EXPANSIONS[child.type] ?? "unsupported-syntax");
      }
    }
    if (text !== word.text || decoded.value !== word.value) return stop("unsupported-syntax");
    return { value: decoded.value, start: word.pos, end: word.end };
  }

  private readRedirect(item: Redirection): string | undefined {
    if (item.type === "HereDoc") return this.refuse("heredoc", item);
    if (item.type === "HereString") return this.refuse("here-string", item);
    if (item.descriptor?.type === "FileDescriptorVariable" || !item.target) return this.refuse("redirect", item);
    const target = this.readWord(item.target, false);
    if (!target) return undefined;
    const fd = item.descriptor?.value;
    const spelled = `${fd ?? ""}${item.operator}${target.value}`;
    const canonical = STREAM_REDIRECTS.get(spelled);
    return canonical ?? this.refuse("redirect", item);
  }

  /**
   * Nothing of the text may be left over but blanks, comments and one operator between two commands: the parser skips
   * what it can not place (`aa (x`), bash does not.
   */
  checkCoverage(): void {
    const spans = this.understood.sort((a, b) => a.pos - b.pos);
    let at = 0;
    for (const span of [...spans, { pos: this.source.length, end: this.source.length }]) {
      const gap = this.source.slice(at, span.pos).replace(/#[^\n]*/g, "");
      if (!/^\s*(?:;|\|&?|&&|\|\|)?\s*$/.test(gap)) this.refuse("syntax-error", { pos: at, end: span.pos });
      at = Math.max(at, span.end);
    }
  }

  private refuse(code: ReasonCode, node?: { readonly pos: number; readonly end: number }): undefined {
    if (this.reasons.length >= MAX_REASONS) return;
    this.reasons.push(
      node
        ? { code, subject: this.source.slice(node.pos, node.end), span: { start: node.pos, end: node.end } }
        : { code },
    );
  }
}

/** Redirections that touch no file (decisions.md D9), by decoded spelling. */
const STREAM_REDIRECTS: ReadonlyMap<string, string> = new Map([
  [">/dev/null", ">/dev/null"],
  ["1>/dev/null", ">/dev/null"],
  ["2>/dev/null", "2>/dev/null"],
  ["&>/dev/null", "&>/dev/null"],
  ["2>&1", "2>&1"],
  ["1>&2", "1>&2"],
  [">&2", "1>&2"],
  ["</dev/null", "</dev/null"],
]);

/** A command found anywhere in the text, also inside substitutions, groups, functions and loops. */
export interface MentionedCommand {
  /** `undefined` for a word that is not literal. Empty when the command has no name. */
  readonly words: readonly (string | undefined)[];
  /** Gets its input from the text itself (here-document, here-string). */
  readonly textInput: boolean;
  /** Stands after a pipe. */
  readonly piped: boolean;
}

const NESTING: ReadonlySet<string> = new Set([
  "Script",
  "CommandExpansion",
  "ProcessSubstitution",
  "ParameterExpansion",
  "ArithmeticExpansion",
  "ArithmeticCommandExpansion",
]);

/** Expansions in one text that are looked into, and the longest text that is. */
const MAX_EXPANSIONS = 24;
const MAX_MENTION_LENGTH = 64 * 1024;
/** Characters that can stand between parts, quoted ones included. */
const MAX_MENTION_SEPARATORS = 2 * MAX_SEPARATORS;

/** The parser reads nested scripts when they are visited, each from its start: this many characters in all. */
const MAX_NESTED_CHARS = 64 * 1024;

/**
 * Every command that the text mentions, however it is nested. For checks that must see into text that is not analysed
 * (control commands, inline code under security=full). `complete` is false when something may have been missed.
 */
export function mentionedCommands(source: string): { commands: readonly MentionedCommand[]; complete: boolean } {
  const commands: MentionedCommand[] = [];
  const expansions = source.match(/\$[({[]|`|[<>]\(/g)?.length ?? 0;
  if (
    source.length > MAX_MENTION_LENGTH ||
    expansions > MAX_EXPANSIONS ||
    separators(source) > MAX_MENTION_SEPARATORS
  ) {
    return { commands, complete: false };
  }
  let complete = true;
  let visited = 0;
  const literal = (word: Word, text: string): string | undefined => {
    const decoded = decodeWord(text.slice(word.pos, word.end));
    return decoded.ok ? decoded.value : undefined;
  };
  const visit = (node: SyntaxNode, text: string, piped: boolean): void => {
    let own = text;
    // A nested expansion is read again at every level: bounded by what all of them hold, not by how deep they are.
    if (NESTING.has(node.type)) visited += node.end - node.pos;
    if (visited > MAX_NESTED_CHARS) {
      complete = false;
      return;
    }
    if (node.type === "Script") {
      own = node.source ?? text;
      if (((node as ParsedScript).errors?.length ?? 0) > 0) complete = false;
    }
    if (node.type === "Command") {
      const words = node.name ? [node.name, ...node.suffix.filter((item) => item.type === "Word")] : [];
      commands.push({
        words: words.map((word) => literal(word, own)),
        textInput: [...node.prefix, ...node.suffix].some(
          (item) => item.type === "HereDoc" || item.type === "HereString",
        ),
        piped,
      });
    }
    if (node.type === "Pipeline") {
      for (const [index, member] of node.commands.entries()) visit(member, own, piped || index > 0);
      return;
    }
    forEachChild(node, (child) => visit(child, own, piped));
  };
  try {
    visit(parse(source), source, false);
  } catch {
    complete = false;
  }
  return { commands, complete };
}
