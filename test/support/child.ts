import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { tied } from "./tied.ts";

/** One of the scripts beside this file, in a process of its own that a test may kill. */
export interface TestChild {
  readonly process: ChildProcess;
  readonly lines: string[];
  /** Resolves to the first line from now on, or already there, that the test is for. Rejects when the process ends first. */
  line(matches: (line: string) => boolean): Promise<string>;
  /** SIGKILL: no handler of the process runs. */
  kill(): Promise<void>;
}

export function startChild(script: string, ...args: string[]): TestChild {
  const path = fileURLToPath(new URL(script, import.meta.url));
  const child = spawn(...tied(process.execPath, ["--import", "tsx", path, ...args]), {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const lines: string[] = [];
  const reader = createInterface({ input: child.stdout });
  reader.on("line", (line) => lines.push(line));
  return {
    process: child,
    lines,
    line(matches) {
      return new Promise((resolve, reject) => {
        const found = lines.find(matches);
        if (found !== undefined) return resolve(found);
        reader.on("line", (line) => matches(line) && resolve(line));
        child.once("exit", (code) =>
          reject(new Error(`the child ended with ${code} before its line: ${lines.join(" | ")}`)),
        );
      });
    },
    async kill() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const gone = once(child, "exit");
      child.kill("SIGKILL");
      await gone;
    },
  };
}
