/**
 * Where a path of a patch really leads, symbolic links followed the way the kernel does: `link/..` is the parent of
 * what the link points to. Nothing is changed here.
 */
import { lstat, realpath } from "node:fs/promises";
import { dirname, isAbsolute, join, relative, sep } from "node:path";
import { ExecError } from "../../errors.ts";

export interface Place {
  /** Real path of the nearest folder that exists. */
  readonly folder: string;
  /** Folders below it that would have to be made, in order. */
  readonly missing: readonly string[];
  readonly name: string;
  /** Real folder and name joined: the same for every spelling of one file. */
  readonly path: string;
}

/** Links followed for one path, so that a loop ends. */
const MAX_LINKS = 40;

/**
 * `root`: real path of the workspace. Throws `invalid-argument` for a path that leads out of it (when `workspaceOnly`),
 * names a folder, or has a NUL.
 */
export async function locate(root: string, path: string, workspaceOnly: boolean): Promise<Place> {
  if (path.includes("\0")) throw refused(`The path ${JSON.stringify(path)} has a NUL character in it.`);
  if (path === "~" || path.startsWith("~/")) {
    throw refused(`${path}: "~" is not expanded. Give the path relative to the workspace.`);
  }
  const segments = path.split(/[/\\]/.test(path) && sep === "\\" ? /[/\\]/ : "/");
  const name = segments.pop() ?? "";
  if (name === "" || name === "." || name === "..") throw refused(`${path} does not name a file.`);
  const { folder, missing } = await walk(root, path, segments);
  const place = { folder, missing, name, path: join(folder, ...missing, name) };
  if (workspaceOnly && !isInside(root, folder)) {
    throw refused(
      `${path} leads out of the workspace ${root}. Only files inside it may be changed (tools.exec.applyPatch.workspaceOnly).`,
    );
  }
  return place;
}

async function walk(
  root: string,
  path: string,
  segments: readonly string[],
): Promise<{ readonly folder: string; readonly missing: readonly string[] }> {
  let folder = isAbsolute(path) ? "/" : root;
  const missing: string[] = [];
  let links = 0;
  for (const segment of segments) {
    if (segment === "" || segment === ".") continue;
    if (segment === "..") {
      if (missing.length > 0) throw refused(`${path} goes up from a folder that does not exist.`);
      folder = dirname(folder);
      continue;
    }
    if (missing.length > 0) {
      missing.push(segment);
      continue;
    }
    const next = join(folder, segment);
    const found = await lstat(next).catch((error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT") return undefined;
      throw refused(`${path} can not be reached (${error.code}).`);
    });
    if (found === undefined) missing.push(segment);
    else if (found.isSymbolicLink()) {
      if (++links > MAX_LINKS) throw refused(`${path} goes through too many symbolic links.`);
      folder = await realpath(next).catch(() => {
        throw refused(`${path} goes through the symbolic link ${next}, which leads nowhere.`);
      });
    } else if (found.isDirectory()) folder = next;
    else throw refused(`${path} goes through ${next}, which is not a folder.`);
  }
  return { folder, missing };
}

function isInside(root: string, path: string): boolean {
  const inside = relative(root, path);
  return inside === "" || (inside !== ".." && !inside.startsWith(`..${sep}`) && !isAbsolute(inside));
}

function refused(message: string): ExecError {
  return new ExecError("invalid-argument", `${message} Nothing was changed.`);
}
