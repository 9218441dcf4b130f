/**
 * How bubblewrap is started, so that what a caller gives reaches the sandbox alone. bubblewrap itself runs outside: an
 * `LD_PRELOAD` in its own environment would be code on this machine. So its environment is empty but for our marks, and
 * all options, with every variable of the command, come through a file that never has a name: no value in any argument.
 *
 * bubblewrap ends at the first SIGTERM, and with it, by SIGKILL, everything inside: nothing could clean up. The launcher
 * therefore ignores the signals with which a command is ended; what is ignored stays so in bubblewrap and its helper,
 * and `env` inside gives the command back its own reaction. SIGKILL still ends all of it at once.
 */
import { randomUUID } from "node:crypto";
import { closeSync, openSync, unlinkSync, writeSync } from "node:fs";
import { join } from "node:path";
import { ExecError } from "../../errors.ts";
import { phrase } from "../../words/phrase.ts";

/**
 * Arguments: our pid, the file with the options, the one with the filter or nothing, the groups to enter (their
 * `cgroup.procs`), `--`, the command. What this gateway was itself started with, sockets of a service manager or a pipe
 * of its starter, is closed: in a sandbox it would be a way out. bash, because other shells know descriptors up to 9 only.
 */
const START = [
  '[ "$PPID" = "$1" ] || exit 125; shift',
  'exec 9<"$1"; exec 8<&-; [ -z "$2" ] || exec 8<"$2"; shift 2',
  `for f in /proc/self/fd/*; do f=\${f##*/}; case $f in 0|1|2|8|9) ;; *) exec {f}>&- ;; esac; done`,
  'while [ "$1" != -- ]; do echo 0 >"$1" || exit 125; shift; done',
  'shift; exec "$@"',
].join("\n");
/**
 * bubblewrap ends with its parent only once it has asked the kernel for it, twice: outside, and for its helper inside,
 * which does so beside the start of the command. A gateway that is killed before would leave the command running. So
 * outside the wish is made before anything else (`setpriv`), and the parent is looked at after it. Inside, the command
 * waits until the helper has made it, which is seen by the filter that the helper takes on next, and begins only if the
 * other end of its output is there still.
 */
const HELPER_READY =
  "for ((i = 0; ; i++)); do read -r -d '' s </proc/1/status; [[ $s == *Seccomp:?2* ]] && break; ((i < 100000)) || exit 125; done";
const IF_WANTED = '[ -t 1 ] || ! read -r -t 0 -u 1 || exit 125; exec "$@"';
const SIGNALS = ["HUP", "INT", "QUIT", "TERM"];

const SCRIPT = ["--noprofile", "--norc", "-c"];

export interface Launch {
  readonly file: string;
  readonly args: readonly string[];
  /** Once it has ended. */
  readonly close: () => void;
}

export interface LaunchOptions {
  /** Where a file can be made for a moment; only we may write there. */
  readonly folder: string;
  readonly bash: string;
  /** Absent: where it is not installed, or too old. */
  readonly setpriv?: string | undefined;
  readonly bwrap: string;
  readonly options: readonly string[];
  /** File with the filter of system calls. */
  readonly filter?: string | undefined;
  /** `cgroup.procs` files. */
  readonly groups: readonly string[];
  /** The program in the sandbox with its arguments. */
  readonly command: readonly string[];
  /** Where `env` can give signals back (GNU coreutils 8.31). Otherwise ending the command is SIGKILL for all of it. */
  readonly graceful: boolean;
}

export function prepareLaunch(launch: LaunchOptions): Launch {
  // An option ends at its NUL: one inside a value would begin another option.
  if (launch.options.some((option) => option.includes("\0"))) {
    throw new ExecError("env-invalid", phrase("error.nul", { parameter: "env" }));
  }
  const fd = openNameless(launch.folder, launch.options.map((option) => `${option}\0`).join(""));
  const inner = [
    ...[launch.bash, ...SCRIPT, `${launch.filter === undefined ? "" : `${HELPER_READY}\n`}${IF_WANTED}`, "sandbox"],
    // bash counts itself; nobody asked for that.
    ...(launch.graceful ? ["/usr/bin/env", "-u", "SHLVL", "-u", "_", `--default-signal=${SIGNALS.join(",")}`] : []),
    ...launch.command,
  ];
  const [first, ...rest] =
    launch.setpriv === undefined ? [launch.bash] : [launch.setpriv, "--pdeathsig", "KILL", launch.bash];
  return {
    file: first,
    args: [
      ...rest,
      ...SCRIPT,
      launch.graceful ? `trap '' ${SIGNALS.join(" ")}\n${START}` : START,
      "sandbox",
      String(process.pid),
      `/proc/${process.pid}/fd/${fd}`,
      launch.filter ?? "",
      ...launch.groups,
      "--",
      ...[launch.bwrap, "--args", "9", "--"],
      ...inner,
    ],
    close: () => closeSync(fd),
  };
}

function openNameless(folder: string, content: string): number {
  const path = join(folder, `.options-${randomUUID()}`);
  const fd = openSync(path, "wx+", 0o600);
  try {
    unlinkSync(path);
    const bytes = Buffer.from(content, "utf8");
    for (let at = 0; at < bytes.length; ) at += writeSync(fd, bytes, at);
    return fd;
  } catch (error) {
    closeSync(fd);
    throw error;
  }
}
