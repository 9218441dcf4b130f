/**
 * Builds native/spawn.c, which starts commands faster on Linux. It is not needed: where it can not be built, Node's own
 * spawn does the work, so a machine without a compiler installs all the same. Nothing is downloaded for it: the headers
 * are those beside this Node, those npm is told of, or those that an earlier build has fetched.
 */
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const HEADER = "include/node/node_api.h";

/** @returns {string | undefined} the folder in which `include/node` is */
function headers() {
  const cache = process.env.XDG_CACHE_HOME || join(homedir(), ".cache");
  const places = [
    process.env.npm_config_nodedir,
    join(dirname(process.execPath), ".."),
    join(process.env.npm_config_devdir || join(cache, "node-gyp"), process.versions.node),
  ];
  return places.find((place) => place && existsSync(join(place, HEADER)));
}

/** @returns {string | undefined} why there is nothing built */
function build() {
  const nodedir = headers();
  if (nodedir === undefined) return "the headers of Node are not on this machine";
  const { status, stderr, error } = spawnSync("node-gyp", ["rebuild", `--nodedir=${nodedir}`], {
    cwd: fileURLToPath(new URL("..", import.meta.url)),
    encoding: "utf8",
  });
  if (status === 0) return undefined;
  return error?.message ?? stderr.split("\n").find((line) => /ERR! stack|: error:/.test(line)) ?? "unknown";
}

if (process.platform === "linux") {
  const why = build();
  if (why !== undefined) {
    console.warn(`openclaw-exec: the fast way to start commands was not built (${why.trim()}); Node's is used.`);
  }
}
