/**
 * The text form of `/exec` (decisions.md D5): nothing → show; only session options → set; anything left after the
 * leading options → run, with those options for this call. The command is the raw rest of the text.
 */
import { ExecError } from "../core/errors.ts";
import { parseHost } from "../core/exec/exec-args.ts";
import { nearestOf } from "../core/nearest.ts";
import { ASK_LEVELS, type Ask, type ExecHost, SECURITY_LEVELS, type Security } from "../core/policy/types.ts";
import { phrase, type Wording } from "../core/words/phrase.ts";

/** Set session defaults when they stand alone. */
const SESSION_OPTIONS = ["host", "security", "ask", "node"] as const;
/** Make sense for one call only; `for` limits how long session options hold. */
const CALL_OPTIONS = ["timeout", "workdir", "pty", "background", "yieldMs", "for"] as const;
const OPTIONS = [...SESSION_OPTIONS, ...CALL_OPTIONS] as const;

export interface ExecOptions {
  host?: ExecHost;
  security?: Security;
  ask?: Ask;
  node?: string;
  timeout?: number;
  workdir?: string;
  pty?: boolean;
  background?: boolean;
  yieldMs?: number;
  forMs?: number;
}

export type ExecText =
  | { readonly kind: "show" }
  | { readonly kind: "set"; readonly options: ExecOptions }
  | { readonly kind: "run"; readonly options: ExecOptions; readonly command: string }
  | { readonly kind: "explain"; readonly command: string }
  /** `host=` without its value, which may be one of these; `at` is where it belongs in the text. */
  | {
      readonly kind: "choose";
      readonly option: keyof typeof VALUES | "node";
      /** Empty for what only the gateway knows. */
      readonly values: readonly string[];
      readonly at: number;
    }
  | { readonly kind: "error"; readonly message: Wording };

export const EXEC_USAGE = "/exec [host=… security=… ask=… node=… timeout=… workdir=…] [--] <command>";

export function parseExecText(args: string): ExecText {
  const explain = /^explain\s+(?=\S)/.exec(args);
  if (explain) return { kind: "explain", command: args.slice(explain[0].length) };
  const options: ExecOptions = {};
  let rest = args;
  let seen = 0;
  for (;;) {
    const token = leadingOption(rest);
    if (!token) break;
    if (!isOption(token.name)) {
      const near = nearestOf(token.name, OPTIONS);
      // `FOO=1 make` sets a variable for make; a lone `foo=1` would run nothing and is a mistyped option.
      const alone = rest.slice(token.length).trim() === "" && seen === 0;
      if (near === undefined && alone && /^[a-z]/.test(token.name)) {
        return { kind: "error", message: phrase("exec.option.unknown", { option: token.name, known: OPTIONS }) };
      }
      if (near === undefined || !/^[a-z]/.test(token.name)) break;
      return {
        kind: "error",
        message: phrase("exec.option.near", { option: token.name, near, form: `/exec -- ${rest.slice(0, 60)}` }),
      };
    }
    const known = token.name === "for" ? "forMs" : token.name;
    if (options[known] !== undefined) {
      return { kind: "error", message: phrase("exec.option.twice", { option: token.name }) };
    }
    const isBare = token.value === "" && !/["']/.test(rest.slice(0, token.length));
    if (isBare && (token.name === "node" || isChoosable(token.name))) {
      const at = args.length - rest.length + token.name.length + 1;
      return { kind: "choose", option: token.name, values: token.name === "node" ? [] : VALUES[token.name], at };
    }
    const problem = setOption(options, token.name, token.value);
    if (problem) return { kind: "error", message: problem };
    rest = rest.slice(token.length);
    seen++;
  }
  const dashes = /^--(?:\s+|$)/.exec(rest);
  const command = dashes ? rest.slice(dashes[0].length) : rest;
  if (command.trim() !== "") {
    if (options.forMs !== undefined) {
      return { kind: "error", message: phrase("exec.for.command") };
    }
    return { kind: "run", options, command };
  }
  if (dashes) return { kind: "error", message: phrase("exec.noCommand", { usage: EXEC_USAGE }) };
  if (seen === 0) return { kind: "show" };
  const callOnly = CALL_OPTIONS.find((name) => name !== "for" && options[name as keyof ExecOptions] !== undefined);
  if (callOnly) {
    return { kind: "error", message: phrase("exec.option.callOnly", { option: callOnly, usage: EXEC_USAGE }) };
  }
  if (!SESSION_OPTIONS.some((name) => options[name] !== undefined)) {
    return { kind: "error", message: phrase("exec.for.alone") };
  }
  return { kind: "set", options };
}

interface Token {
  readonly name: string;
  readonly value: string;
  /** Characters up to the next token, blanks included. */
  readonly length: number;
}

/** `name=value` or `name:value` at the very start; the value may be quoted. Never looks at the command behind it. */
function leadingOption(text: string): Token | undefined {
  const match = /^([A-Za-z][A-Za-z0-9_]*)[=:](?:"([^"\n]*)"|'([^'\n]*)'|(\S*))(?:\s+|$)/.exec(text);
  if (!match) return undefined;
  const [whole, name = "", double, single, bare] = match;
  // `http://…` or `a:b` is no option of ours unless the name is one.
  if (text[name.length] === ":" && !isOption(name)) return undefined;
  return { name, value: double ?? single ?? bare ?? "", length: whole.length };
}

