/** Looks at this machine: what its commands need to run, and what of it is nobody's business. */
import { lstatSync, readdirSync, readlinkSync, type Stats, statSync } from "node:fs";
import { join } from "node:path";
import type { RootParts } from "./bwrap-options.ts";

/** On most systems links into `/usr`. */
const TOP = ["bin", "sbin", "lib", "lib32", "lib64", "libx32"];

/**
 * Of `/etc` only what programs need to start, never all of it: a gateway that runs as root could read `/etc/shadow`, and
 * its commands with it.
 */
const ETC = [
  ...["alternatives", "ld.so.cache", "ld.so.conf", "ld.so.conf.d", "localtime", "timezone", "nsswitch.conf"],
  ...["profile", "profile.d", "bash.bashrc", "inputrc", "shells", "terminfo", "locale.alias", "locale.conf"],
  ...["os-release", "debian_version", "lsb-release", "mime.types", "magic", "magic.mime", "protocols", "services"],
  ...["ssl/certs", "ssl/openssl.cnf", "ca-certificates", "ca-certificates.conf", "pki/tls/certs", "pki/ca-trust"],
  ...["fonts", "xml", "perl", "groff", "manpath.config", "ImageMagick-6", "ImageMagick-7"],
];
/** Run-time configuration of language packages, by whatever version. */
const ETC_VERSIONED = /^(?:python\d[\d.]*|java-\d+-openjdk|php|ruby|lua)$/;

/** Administrators put settings of their own programs here, at times with passwords. */
const EMPTIED = ["/usr/local/etc"];

/**
 * Of `/proc`, what belongs to the whole machine. The kernel lets whoever it knows as root write there without any
 * capability, and that is who a gateway run as root is, whatever number its commands see: `kernel.core_pattern` alone
 * would be a program run outside. bubblewrap closes some of these itself, not all.
 */
const PROC_CLOSED = ["/proc/sys", "/proc/irq", "/proc/bus"];
const PROC_EMPTIED = ["/proc/acpi", "/proc/asound", "/proc/driver", "/proc/fs", "/proc/scsi", "/proc/thermal"];
const PROC_MASKED = [
  ...["/proc/kcore", "/proc/keys", "/proc/key-users", "/proc/kmsg", "/proc/latency_stats", "/proc/mtrr"],
  ...["/proc/sched_debug", "/proc/sysrq-trigger", "/proc/timer_list", "/proc/timer_stats", "/proc/vmallocinfo"],
  ...["/proc/slabinfo", "/proc/kpagecgroup", "/proc/kpagecount", "/proc/kpageflags", "/proc/pagetypeinfo"],
];

/** A directory of certificates has some hundred entries; what is larger than this is not looked through, and not shown. */
const MAX_ENTRIES = 5_000;

export function readRootParts(top = "/"): RootParts {
  const links: [string, string][] = [];
  const shown: string[] = [];
  const masked: string[] = [];
  if (isDirectory(join(top, "usr"))) shown.push("/usr");
  for (const name of TOP) {
    const stat = lstat(join(top, name));
    if (stat?.isSymbolicLink()) links.push([`/${name}`, readlinkSync(join(top, name))]);
    else if (stat?.isDirectory()) shown.push(`/${name}`);
  }
  const versioned = list(join(top, "etc")).filter((name) => ETC_VERSIONED.test(name));
  for (const name of [...ETC, ...versioned]) {
    const stat = statOf(join(top, "etc", name));
    if (stat === undefined || !isForEverybody(stat)) continue;
    if (stat.isFile()) shown.push(`/etc/${name}`);
    if (!stat.isDirectory()) continue;
    const secret = notForEverybody(join(top, "etc", name));
    if (secret === undefined) continue;
    shown.push(`/etc/${name}`);
    masked.push(...secret.map((path) => `/etc/${name}/${path}`));
  }
  const there = (path: string): boolean => statOf(join(top, path)) !== undefined;
  return {
    links,
    shown,
    masked,
    emptied: EMPTIED.filter((path) => isDirectory(join(top, path))),
    proc: {
      closed: PROC_CLOSED.filter(there),
      emptied: PROC_EMPTIED.filter(there),
      masked: PROC_MASKED.filter(there),
    },
  };
}

/** Below `folder`, as paths relative to it; undefined when there is too much to look at. */
function notForEverybody(folder: string): string[] | undefined {
  const found: string[] = [];
  const waiting = [""];
  let seen = 0;
  for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
    for (const name of list(join(folder, at))) {
      seen += 1;
      if (seen > MAX_ENTRIES) return undefined;
      const path = at === "" ? name : `${at}/${name}`;
      // A link leads to a name, and that name shows what the sandbox has there.
      const stat = lstat(join(folder, path));
      if (stat?.isDirectory()) {
        if (!isForEverybody(stat)) return undefined;
        waiting.push(path);
      } else if (stat?.isFile() && !isForEverybody(stat)) found.push(path);
    }
  }
  return found;
}

function isForEverybody(stat: Stats): boolean {
  return (stat.mode & (stat.isDirectory() ? 0o005 : 0o004)) === (stat.isDirectory() ? 0o005 : 0o004);
}

function isDirectory(path: string): boolean {
  return statOf(path)?.isDirectory() === true;
}

function statOf(path: string): Stats | undefined {
  try {
    return statSync(path);
  } catch {
    return undefined;
  }
}

function lstat(path: string): Stats | undefined {
  return lstatSync(path, { throwIfNoEntry: false });
}

function list(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
