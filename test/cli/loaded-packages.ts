/** Runs `config file` and prints which CommonJS packages that loaded: the heavy ones all are. */
import { createRequire } from "node:module";
import { runProgram } from "../../src/cli/program.ts";

await runProgram(["config", "file"], {
  env: process.env,
  cwd: process.cwd(),
  stdin: process.stdin,
  out: () => undefined,
  err: () => undefined,
});
const names = Object.keys(createRequire(import.meta.url).cache).flatMap((path) => {
  const name = /node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path.replaceAll("\\", "/"))?.[1];
  return name === undefined ? [] : [name];
});
console.log(JSON.stringify([...new Set(names)]));