const VALUES = {
  host: ["auto", "sandbox", "gateway", "node"],
  security: SECURITY_LEVELS,
  ask: ASK_LEVELS,
} as const satisfies Partial<Record<(typeof OPTIONS)[number], readonly string[]>>;

function isChoosable(name: string): name is keyof typeof VALUES {
  return Object.hasOwn(VALUES, name);
}

function isOption(name: string): name is (typeof OPTIONS)[number] {
  return (OPTIONS as readonly string[]).includes(name);
}

function setOption(options: ExecOptions, name: (typeof OPTIONS)[number], value: string): Wording | undefined {
  switch (name) {
    case "host":
      try {
        const host = parseHost(value);
        if (host) options.host = host;
        return undefined;
      } catch (error) {
        if (error instanceof ExecError) return error.wording;
        throw error;
      }
    case "security":
      return choose(options, "security", value, SECURITY_LEVELS);
    case "ask":
      return choose(options, "ask", value, ASK_LEVELS);
    case "node":
      if (value === "") return phrase("exec.option.node");
      options.node = value;
      return undefined;
    case "workdir":
      if (value === "") return phrase("exec.option.workdir");
      options.workdir = value;
      return undefined;
    case "timeout":
    case "yieldMs": {
      const amount = Number(value);
      if (value === "" || !Number.isFinite(amount) || amount < 0) {
        const unit = name === "timeout" ? "exec.option.seconds" : "exec.option.milliseconds";
        return phrase(unit, { option: name, value });
      }
      options[name] = amount;
      return undefined;
    }
    case "pty":
    case "background": {
      const on = ["true", "on", "yes", "1"].includes(value.toLowerCase());
      if (!on && !["false", "off", "no", "0"].includes(value.toLowerCase()))
        return phrase("exec.option.onOff", { option: name });
      options[name] = on;
      return undefined;
    }
    case "for": {
      const match = /^(\d{1,6})(s|m|h|d)$/.exec(value);
      if (!match) return phrase("exec.for.duration");
      const unit = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }[match[2] as "s" | "m" | "h" | "d"];
      options.forMs = Number(match[1]) * unit;
      return undefined;
    }
  }
}

function choose<K extends "security" | "ask">(
  options: ExecOptions,
  name: K,
  value: string,
  allowed: readonly NonNullable<ExecOptions[K]>[],
): Wording | undefined {
  const wanted = value.toLowerCase() as NonNullable<ExecOptions[K]>;
  if (!allowed.includes(wanted)) return phrase("exec.option.invalid", { option: name, value, allowed });
  options[name] = wanted;
  return undefined;
}
