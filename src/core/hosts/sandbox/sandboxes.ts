/**
 * The sandboxes of one gateway: what a session's sandbox sees, where its private directory is, and whether it can be made
 * at all. Whatever is wrong is an `ExecError` that names the key to change; nothing ever runs elsewhere instead.
 */
import { createHash, randomUUID } from "node:crypto";
import { lstatSync, mkdirSync, readlinkSync, realpathSync, renameSync, statSync, writeFileSync } from "node:fs";
import { dirname, join, posix, resolve } from "node:path";
import type { Clock } from "../../clock.ts";
import { ExecError } from "../../errors.ts";
import type { SandboxSettings } from "../../exec/sandbox-settings.ts";
import { type Phrase, phrase, type Wording } from "../../words/phrase.ts";
import { type Bind, bindProblem, holdsSecrets, parseBind, type Secrets } from "./binds.ts";
import { bwrapOptions, isBadTmpfs, type Layout, type RootParts, withoutWorkspaces } from "./bwrap-options.ts";
import { Cgroups } from "./cgroups.ts";
import { type Engine, EngineProbe } from "./engine.ts";
import { isDue, type Prune, SandboxFolders } from "./folders.ts";
import { prepareLaunch } from "./launcher.ts";
import { type Limits, limitsOf, parseTmpfs, type Tmpfs } from "./limits.ts";
import { directoryInside, isWithin, type Mount, toHost, toInside } from "./mounts.ts";
import { refusalOf, userOf } from "./refusals.ts";
import { readRootParts } from "./root-parts.ts";
import { scopeKey, scopeName } from "./scope.ts";
import { syscallFilter } from "./syscall-filter.ts";
import { sandboxUsers } from "./users.ts";

/** Where the agent's workspace is read-only (`workspaceAccess: ro`). */
export const AGENT_MOUNT = "/agent";
const PRUNE_EVERY_MS = 5 * 60_000;

export interface SandboxesOptions {
  readonly settings: (agentId: string) => SandboxSettings;
  /** Every directory that holds private directories. */
  readonly roots: () => readonly string[];
  readonly stateDir: string;
  /** Home directories of the account. */
  readonly homes: readonly string[];
  readonly clock: Clock;
  /** Folders searched for bubblewrap after the system's own. */
  readonly path: readonly string[];
  readonly onError: (error: unknown, what: string) => void;
  /** Instead of the one that is found: for a test. */
  readonly bwrap?: string;
  readonly answerMs?: number;
}

/** What one session's commands see. */
export interface Place {
  readonly settings: SandboxSettings;
  readonly name: string;
  readonly mounts: readonly Mount[];
  readonly tmpfs: readonly Tmpfs[];
  readonly limits: Limits;
}

export class Sandboxes {
  readonly groups: Cgroups;
  readonly #options: SandboxesOptions;
  readonly #probe: EngineProbe;
  #root: RootParts | undefined;
  #prunedAt: number | undefined;
  #pruning: Promise<unknown> = Promise.resolve();

  constructor(options: SandboxesOptions) {
    this.#options = options;
    this.#probe = new EngineProbe(options);
    this.groups = new Cgroups(createHash("sha256").update(options.stateDir).digest("hex").slice(0, 12));
  }

  settings(agentId: string): SandboxSettings {
    return this.#options.settings(agentId);
  }

  /** The sandbox of a session. Makes its private directory. */
  place(agentId: string, sessionKey: string): Place {
    const settings = this.#options.settings(agentId);
    return this.#placeOf(settings, sessionKey, (name) => this.#private(settings, sessionKey, name), realDirectory);
  }

  /** The same without making anything: for whoever only wants to see it. */
  outline(agentId: string, sessionKey: string): Place {
    const settings = this.#options.settings(agentId);
    // A workspace that is not there yet is made by the start of the gateway.
    const workspace = (path: string) => realPath(path) ?? path;
    return this.#placeOf(settings, sessionKey, (name) => join(settings.workspaceRoot, name, "workspace"), workspace);
  }

