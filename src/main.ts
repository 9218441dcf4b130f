#!/usr/bin/env node
import { runProgram } from "./cli/program.ts";

// `openclaw-exec … | head` closes the pipe early; that is no error of ours.
process.stdout.on("error", (error: NodeJS.ErrnoException) => process.exit(error.code === "EPIPE" ? 0 : 1));

process.exitCode = await runProgram(process.argv.slice(2), {
  env: process.env,
  cwd: process.cwd(),
  stdin: process.stdin,
  out: (text) => process.stdout.write(`${text}\n`),
  err: (text) => process.stderr.write(`${text}\n`),
  leave: (withinMs) => {
    setTimeout(() => {
      process.stderr.write(`Left although ${process.getActiveResourcesInfo().join(", ")} went on.\n`);
      process.exit();
    }, withinMs).unref();
  },
});
