/** What the bubblewrap backend does not have is refused by the name of its key: nothing is accepted and then left out. Pure. */
import type { ContainerSettings, SandboxSettings } from "../../exec/sandbox-settings.ts";
import { type Phrase, phrase } from "../../words/phrase.ts";
import { limitsOf, parseTmpfs } from "./limits.ts";

/** Keys that only a container engine could serve. */
const OF_ENGINES = [
  ...["image", "setupCommand", "gpus", "seccompProfile", "apparmorProfile", "dns", "extraHosts"],
] as const satisfies readonly (keyof ContainerSettings)[];

/** Of the names of containers; there are none here. */
const PREFIX = "openclaw-";

const USER = /^(\d{1,9})(?::(\d{1,9}))?$/;

export interface User {
  readonly uid: number;
  readonly gid: number;
}

/** Of an ordinary account; it is a number inside only. */
const DEFAULT_USER: User = { uid: 1000, gid: 1000 };

/** `1000:1000` or `1000`; undefined for what can not be, 0 among it: nothing in a sandbox is root, if only by name. */
export function userOf(text: string | undefined): User | undefined {
  if (text === undefined) return DEFAULT_USER;
  const [, uid, gid = uid] = USER.exec(text.trim()) ?? [];
  const user = { uid: Number(uid), gid: Number(gid) };
  return uid !== undefined && user.uid > 0 && user.gid > 0 ? user : undefined;
}

/** The first thing this backend can not do, or nothing. */
export function refusalOf({ backend, docker, keyOf }: SandboxSettings): Phrase | undefined {
  if (backend !== "bwrap") return phrase("sandbox.why.backend", { backend, key: keyOf("backend") });
  const engine = OF_ENGINES.find((field) => docker[field] !== undefined);
  if (engine !== undefined) return phrase("sandbox.why.key", { key: keyOf(`docker.${engine}`) });
  if (docker.containerPrefix !== PREFIX) return phrase("sandbox.why.key", { key: keyOf("docker.containerPrefix") });
  const bad = (field: string, value: string): Phrase =>
    phrase("sandbox.why.value", { key: keyOf(`docker.${field}`), value });
  if (docker.network !== "none") return phrase("sandbox.why.network", { key: keyOf("docker.network") });
  if (!docker.capDrop.some((one) => one.toUpperCase() === "ALL")) return bad("capDrop", docker.capDrop.join(","));
  if (docker.dangerouslyAllowContainerNamespaceJoin) {
    return phrase("sandbox.why.key", { key: keyOf("docker.dangerouslyAllowContainerNamespaceJoin") });
  }
  if (userOf(docker.user) === undefined) return bad("user", docker.user ?? "");
  if (!/^\/[^/\0]+(?:\/[^/\0]+)*$/.test(docker.workdir) || /(?:^|\/)\.\.?(?:\/|$)/.test(docker.workdir)) {
    return bad("workdir", docker.workdir);
  }
  const tmpfs = docker.tmpfs.find((one) => parseTmpfs(one) === undefined);
  if (tmpfs !== undefined) return bad("tmpfs", tmpfs);
  const name = Object.keys(docker.env).find((one) => !/^[A-Za-z_][A-Za-z0-9_]*$/.test(one) || /^OPENCLAW_/i.test(one));
  if (name !== undefined) return bad("env", name);
  const limits = limitsOf(docker);
  return "field" in limits ? bad(limits.field, limits.value) : undefined;
}
