/**
 * Variables from the environment and from two `.env` files. The environment wins, then the state directory's file,
 * then the working directory's. Nothing is copied into `process.env`, so commands do not inherit it.
 */
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { parseEnv } from "node:util";

export type EnvVars = Readonly<Record<string, string | undefined>>;

export interface Environment {
  /** Undefined when the variable is absent or blank. */
  get(name: string): string | undefined;
  /** `the environment`, or the file it was read from. */
  source(name: string): string | undefined;
  /**
   * Everything at once, for functions that read several variables. Holds the secrets of the `.env` files: never the
   * environment of a command.
   */
  readonly vars: EnvVars;
  readonly warnings: readonly string[];
  /** The `.env` files that were looked for, whether they exist or not. */
  readonly searched: readonly string[];
}

const MAX_ENV_FILE_BYTES = 1_048_576;

/** These say where the files are, so they can not come from one. */
const NEVER_FROM_FILE = new Set(["OPENCLAW_STATE_DIR", "OPENCLAW_CONFIG_PATH"]);

export function readEnvironment(env: EnvVars, stateDir: string, workingDir: string): Environment {
  const warnings: string[] = [];
  const layers: { source: string; values: EnvVars }[] = [{ source: "the environment", values: env }];
  const searched = [...new Set([join(stateDir, ".env"), join(workingDir, ".env")])];
  for (const path of searched) {
    const values = readEnvFile(path, warnings);
    if (values) layers.push({ source: path, values });
  }
  const find = (name: string) =>
    layers.find(({ source, values }) => {
      if (source !== "the environment" && NEVER_FROM_FILE.has(name)) return false;
      return Object.hasOwn(values, name) && (values[name] ?? "").trim() !== "";
    });
  return {
    get: (name) => find(name)?.values[name]?.trim(),
    source: (name) => find(name)?.source,
    vars: merge(layers.map(({ values }) => values)),
    warnings,
    searched,
  };
}

/** The first layer that has a variable, and not blank, wins. */
function merge(layers: readonly EnvVars[]): EnvVars {
  const entries = layers.toReversed().flatMap((values, index) =>
    Object.entries(values).filter(([name, value]) => {
      const fromFile = index < layers.length - 1;
      return (value ?? "").trim() !== "" && !(fromFile && NEVER_FROM_FILE.has(name));
    }),
  );
  return Object.fromEntries(entries);
}

function readEnvFile(path: string, warnings: string[]): EnvVars | undefined {
  try {
    const stat = statSync(path);
    if (!stat.isFile() || stat.size > MAX_ENV_FILE_BYTES) {
      warnings.push(`${path} was not read: it is not a regular file of at most ${MAX_ENV_FILE_BYTES} bytes.`);
      return undefined;
    }
    if (process.platform !== "win32" && (stat.mode & 0o077) !== 0) {
      warnings.push(`${path} can be read by others on this machine; run: chmod 600 ${path}`);
    }
    return parseEnv(readFileSync(path, "utf8")) as EnvVars;
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code !== "ENOENT" && code !== "ENOTDIR") warnings.push(`${path} was not read: ${code ?? String(error)}.`);
    return undefined;
  }
}
