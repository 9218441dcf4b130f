/** Tools that ask other machines, the system or its services: reading is fine, changing and writing is a question. */
import { accept, anything, type Guard, infoOnly, noOperands, refuse, refuseAll, subcommands } from "./options.ts";

const curlUrl = (value: string): boolean =>
  /^(?:https?:\/\/[^\s]+|[A-Za-z0-9][A-Za-z0-9.-]*(?::\d+)?(?:[/?][^\s]*)?)$/i.test(value) &&
  !/^(?!https?:)[a-z][a-z0-9+.-]*:\/\//i.test(value);
const curl: Guard = accept({
  flags: "sSfLIivgNk46G0",
  values: "HdXumAewbo",
  long: `--silent --show-error --fail --location --head --include --verbose --globoff --no-buffer --insecure --ipv4 --ipv6 --get
    --compressed --http1.0 --http1.1 --http2 --http2-prior-knowledge --fail-with-body --no-progress-meter --progress-bar
    --tcp-nodelay --tlsv1.2 --tlsv1.3 --version --help --path-as-is --retry-all-errors --retry-connrefused --no-keepalive`,
  longValues: `--header --data --data-raw --data-urlencode --data-ascii --data-binary --json --request --user --max-time
    --connect-timeout --user-agent --referer --write-out --cookie --retry --retry-delay --retry-max-time --url --output
    --max-redirs --resolve --limit-rate --range --max-filesize`,
  operand: curlUrl,
  value: (option, value) => {
    switch (option) {
      case "-o":
      case "--output":
        return value === "/dev/null" || value === "-";
      case "-w":
      case "--write-out":
        // `@file` reads the format, `%output{file}` writes.
        return !value.startsWith("@") && !/%(?:output|header)\{/i.test(value.replace(/%header\{[^}]*\}/gi, ""));
      case "-b":
      case "--cookie":
        return value.includes("=");
      case "--url":
        return curlUrl(value);
      case "--data-raw":
      case "-u":
      case "--user":
      case "-A":
      case "--user-agent":
        return true;
      case "--data-urlencode":
        return !value.includes("@");
      default:
        return !value.startsWith("@");
    }
  },
});
const wget: Guard = (args) => {
  const problem = accept({
    flags: "qSv",
    values: "OtTU",
    long: "--quiet --spider --server-response --no-verbose --version --help --https-only",
    longValues: "--output-document --tries --timeout --user-agent --header",
    operand: curlUrl,
    value: (option, value) =>
      option === "-O" || option === "--output-document" ? value === "-" || value === "/dev/null" : true,
  })(args);
  if (problem !== undefined) return problem;
  // Without `-O -` it writes a file that the server names.
  return args.some(
    (arg, index) =>
      /^(?:--spider|--version|--help)$/.test(arg) ||
      /O-$/.test(arg) ||
      (/O$/.test(arg) && /^(?:-|\/dev\/null)$/.test(args[index + 1] ?? "")) ||
      /^--output-document=(?:-|\/dev\/null)$/.test(arg),
  )
    ? undefined
    : (args[0] ?? "no address");
};
const dockerRead = accept({
  flags: "aqnl",
  values: "f",
  long: "--all --quiet --no-trunc --size --latest --digests --no-stream --timestamps --tail",
  longValues: "--filter --format --tail --since --until --last",
});
const docker = subcommands({
  compose: subcommands({
    ps: dockerRead,
    logs: dockerRead,
    images: dockerRead,
    top: dockerRead,
    ls: dockerRead,
    config: accept({ flags: "q", long: "--quiet --services --volumes --images --profiles", maxOperands: 0 }),
    version: dockerRead,
  }),
  ...Object.fromEntries(
    ["network", "volume", "image", "container", "context"].map((noun): [string, Guard] => [
      noun,
      subcommands({ ls: dockerRead, list: dockerRead, inspect: dockerRead, show: dockerRead }),
    ]),
  ),
  system: subcommands({ df: accept({ flags: "v", long: "--verbose", longValues: "--format" }) }),
  diff: dockerRead,
  ps: dockerRead,
  images: dockerRead,
  logs: dockerRead,
  version: dockerRead,
  info: dockerRead,
  inspect: dockerRead,
  stats: dockerRead,
  top: dockerRead,
  port: dockerRead,
  history: dockerRead,
  "--version": anything,
});
const kubectlRead = accept({
  flags: "AwR",
  values: "nlocL",
  long: "--all-namespaces --watch --show-labels --no-headers --all-containers --timestamps --previous --client",
  longValues:
    "--namespace --selector --output --container --tail --since --sort-by --field-selector --label-columns --context",
  // Neither `-file` variants nor templates that name one.
  value: (option, value) =>
    option === "-o" || option === "--output"
      ? /^(?:wide|json|yaml|name|(?:jsonpath|custom-columns|go-template)=[\s\S]*)$/.test(value)
      : true,
});
/** Of `logs`, `-f` follows; of the others it names a file or an address. */
const kubectlLogs = accept({
  flags: "fp",
  values: "ncl",
  long: "--follow --previous --all-containers --timestamps --prefix --ignore-errors",
  longValues: "--namespace --container --selector --tail --since --since-time --context --max-log-requests",
});
const kubectlWords = (words: RegExp): Guard =>
  accept({
    values: "nl",
    longValues: "--namespace --selector --context --timeout --revision",
    long: "--all-namespaces --quiet --list --minify",
    operand: (value, index) => index > 0 || words.test(value),
  });
