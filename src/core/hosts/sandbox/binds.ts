/**
 * `docker.binds`: which directories of this machine an operator may hand in (hosts.md section 2.2). Pure: what a path
 * really is, is handed in.
 */
import { posix } from "node:path";
import { isWithin } from "./mounts.ts";

export interface Bind {
  readonly source: string;
  readonly target: string;
  readonly mode: "ro" | "rw";
}

/** Why one is not taken. */
export type BindProblem =
  | "syntax"
  | "source-relative"
  | "source-missing"
  | "source-kind"
  | "source-blocked"
  | "source-external"
  | "source-swappable"
  | "target-relative"
  | "target-system"
  | "target-reserved"
  | "target-twice";

/** `source:target[:ro|rw]`; `rw` when nothing is said. */
export function parseBind(text: string): Bind | undefined {
  const parts = text.split(":");
  const [source = "", target = "", mode = "rw"] = parts;
  if (parts.length < 2 || parts.length > 3 || source === "" || target === "") return undefined;
  return mode === "ro" || mode === "rw" ? { source, target, mode } : undefined;
}

/** Of the system: never handed in, whoever asks. */
const BLOCKED = ["/etc", "/proc", "/sys", "/dev", "/boot", "/run", "/var/run"];
/** Keys and tokens of the account. */
const BLOCKED_AT_HOME = [
  ...[".ssh", ".aws", ".gnupg", ".docker", ".config", ".npm", ".cargo", ".netrc"],
  ...[".kube", ".npmrc", ".pypirc", ".git-credentials", ".azure"],
];
/** What the sandbox is built from. */
const SYSTEM_TARGETS = [
  "/usr",
  "/bin",
  "/sbin",
  "/lib",
  "/lib32",
  "/lib64",
  "/libx32",
  "/etc",
  "/proc",
  "/dev",
  "/sys",
];

/** What no sandbox may see. */
export interface Secrets {
  readonly homes: readonly string[];
  /** State directory, and where private directories are. */
  readonly own: readonly string[];
}

/** `path` is of the system, or something secret is in it: what holds it shows it just as well. */
export function holdsSecrets(path: string, secrets: Secrets): boolean {
  return (
    BLOCKED.some((one) => isWithin(path, one) || isWithin(one, path)) ||
    ofAccount(secrets).some((one) => isWithin(one, path))
  );
}

function ofAccount({ homes, own }: Secrets): string[] {
  return [...own, ...homes.flatMap((home) => BLOCKED_AT_HOME.map((name) => posix.join(home, name)))];
}

export interface BindRules {
  /** Real paths of all agents' workspaces. */
  readonly workspaces: readonly string[];
  /** Those that sandboxed commands can write in. */
  readonly writable: readonly string[];
  readonly secrets: Secrets;
  /** Targets of the workspace mounts. */
  readonly reserved: readonly string[];
  readonly allowExternal: boolean;
  readonly allowReserved: boolean;
}

/** `real`: the source with every link resolved, as far as it exists. */
export function bindProblem(
  bind: Bind,
  real: { readonly path: string; readonly kind: "directory" | "file" | "other" | "missing" },
  rules: BindRules,
): BindProblem | undefined {
  const target = posix.normalize(bind.target);
  if (!posix.isAbsolute(bind.source) || posix.normalize(bind.source).replace(/(.)\/$/, "$1") !== bind.source)
    return "source-relative";
  if (!posix.isAbsolute(bind.target) || target !== bind.target || (target.endsWith("/") && target !== "/"))
    return "target-relative";
  if (target === "/" || SYSTEM_TARGETS.some((one) => isWithin(target, one))) return "target-system";
  const touches = (one: string): boolean => isWithin(target, one) || isWithin(one, target);
  if (!rules.allowReserved && rules.reserved.some(touches)) return "target-reserved";
  const ours = rules.workspaces.some((folder) => isWithin(real.path, folder));
  if (holdsSecrets(real.path, rules.secrets)) return "source-blocked";
  // A workspace may well be in /root or in the state directory, and its files are what it is for.
  if (!ours && ["/root", ...ofAccount(rules.secrets)].some((one) => isWithin(real.path, one))) return "source-blocked";
  if (!ours && !rules.allowExternal) return "source-external";
  // A command in a sandbox could put a link in its place between this look and the mount.
  if (rules.writable.some((folder) => real.path !== folder && isWithin(real.path, folder))) return "source-swappable";
  if (real.kind === "missing") return "source-missing";
  return real.kind === "other" ? "source-kind" : undefined;
}
