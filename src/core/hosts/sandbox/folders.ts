/**
 * The private directories of sandboxes: `<root>/<name>/workspace` is what commands see, and beside it stands what it is
 * for and, as its time of change, when it was used last.
 */
import { randomUUID } from "node:crypto";
import {
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { ExecError } from "../../errors.ts";
import type { SandboxScope } from "../../exec/sandbox-settings.ts";
import { phrase } from "../../words/phrase.ts";

const ABOUT = "sandbox.json";
const WORKSPACE = "workspace";
/** Being removed; nobody finds it by its name any more. */
const GOING = ".going-";

export interface Folder {
  readonly name: string;
  readonly scope: SandboxScope;
  /** Scope key: `agent:main`, a session key, `shared`. */
  readonly key: string;
  readonly agentId: string;
  readonly createdAtMs: number;
  readonly lastUsedAtMs: number;
  /** What commands see as their workspace. */
  readonly workspace: string;
}

export class SandboxFolders {
  readonly root: string;

  constructor(root: string) {
    this.root = root;
  }

  /** The private directory, made when it is not there. Its real path. */
  ensure(name: string, about: Pick<Folder, "scope" | "key" | "agentId">, nowMs: number): string {
    const folder = join(this.root, name);
    const workspace = join(folder, WORKSPACE);
    mkdirSync(workspace, { recursive: true, mode: 0o700 });
    for (const path of [folder, workspace]) {
      // A link here would hand in whatever it leads to.
      if (lstatSync(path).isDirectory()) continue;
      throw new ExecError("host-unavailable", phrase("error.sandbox", { why: phrase("sandbox.why.link", { path }) }));
    }
    try {
      writeFileSync(join(folder, ABOUT), JSON.stringify({ version: 1, ...about, createdAtMs: nowMs }), {
        flag: "wx",
        mode: 0o600,
      });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    }
    return realpathSync.native(workspace);
  }

  /** Used now: it is kept for another while. */
  touch(name: string, nowMs: number): void {
    const seconds = nowMs / 1000;
    utimesSync(join(this.root, name, ABOUT), seconds, seconds);
  }

  list(): Folder[] {
    return names(this.root).flatMap((name) => {
      if (name.startsWith(".")) return [];
      const file = join(this.root, name, ABOUT);
      try {
        const about = JSON.parse(readFileSync(file, "utf8")) as Partial<Folder>;
        return [
          {
            name,
            scope: about.scope ?? "agent",
            key: String(about.key ?? ""),
            agentId: String(about.agentId ?? ""),
            createdAtMs: Number(about.createdAtMs ?? 0),
            lastUsedAtMs: statSync(file).mtimeMs,
            workspace: join(this.root, name, WORKSPACE),
          },
        ];
      } catch {
        // Not one of ours: left alone.
        return [];
      }
    });
  }

  /** Out of the way at once, in one step; then its files go. */
  async remove(name: string): Promise<void> {
    const going = join(this.root, `${GOING}${randomUUID()}`);
    renameSync(join(this.root, name), going);
    await rm(going, { recursive: true, force: true });
  }

  /** What a removal that was cut off left. */
  async clear(): Promise<void> {
    for (const name of names(this.root)) {
      if (name.startsWith(GOING)) await rm(join(this.root, name), { recursive: true, force: true });
    }
  }
}

export interface Prune {
  readonly idleHours?: number;
  readonly maxAgeDays?: number;
}

const HOUR_MS = 3_600_000;

/** 0 switches either limit off. */
export function isDue(folder: Folder, { idleHours = 0, maxAgeDays = 0 }: Prune, nowMs: number): boolean {
  if (idleHours > 0 && nowMs - folder.lastUsedAtMs > idleHours * HOUR_MS) return true;
  return maxAgeDays > 0 && nowMs - folder.createdAtMs > maxAgeDays * 24 * HOUR_MS;
}

function names(root: string): string[] {
  try {
    return readdirSync(root);
  } catch {
    return [];
  }
}