const kubectl = subcommands({
  get: kubectlRead,
  describe: kubectlRead,
  logs: kubectlLogs,
  top: kubectlRead,
  version: kubectlRead,
  "api-resources": kubectlRead,
  "api-versions": kubectlRead,
  "cluster-info": accept({ maxOperands: 0 }),
  config: kubectlWords(/^(?:current-context|get-contexts|get-clusters|view)$/),
  rollout: kubectlWords(/^(?:status|history)$/),
  auth: kubectlWords(/^(?:can-i|whoami)$/),
  explain: kubectlRead,
});
const systemctlRead = accept({
  flags: "laq",
  values: "ntp",
  long: "--no-pager --all --full --user --quiet --failed --plain --no-legend --value",
  longValues: "--lines --type --state --property --output",
});
const systemctl: Guard = (args) => {
  const at = args.findIndex((arg) => !arg.startsWith("-"));
  const verb = args[at] ?? "list-units";
  if (
    !/^(?:status|is-active|is-enabled|is-failed|list-units|list-unit-files|list-timers|list-sockets|show|cat)$/.test(
      verb,
    )
  )
    return verb;
  return systemctlRead(args);
};
const ip: Guard = (args) => {
  const [object, verb, ...rest] = args.filter((arg) => !/^-(?:br(?:ief)?|c(?:olor)?|4|6|s|d|j(?:son)?|o)$/.test(arg));
  if (object === undefined || object.startsWith("-")) return object ?? "no object";
  if (!/^(?:a|addr|address|r|route|l|link|n|neigh|neighbour|ru|rule)$/.test(object)) return object;
  if (verb !== undefined && !/^(?:s|sh|show|ls|list|get)$/.test(verb)) return verb;
  return rest.find((arg) => arg.startsWith("-"));
};
const openssl = subcommands(
  Object.fromEntries(
    ["version", "x509", "dgst", "rand", "s_client", "verify", "asn1parse", "ciphers", "prime"].map(
      (verb): [string, Guard] => [
        verb,
        (args) =>
          args.find((arg) =>
            /^--?(?:engine|provider|out|keyout|writerand|config|conf|sess_out|keylogfile|CAcreateserial|CAserial|msgfile|psk|sigfile|cert_chain|proxy)/i.test(
              arg,
            ),
          ),
      ],
    ),
  ),
);

/** Reads: no method, no fields, no body. */
const ghApi = accept({
  values: "qt",
  long: "--paginate --include",
  longValues: "--jq --template --cache",
  operand: (value) => /^[A-Za-z0-9/][^\s]*$/.test(value),
  maxOperands: 1,
});
/** Looks at the project; applying, importing, other directories and files to write are a question. */
const terraformOptions = (long: string, longValues = "", flags = ""): Guard =>
  accept({ flags, long: `-no-color -json ${long}`, longValues, maxOperands: 1 });
const terraform = subcommands({
  version: terraformOptions(""),
  "-version": anything,
  "--version": anything,
  validate: terraformOptions(""),
  fmt: terraformOptions("-check -diff -recursive -write=false"),
  plan: terraformOptions(
    "-input=false -refresh-only -destroy -compact-warnings -detailed-exitcode",
    "-target -lock-timeout",
  ),
  show: terraformOptions(""),
  output: terraformOptions("-raw"),
  state: (args) => (/^(?:list|show)$/.test(args[0] ?? "") ? terraformOptions("")(args.slice(1)) : (args[0] ?? "state")),
  workspace: (args) =>
    args.length === 1 && /^(?:list|show)$/.test(args[0] as string) ? undefined : (args[0] ?? "workspace"),
});

