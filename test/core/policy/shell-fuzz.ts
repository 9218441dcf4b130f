/**
 * Random shell text against real bash. Whatever the policy allows is run twice, as written and as planned, with
 * programs on PATH that log how they were called: both must call the one listed program with the same arguments, and
 * nothing else.
 */
import { spawnSync } from "node:child_process";
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "../../../src/core/clock.ts";
import { cachedFileFacts } from "../../../src/core/exec/file-facts.ts";
import { decide } from "../../../src/core/policy/decide.ts";
import type { DecideInput } from "../../../src/core/policy/decision.ts";
import { resolvePolicy } from "../../../src/core/policy/resolve.ts";

// biome-ignore-start lint/suspicious/noTemplateCurlyInString: shell text
/** Pieces of which text is made: words, quoting of every kind, operators, and grammar that must stop the analysis. */
const PIECES = [
  ...[
    "aa",
    "aa",
    "aa",
    "bb",
    "cc",
    "f",
    "x",
    "-n",
    "a b",
    "1",
    "2",
    "=",
    "#",
    "\\",
    "\\\\",
    "'",
    "'",
    '"',
    '"',
    " ",
    " ",
    " ",
    " ",
  ],
  ...[
    "\n",
    "\t",
    ";",
    "&&",
    "||",
    "|",
    "|&",
    "&",
    "!",
    "! ",
    "(",
    ")",
    "{ ",
    "; }",
    "{",
    "}",
    ",",
    "..",
    "*",
    "?",
    "[",
    "]",
    "~",
  ],
  ...[
    "$",
    "$x",
    "${x}",
    "$(bb)",
    "`bb`",
    "$'",
    "$'\\x62b'",
    '$"',
    "$((1))",
    "<(bb)",
    ">",
    "<",
    "2>&1",
    ">/dev/null",
    "<<E\n",
    "E\n",
  ],
  ...[
    "x=bb",
    "aa=1 ",
    "time ",
    "time -p ",
    "if ",
    "then ",
    "fi",
    "for ",
    "do ",
    "done",
    "case ",
    "esac",
    "function ",
    "()",
    "[[ ",
    " ]]",
  ],
  ...[
    "true",
    ":",
    "cd ",
    "echo ",
    "eval ",
    "exec ",
    "command ",
    "coproc ",
    "select ",
    "until ",
    "\\\n",
    "\\'",
    '\\"',
    "''",
    '""',
    "'a'b",
    "aa'",
    'aa"',
  ],
  ...[
    "'a\nb'",
    "'#'",
    '"#"',
    " #x\n",
    ";;",
    ";&",
    "a'b\"c",
    "\r",
    "\u00a0",
    "\u200b",
    "é",
    "{a,b}",
    "-",
    "--",
    "aa ",
    "aa ",
    "aa x",
    "aa 'x y'",
  ],
];

// biome-ignore-end lint/suspicious/noTemplateCurlyInString: shell text

