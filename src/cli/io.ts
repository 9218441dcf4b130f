/** What a command of the command line gets from the world, so that tests can hand in their own. */
import type { Readable } from "node:stream";
import type { Command } from "commander";
import type { EnvVars } from "../core/config/environment.ts";

export const EXIT = { ok: 0, failed: 1, usage: 2 } as const;

export interface CliIo {
  readonly env: EnvVars;
  readonly cwd: string;
  readonly stdin: Readable & { readonly isTTY?: boolean };
  /** One line, or several, to stdout: the result. */
  out(text: string): void;
  /** To stderr: everything that is not the result. */
  err(text: string): void;
  /** Ends the process this many milliseconds from now, whatever holds it open then. Absent: it is not ours to end. */
  leave?(withinMs: number): void;
}

export interface Cli extends CliIo {
  /** The exit code when the command is done, one of `EXIT`. Without a call it is 0. */
  exit(code: number): void;
}

/** Fills in arguments, options and the action of one command. Heavy modules are imported inside the action. */
export type Define = (command: Command, cli: Cli) => void | Promise<void>;

/** Reads all of stdin as text. */
export async function readStdin(io: CliIo): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of io.stdin) chunks.push(Buffer.from(chunk as Uint8Array));
  return Buffer.concat(chunks).toString("utf8");
}
