import { spawn } from "node:child_process";
import { tied } from "./tied.ts";

/** Starts a program that would run for minutes, prints its process id, and waits to be killed. */
const child = spawn(...tied("sleep", ["300"]), { stdio: "ignore" });
process.stdout.write(`${child.pid}\n`);
