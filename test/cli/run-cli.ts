/** Runs the command line in this process, with output captured and a state directory of its own. */
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { onTestFinished } from "vitest";
import { runProgram } from "../../src/cli/program.ts";
import type { EnvVars } from "../../src/core/config/environment.ts";

export interface CliResult {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

export interface CliHome {
  readonly dir: string;
  run(...argv: string[]): Promise<CliResult>;
  runWith(options: { readonly stdin?: string; readonly env?: EnvVars }, ...argv: string[]): Promise<CliResult>;
}

export function cliHome(): CliHome {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), "openclaw-cli-")));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  const runWith: CliHome["runWith"] = async ({ stdin = "", env = {} }, ...argv) => {
    const out: string[] = [];
    const err: string[] = [];
    const code = await runProgram(argv, {
      env: { HOME: dir, OPENCLAW_STATE_DIR: dir, ...env },
      cwd: dir,
      stdin: Readable.from([Buffer.from(stdin)]),
      out: (text) => out.push(text),
      err: (text) => err.push(text),
    });
    return { code, out: out.join("\n"), err: err.join("\n") };
  };
  return { dir, runWith, run: (...argv) => runWith({}, ...argv) };
}