export const SYSTEM_TOOLS: Readonly<Record<string, Guard>> = {
  curl,
  wget,
  docker,
  podman: docker,
  kubectl,
  systemctl,
  ip,
  openssl,
  rsync: refuseAll,
  aria2c: refuseAll,
  hostname: noOperands("fsiIdAay", "--fqdn --short --ip-address --all-ip-addresses --domain --long --version --help"),
  hostnamectl: noOperands(""),
  timedatectl: noOperands(""),
  arch: noOperands("", "--version --help"),
  env: anything,
  journalctl: refuse(
    "D",
    "--vacuum-size --vacuum-time --vacuum-files --rotate --flush --sync --relinquish-var --smart-relinquish-var --cursor-file --directory --root --image --setup-keys --update-catalog",
  ),
  apt: subcommands({
    list: accept({ long: "--installed --upgradable" }),
    show: accept({}),
    search: accept({}),
    policy: accept({}),
  }),
  "apt-get": infoOnly,
  "apt-cache": subcommands({
    show: accept({}),
    search: accept({}),
    policy: accept({}),
    madison: accept({}),
    depends: accept({}),
    rdepends: accept({}),
  }),
  "dpkg-deb": accept({ flags: "cIfW" }),
  port: infoOnly,
  choco: infoOnly,
  helm: subcommands({
    list: accept({ flags: "aA", values: "n", longValues: "--namespace --output", long: "--all-namespaces" }),
    status: accept({ values: "n", longValues: "--namespace" }),
    history: accept({ values: "n", longValues: "--namespace" }),
    version: accept({ long: "--short" }),
  }),
  dpkg: accept({ flags: "lLsSp", long: "--list --listfiles --status --search --print-architecture --version" }),
  rpm: (args) =>
    /^-q[a-z]*$/.test(args[0] ?? "")
      ? args.slice(1).find((arg) => arg.startsWith("-") && !/^-[ailcdRs]+$/.test(arg))
      : (args[0] ?? "rpm"),
  yum: infoOnly,
  dnf: infoOnly,
  apk: subcommands({ info: accept({ flags: "vea" }), list: accept({ flags: "I" }), version: accept({}) }),
  pacman: (args) =>
    /^-Q[a-z]*$/.test(args[0] ?? "") ? args.slice(1).find((arg) => arg.startsWith("-")) : (args[0] ?? "pacman"),
  brew: subcommands({
    list: accept({ flags: "1", long: "--versions --cask --casks --formula --pinned" }),
    info: accept({ long: "--json --installed" }),
    "--version": anything,
    "--prefix": accept({}),
    outdated: accept({}),
  }),
  "apt-key": infoOnly,
  gpg: infoOnly,
  gpg2: infoOnly,
  "ssh-keygen": (args) =>
    // Without `-l` it makes a key.
    args.some((arg) => /^-v*l/.test(arg)) ? accept({ flags: "lv", values: "fE" })(args) : (args[0] ?? "no -l"),
  dmesg: refuse("CcDEn", "--clear --read-clear --console-off --console-on --console-level", "fFl"),
  pg_dump: refuse("fF", "--file --format", "dhpUntTNE"),
  pg_dumpall: refuse("f", "--file", "dhpUl"),
  pg_basebackup: refuseAll,
  pg_recvlogical: refuseAll,
  pg_receivewal: refuseAll,
  "ssh-add": accept({ flags: "lL", maxOperands: 0 }),
  gh: (args) => {
    const [topic = "", verb = ""] = args;
    if (args.length === 1 && topic === "--version") return undefined;
    if (topic === "auth") return verb === "status" && args.length === 2 ? undefined : verb;
    if (topic === "api") return ghApi(args.slice(1));
    if (
      !/^(?:pr|issue|run|repo|release|workflow|label)$/.test(topic) ||
      !/^(?:view|list|status|checks|diff)$/.test(verb)
    )
      return args[0] ?? "gh";
    return refuse("w", "--web")(args.slice(2));
  },
  chattr: refuseAll,
  crontab: (args) => (args.length === 1 && args[0] === "-l" ? undefined : (args[0] ?? "no arguments")),
  snap: subcommands({
    list: accept({ long: "--all" }),
    info: accept({}),
    find: accept({}),
    version: accept({}),
    services: accept({}),
  }),
  terraform,
  tofu: terraform,
  visudo: refuseAll,
};
