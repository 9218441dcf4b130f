/** A state directory of its own for each test, gone afterwards. */
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import type { EnvVars } from "../../../src/core/config/environment.ts";
import {
  type LoadedConfig,
  type LoadResult,
  loadConfig,
  type Problem,
  renderProblems,
} from "../../../src/core/config/load.ts";

export interface Scratch {
  readonly dir: string;
  readonly file: string;
  write(text: string, mode?: number): void;
  load(env?: EnvVars): Promise<LoadResult>;
  /** The loaded configuration; fails the test with the problems when there are any. */
  good(env?: EnvVars): Promise<LoadedConfig>;
  /** The problems; fails the test when there are none. */
  bad(env?: EnvVars): Promise<readonly Problem[]>;
}

export function scratch(): Scratch {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), "openclaw-config-")));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  const file = join(dir, "openclaw.json");
  const load = (env: EnvVars = {}) => loadConfig({ env: { HOME: dir, ...env }, stateDir: dir, workingDir: dir });
  return {
    dir,
    file,
    write: (text, mode = 0o600) => writeFileSync(file, text, { mode }),
    load,
    async good(env) {
      const loaded = await load(env);
      if (!loaded.ok) throw new Error(renderProblems(file, loaded.problems));
      return loaded;
    },
    async bad(env) {
      const loaded = await load(env);
      if (loaded.ok) throw new Error("expected problems, but the configuration is valid");
      return loaded.problems;
    },
  };
}
