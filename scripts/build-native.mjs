/**
 * Builds native/spawn.c, which starts commands faster on Linux. It is not needed: where it can not be built, Node's own
 * spawn does the work, so a machine without a compiler installs all the same.
 */
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";

if (process.platform === "linux") {
  const root = fileURLToPath(new URL("..", import.meta.url));
  const { status, stderr, error } = spawnSync("node-gyp", ["rebuild"], { cwd: root, encoding: "utf8" });
  if (status !== 0) {
    const why = error?.message ?? stderr.split("\n").find((line) => /\berror\b|ERR! stack/i.test(line)) ?? "unknown";
    console.warn(`openclaw-exec: the fast way to start commands was not built (${why.trim()}); Node's is used.`);
  }
}
