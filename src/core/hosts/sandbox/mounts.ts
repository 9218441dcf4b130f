/** Which directories of this machine a sandbox sees, and the two names each of their files has. Pure. */
import { posix } from "node:path";

export interface Mount {
  /** Real path on this machine. */
  readonly host: string;
  /** Absolute path in the sandbox. */
  readonly inside: string;
  readonly mode: "ro" | "rw";
  readonly role: "private" | "workspace" | "agent" | "bind";
}

/** `path` is `folder` or below it. Both absolute and normalised. */
export function isWithin(path: string, folder: string): boolean {
  return path === folder || folder === "/" || path.startsWith(`${folder}/`);
}

/** The mount that `inside` is in: of nested ones the innermost, as in the sandbox itself. */
export function mountAt(inside: string, mounts: readonly Mount[]): Mount | undefined {
  return deepest(
    mounts.filter((mount) => isWithin(inside, mount.inside)),
    (mount) => mount.inside,
  );
}

/** Undefined: this machine has no such file, it is of the sandbox's own root or a forgotten file system. */
export function toHost(inside: string, mounts: readonly Mount[]): string | undefined {
  const mount = mountAt(inside, mounts);
  return mount && posix.join(mount.host, inside.slice(mount.inside.length));
}

/** Undefined: the sandbox does not see it. */
export function toInside(host: string, mounts: readonly Mount[]): string | undefined {
  const seen = mounts
    .filter((mount) => isWithin(host, mount.host))
    .toSorted((a, b) => b.host.length - a.host.length)
    .map((mount) =>
      posix.join(mount.inside, host === mount.host ? "" : host.slice(mount.host === "/" ? 0 : mount.host.length)),
    );
  // A mount inside another hides what that one has at its place.
  return seen.find((inside) => toHost(inside, mounts) === host);
}

function deepest<T>(all: readonly T[], path: (one: T) => string): T | undefined {
  return all.toSorted((a, b) => path(b).length - path(a).length)[0];
}

export interface Files {
  /** Target of a symbolic link; undefined when it is none. */
  readonly readlink: (host: string) => string | undefined;
  readonly isDirectory: (host: string) => boolean;
}

/** As many links as Linux follows. */
const MAX_LINKS = 40;

/**
 * The directory that `path` (absolute, in the sandbox) is, links followed as the sandbox follows them: a link to
 * `/workspace/a` means the sandbox's, and one to `/etc` leads out of every mount. Undefined: not in a mount, or none.
 */
export function directoryInside(path: string, mounts: readonly Mount[], files: Files): string | undefined {
  let left = path.split("/");
  let at = "/";
  let links = 0;
  while (left.length > 0) {
    const [part = "", ...rest] = left;
    left = rest;
    if (part === "" || part === ".") continue;
    const next = part === ".." ? posix.dirname(at) : posix.join(at, part);
    if (part === ".." || mounts.some((mount) => isWithin(mount.inside, next))) {
      at = next;
      continue;
    }
    const host = toHost(next, mounts);
    if (host === undefined) return undefined;
    const target = files.readlink(host);
    if (target === undefined) {
      at = next;
      continue;
    }
    links += 1;
    if (links > MAX_LINKS) return undefined;
    left = [...target.split("/"), ...left];
    if (target.startsWith("/")) at = "/";
  }
  const host = toHost(at, mounts);
  return host !== undefined && files.isDirectory(host) ? at : undefined;
}