/** Simple and repeatable: the same seed gives the same strings everywhere. */
export function random(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

export function randomCommand(next: () => number): string {
  const length = 1 + Math.floor(next() * 12);
  let text = next() < 0.7 ? "aa " : "";
  for (let i = 0; i < length; i += 1) text += PIECES[Math.floor(next() * PIECES.length)];
  return text;
}

export interface FuzzReport {
  readonly strings: number;
  readonly allowed: number;
  /** Distinct allowed texts that were run, as written and as planned. */
  readonly run: number;
  readonly calls: number;
  readonly escapes: readonly string[];
}

/** Each call is logged as the number of its words and the words, each ended by NUL, which no word can hold. */
const SHIM = `#!/bin/sh
{ printf '%d\\0%s\\0' $(($# + 1)) "\${0##*/}"; for a in "$@"; do printf '%s\\0' "$a"; done; } >> "$FUZZ_LOG"
[ "$1" != f ]
`;
/** The same in C: a thousand calls a second more. */
const SHIM_C = `#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
int main(int argc, char **argv) {
  static char out[65536];
  char *name = strrchr(argv[0], '/');
  argv[0] = name ? name + 1 : argv[0];
  size_t n = (size_t)sprintf(out, "%d", argc) + 1;
  for (int i = 0; i < argc; i++) {
    size_t l = strlen(argv[i]) + 1;
    if (n + l > sizeof out) return 9;
    memcpy(out + n, argv[i], l);
    n += l;
  }
  int fd = open(getenv("FUZZ_LOG"), O_WRONLY | O_APPEND);
  if (fd < 0 || write(fd, out, n) != (ssize_t)n) return 9;
  return argc > 1 && strcmp(argv[1], "f") == 0;
}
`;
/** Between two texts: a call of no words. */
const MARK = "0";

function readCalls(log: string): string[][] {
  const fields = log.split("\0");
  const texts: string[][] = [];
  for (let at = 0; at < fields.length - 1; ) {
    const count = Number(fields[at]);
    if (fields[at] === MARK) texts.push([]);
    else texts.at(-1)?.push(JSON.stringify(fields.slice(at + 1, at + 1 + count)));
    at += 1 + count;
  }
  return texts;
}

export class ShellFuzz {
  readonly #root = realpathSync(mkdtempSync(join(tmpdir(), "shell-fuzz-")));
  readonly #bin = join(this.#root, "bin");
  readonly #cwd = join(this.#root, "work");
  readonly #log = join(this.#root, "log");
  readonly #facts = cachedFileFacts(systemClock);
  readonly #policy: DecideInput["policy"];

  constructor() {
    mkdirSync(this.#bin);
    mkdirSync(this.#cwd);
    for (const name of ["aa", "bb", "cc"]) this.#makeShim(name);
    this.#policy = resolvePolicy({
      host: "gateway",
      config: { mode: "ask" },
      // The operator names the file, so that it counts although the folder is a scratch one.
      hostFile: { allowlist: [{ pattern: join(this.#bin, "aa") }] },
    });
  }

  #makeShim(name: string): void {
    const file = join(this.#bin, name);
    const source = join(this.#root, "shim.c");
    writeFileSync(source, SHIM_C);
    if (spawnSync("cc", ["-O1", "-o", file, source]).status !== 0) {
      writeFileSync(file, SHIM);
      chmodSync(file, 0o755);
    }
  }

  /** Strings `count` made from `seed`. */
  fuzz(seed: number, count: number): FuzzReport {
    const next = random(seed);
    const plans = new Map<string, string>();
    const expected = new Map<string, string>();
    let allowed = 0;
    for (let i = 0; i < count; i += 1) {
      const command = randomCommand(next);
      const decision = this.#decide(command);
      if (decision.kind !== "allow") continue;
      allowed += 1;
      const { plan } = decision;
      if (plan.kind === "argv") expected.set(command, JSON.stringify(["aa", ...plan.args]));
      else plans.set(command, plan.text);
    }
    const commands = [...expected.keys(), ...plans.keys()];
    const written = this.#run(commands);
    const planned = this.#run([...plans.values()]);
    const escapes: string[] = [];
    let calls = 0;
    for (const [index, command] of commands.entries()) {
      const seen = written[index] ?? [];
      calls += seen.length;
      const argv = expected.get(command);
      const meant = argv === undefined ? (planned[index - expected.size] ?? []) : [argv];
      const onlyListed = [...seen, ...meant].every((call) => call.startsWith('["aa"'));
      if (!onlyListed || JSON.stringify(seen.toSorted()) !== JSON.stringify(meant.toSorted())) {
        escapes.push(`${JSON.stringify(command)} ran ${seen.join(" ")}, planned ${meant.join(" ")}`);
      }
    }
    const left = readdirSync(this.#cwd);
    if (left.length > 0) escapes.push(`files appeared: ${left.join(", ")}`);
    return { strings: count, allowed, run: commands.length, calls, escapes };
  }

  #decide(command: string) {
    return decide({
      command,
      cwd: this.#cwd,
      host: "gateway",
      agentId: "main",
      env: {},
      policy: this.#policy,
      path: [this.#bin],
      home: this.#cwd,
      facts: this.#facts,
    });
  }

  /** Every text in its own subshell of one bash; the calls of each, in no particular order. */
  #run(texts: readonly string[]): string[][] {
    if (texts.length === 0) return [];
    writeFileSync(this.#log, "");
    const driver = `while IFS= read -r -d '' text; do printf '${MARK}\\0' >> "$FUZZ_LOG"; ( eval -- "$text" ) < /dev/null > /dev/null 2>&1; done`;
    const result = spawnSync("/bin/bash", ["--noprofile", "--norc", "-c", driver], {
      cwd: this.#cwd,
      env: { PATH: this.#bin, FUZZ_LOG: this.#log, HOME: this.#cwd, LANG: "C.UTF-8" },
      input: texts.map((text) => `${text}\0`).join(""),
      maxBuffer: 1 << 26,
    });
    if (result.error) throw result.error;
    return readCalls(readFileSync(this.#log, "utf8"));
  }

  remove(): void {
    rmSync(this.#root, { recursive: true, force: true });
  }
}