  /** The working directory of a call as this machine knows it, links followed as in the sandbox. */
  workdir(requested: string | undefined, agentId: string, sessionKey: string): string {
    const place = this.place(agentId, sessionKey);
    const { mounts, settings } = place;
    const base = settings.docker.workdir;
    const wanted = requested === undefined ? base : posix.resolve(base, requested);
    const inside = requested?.trim() === "" ? undefined : this.#directory(wanted, requested, mounts);
    const host = inside === undefined ? undefined : toHost(inside, mounts);
    if (host !== undefined) return host;
    throw new ExecError(
      "workdir-unavailable",
      phrase("error.sandbox.workdir", { folder: requested ?? base, seen: mounts.map((mount) => mount.inside) }),
      { workdir: requested ?? base },
    );
  }

  #directory(wanted: string, requested: string | undefined, mounts: readonly Mount[]): string | undefined {
    const found = directoryInside(wanted, mounts, FILES);
    if (found !== undefined || requested === undefined || !posix.isAbsolute(requested)) return found;
    // A path of this machine below something the sandbox sees.
    const host = resolve(requested);
    const inside = toInside(host, mounts) ?? toInside(realPath(host) ?? host, mounts);
    return inside === undefined ? undefined : directoryInside(inside, mounts, FILES);
  }

  /** The engine, once a sandbox like this one has come up. Rejects with `host-unavailable`. */
  async engine(place: Place): Promise<Engine> {
    const problem = await this.problem(place);
    const found = problem === undefined ? await this.#probe.find() : { problem };
    if ("engine" in found) return found.engine;
    throw new ExecError("host-unavailable", phrase("error.sandbox", { why: found.problem }));
  }

  /** What keeps a sandbox like this one from coming up, or nothing. Limits are tried as well. Never rejects. */
  async problem(place: Place): Promise<Wording | undefined> {
    const { settings, limits } = place;
    try {
      // The same for every session: whose files are in it makes no difference to whether it comes up.
      const kind = place.mounts.map(({ role, host, ...mount }) => (role === "bind" ? { ...mount, host } : mount));
      const key = createHash("sha256")
        .update(JSON.stringify([settings.docker, kind, place.tmpfs, settings.workspaceRoot]))
        .digest("hex");
      const folder = this.#launchFolder(settings);
      return await this.#probe.works(key, (engine) => {
        const start = { chdir: "/", env: { PATH: "/usr/bin:/bin" }, terminal: false };
        const layout = withoutWorkspaces(this.layout(place));
        return prepareLaunch({
          folder,
          bash: engine.bash,
          setpriv: engine.setpriv,
          bwrap: engine.bwrap,
          options: bwrapOptions(layout, engine.features, start),
          filter: layout.filter,
          groups: [],
          command: [...prlimitOf(limits), "/bin/sh", "-c", "exit 0"],
          graceful: engine.graceful,
        });
      });
    } catch (error) {
      if (error instanceof ExecError) return error.wording;
      return phrase("sandbox.why.said", { line: error instanceof Error ? error.message : String(error) });
    }
  }

  layout(place: Place): Layout {
    const { docker } = place.settings;
    this.#root ??= readRootParts();
    const user = userOf(docker.user) ?? { uid: 1000, gid: 1000 };
    const filter = this.#filter(place.settings);
    return {
      ...(filter === undefined ? {} : { filter }),
      root: this.#root,
      files: this.#files(place.settings, user),
      tmpfs: place.tmpfs,
      mounts: place.mounts,
      readOnlyRoot: docker.readOnlyRoot,
      ...user,
    };
  }

  /** Where a file can be made for a moment. */
  launchFolder(place: Place): string {
    return this.#launchFolder(place.settings);
  }

  /** At a start: what an earlier life left. Directories are looked at beside other work. */
  sweep(): void {
    try {
      this.groups.sweep();
    } catch (error) {
      this.#options.onError(error, "removing control groups of an earlier life");
    }
    this.pruneSoon();
  }

  /** Removes private directories that nobody has used for long; looks at most every five minutes, beside other work. */
  pruneSoon(): void {
    const now = this.#options.clock.monotonic();
    if (this.#prunedAt !== undefined && now - this.#prunedAt < PRUNE_EVERY_MS) return;
    this.#prunedAt = now;
    this.#pruning = this.#pruning
      .then(async () => {
        for (const root of this.#options.roots()) await this.#prune(new SandboxFolders(root));
      })
      .catch((error) => this.#options.onError(error, "removing unused sandboxes"));
  }

  /** Resolves when nothing is being removed. */
  settled(): Promise<unknown> {
    return this.#pruning;
  }

  async #prune(folders: SandboxFolders): Promise<void> {
    await folders.clear();
    const now = this.#options.clock.now();
    const due = folders.list().filter((folder) => isDue(folder, this.#pruneOf(folder.agentId), now));
    if (due.length === 0) return;
    const used = sandboxUsers();
    for (const { name } of due) if (!used.has(name)) await folders.remove(name);
  }

  #pruneOf(agentId: string): Prune {
    return this.#options.settings(agentId).prune;
  }

  #placeOf(
    settings: SandboxSettings,
    sessionKey: string,
    privateFolder: (name: string) => string,
    workspaceFolder: (path: string) => string,
  ): Place {
    const refused = refusalOf(settings);
    if (refused !== undefined) throw unavailable(refused);
    const { docker, workspaceAccess, keyOf } = settings;
    const name = scopeName({ ...settings, sessionKey }, settings.workspace);
    const workspace = (): string => workspaceFolder(settings.workspace);
    const mounts: Mount[] =
      workspaceAccess === "rw"
        ? [{ host: workspace(), inside: docker.workdir, mode: "rw", role: "workspace" }]
        : [{ host: privateFolder(name), inside: docker.workdir, mode: "rw", role: "private" }];
    if (workspaceAccess === "ro") mounts.push({ host: workspace(), inside: AGENT_MOUNT, mode: "ro", role: "agent" });
    const exposed = mounts.find(({ role, host }) => role !== "private" && holdsSecrets(host, this.#secrets(settings)));
    if (exposed !== undefined) throw unavailable(phrase("sandbox.why.workspace", { path: exposed.host }));
    for (const text of docker.binds) mounts.push(this.#bind(text, settings, mounts));
    const tmpfs = docker.tmpfs.flatMap((one) => parseTmpfs(one) ?? []);
    const bad = tmpfs.find((one) => isBadTmpfs(one.path, mounts));
    if (bad !== undefined) throw unavailable(badValue(keyOf("docker.tmpfs"), bad.path));
    const system = ["/usr", "/bin", "/sbin", "/lib", "/lib64", "/etc", "/proc", "/dev"];
    const twice = workspaceAccess === "ro" && isWithin(docker.workdir, AGENT_MOUNT);
    if (twice || system.some((one) => isWithin(docker.workdir, one))) {
      throw unavailable(badValue(keyOf("docker.workdir"), docker.workdir));
    }
    const limits = limitsOf(docker);
    if ("field" in limits) throw unavailable(badValue(keyOf(`docker.${limits.field}`), limits.value));
    return { settings, name, mounts, tmpfs, limits };
  }

  #secrets({ workspaceRoot }: SandboxSettings): Secrets {
    const { stateDir, homes } = this.#options;
    return { homes, own: [stateDir, workspaceRoot].map((path) => realPath(path) ?? path) };
  }

  #private(settings: SandboxSettings, sessionKey: string, name: string): string {
    const key = scopeKey({ ...settings, sessionKey });
    const about = { scope: settings.scope, key, agentId: settings.agentId };
    const folders = new SandboxFolders(settings.workspaceRoot);
    const now = this.#options.clock.now();
    const workspace = folders.ensure(name, about, now);
    // From here on it is in use: nobody who cleans up may take it away before its command runs.
    folders.touch(name, now);
    return workspace;
  }

  #bind(text: string, settings: SandboxSettings, before: readonly Mount[]): Mount {
    const { docker, keyOf } = settings;
    const refuse = (problem: Phrase): ExecError =>
      unavailable(phrase("sandbox.why.bind", { key: keyOf("docker.binds"), bind: text, problem }));
    const bind: Bind | undefined = parseBind(text);
    if (bind === undefined) throw refuse(phrase("sandbox.bind.syntax"));
    const real = resolveAsFarAsThere(bind.source);
    const problem = bindProblem(
      bind,
      { path: real, kind: kindOf(real) },
      {
        workspaces: settings.workspaces.flatMap((path) => realPath(path) ?? []),
        writable: settings.writableWorkspaces.flatMap((path) => realPath(path) ?? []),
        secrets: this.#secrets(settings),
        reserved: [docker.workdir, AGENT_MOUNT],
        allowExternal: docker.dangerouslyAllowExternalBindSources,
        allowReserved: docker.dangerouslyAllowReservedContainerTargets,
      },
    );
    if (problem !== undefined) throw refuse(phrase(`sandbox.bind.${problem}`));
    if (before.some((mount) => mount.inside === bind.target)) throw refuse(phrase("sandbox.bind.target-twice"));
    return { host: real, inside: bind.target, mode: bind.mode, role: "bind" };
  }

  /** A user with a name, and no account of this machine. */
  #files({ workspaceRoot, docker }: SandboxSettings, { uid, gid }: { uid: number; gid: number }): [string, string][] {
    const contents: Readonly<Record<string, string>> = {
      passwd: `root:x:0:0::/:/usr/sbin/nologin\nsandbox:x:${uid}:${gid}::${docker.workdir}:/bin/sh\nnobody:x:65534:65534::/:/usr/sbin/nologin\n`,
      group: `root:x:0:\nsandbox:x:${gid}:\nnogroup:x:65534:\n`,
      hosts: "127.0.0.1 localhost sandbox\n::1 localhost sandbox\n",
    };
    const hash = createHash("sha256").update(JSON.stringify(contents)).digest("hex").slice(0, 12);
    const folder = join(workspaceRoot, `.etc-${hash}`);
    return Object.entries(contents).map(([name, text]): [string, string] => [
      keptFile(folder, name, text),
      `/etc/${name}`,
    ]);
  }

  #filter({ workspaceRoot }: SandboxSettings): string | undefined {
    const filter = syscallFilter(process.arch);
    if (filter === undefined) return undefined;
    const hash = createHash("sha256").update(filter).digest("hex").slice(0, 12);
    return keptFile(join(workspaceRoot, `.filter-${hash}`), "seccomp.bpf", filter);
  }

  #launchFolder({ workspaceRoot }: SandboxSettings): string {
    mkdirSync(workspaceRoot, { recursive: true, mode: 0o700 });
    return workspaceRoot;
  }
}

const PRLIMIT = "/usr/bin/prlimit";

/** In the sandbox, so that what bubblewrap itself needs is not limited. */
export function prlimitOf({ prlimit }: Limits): string[] {
  return prlimit.length === 0 ? [] : [PRLIMIT, ...prlimit];
}

function unavailable(why: Phrase): ExecError {
  return new ExecError("host-unavailable", phrase("error.sandbox", { why }));
}

/** Written once: its folder is named after what it holds. */
function keptFile(folder: string, name: string, content: string | Buffer): string {
  const file = join(folder, name);
  const stat = lstatSync(file, { throwIfNoEntry: false });
  if (stat?.isFile() && stat.size === Buffer.byteLength(content)) return file;
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  // By another name first: a gateway that is killed in between leaves no half of it.
  const half = join(folder, `.${name}-${randomUUID()}`);
  writeFileSync(half, content, { flag: "wx", mode: 0o600 });
  renameSync(half, file);
  return file;
}

function badValue(key: string, value: string): Phrase {
  return phrase("sandbox.why.value", { key, value });
}

const FILES = {
  readlink(path: string): string | undefined {
    try {
      return readlinkSync(path);
    } catch {
      return undefined;
    }
  },
  isDirectory(path: string): boolean {
    try {
      return statSync(path).isDirectory();
    } catch {
      return false;
    }
  },
};

/** @throws ExecError `workdir-unavailable` */
function realDirectory(path: string): string {
  const real = realPath(path);
  if (real !== undefined && FILES.isDirectory(real)) return real;
  throw new ExecError("workdir-unavailable", phrase("error.workdir", { folder: path }), { workdir: path });
}

function realPath(path: string): string | undefined {
  try {
    return realpathSync.native(path);
  } catch {
    return undefined;
  }
}

/** Links of the deepest folder that exists are followed: what is not there yet is judged by where it would be. */
function resolveAsFarAsThere(path: string): string {
  const real = realPath(path);
  if (real !== undefined) return real;
  const above = dirname(path);
  return above === path ? path : join(resolveAsFarAsThere(above), path.slice(above === "/" ? 1 : above.length + 1));
}

function kindOf(path: string): "directory" | "file" | "other" | "missing" {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (stat === undefined) return "missing";
  return stat.isDirectory() ? "directory" : stat.isFile() ? "file" : "other";
}
