/**
 * Per program, what its arguments may be without a question (decisions.md D10). A program that is not here is held to
 * the general rule in `argument-guard.ts`. Written from the manuals of the programs; each table is an accept list
 * unless the program has very many harmless options and few that matter.
 */
import { awkGuard } from "./awk.ts";
import { gitGuard } from "./git.ts";
import {
  accept,
  type Guard,
  infoOnly,
  isPlainLocalPath,
  isStreamPath,
  refuse,
  refuseAll,
  subcommands,
} from "./options.ts";
import { sedGuard } from "./sed.ts";

const anything: Guard = () => undefined;
const noOperands = (flags: string, long = "", longValues = ""): Guard =>
  accept({ flags, long, longValues, maxOperands: 0 });

/** GNU find: tests and `-print`; every action that runs, deletes or writes is missing on purpose. */
const FIND_WORDS = new Set(
  `-H -L -P -name -iname -path -ipath -wholename -iwholename -regex -iregex -regextype -type -xtype -size -empty -newer -anewer
  -cnewer -mtime -atime -ctime -mmin -amin -cmin -perm -user -group -uid -gid -nouser -nogroup -links -inum -samefile -lname
  -ilname -maxdepth -mindepth -depth -d -mount -xdev -prune -quit -print -print0 -printf -ls -not -and -or -a -o -true -false
  -readable -writable -executable -daystart -follow -noleaf -warn -nowarn -used -fstype -newermt -newerct -newerat
  --version --help`.split(/\s+/),
);
const find: Guard = (args) =>
  args.find((arg) => arg.startsWith("-") && !FIND_WORDS.has(arg) && !/^-(?:\d+[ckMGwb]?|O[0-3])$/.test(arg));

/** An archive below the working directory whose name says that it is one. */
const isArchive = (path: string): boolean =>
  path === "-" ||
  (isPlainLocalPath(path) &&
    /\.(?:tar(?:\.\w+)?|tgz|tbz2?|txz|tzst|zip|jar|whl|gz)$/.test(path) &&
    !path.includes(":"));

const tarOptions = (writes: boolean): Guard =>
  accept({
    flags: writes ? "cvzjJahp" : "xtvzjJakpO",
    values: "f",
    long: `--create --extract --get --list --verbose --gzip --bzip2 --xz --zstd --auto-compress --keep-old-files --dereference
      --exclude-vcs --no-same-owner --no-same-permissions --numeric-owner --no-recursion --exclude-backups --totals --wildcards`,
    longValues: "--file --exclude --strip-components",
    value: (option, value) =>
      option === "-f" || option === "--file"
        ? writes
          ? isArchive(value) || value === "/dev/null"
          : !value.includes(":")
        : true,
    // Extraction stays in the working directory: no `-C`, no absolute names.
    operand: (value) => !value.startsWith("-") && !value.includes(":"),
  });

const tar: Guard = (args) => {
  const [first = "", ...rest] = args;
  if (args.length === 1 && (first === "--version" || first === "--help")) return undefined;
  // `tar tf x` is `tar -tf x`: letters with values take the next words in order, so only `f` at the end is accepted.
  const bundled = /^[A-Za-z]+$/.test(first);
  if (bundled && /f./.test(first)) return first;
  const normal = bundled ? [`-${first}`, ...rest] : args;
  // Of a bundled `-cf` the archive is the next word; `-f` must not swallow letters such as `-fc`.
  const swallowed = normal.find((arg) => /^-[A-Za-z]*f./.test(arg));
  if (swallowed) return swallowed;
  const creates = normal.some((arg) => /^-[A-Za-z]*c/.test(arg) || /^--c/.test(arg));
  const reads = normal.some((arg) => /^-[A-Za-z]*[xt]/.test(arg) || /^--(?:e|g|l)/.test(arg));
  if (creates === reads) return first;
  return tarOptions(creates)(normal);
};

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

const TARGET = /^[A-Za-z0-9_][A-Za-z0-9_./:%@+-]*$/;
const make: Guard = accept({
  flags: "jknsBqitwS",
  values: "",
  long: `--jobs --keep-going --dry-run --just-print --silent --quiet --always-make --question --ignore-errors --touch --version
    --help --print-directory --no-print-directory --warn-undefined-variables --trace --output-sync`,
  longOptional: "--jobs --output-sync",
  // `NAME=value` overrides any variable of the makefile, SHELL and CC among them.
  operand: (value) => TARGET.test(value) || /^\d+$/.test(value),
});
/** `-j4` is one word with a number. */
const makeWithJobs: Guard = (args) => make(args.map((arg) => arg.replace(/^(-[a-zA-Z]*j)\d+$/, "$1")));

const SCRIPT_NAME = /^[A-Za-z0-9][A-Za-z0-9:_./-]*$/;
const npmRun = accept({
  flags: "s",
  values: "w",
  long: "--silent --if-present --workspaces --include-workspace-root --ignore-scripts --quiet",
  longValues: "--workspace",
  operand: (value, index) => index > 0 || SCRIPT_NAME.test(value),
});
/** Arguments behind `--` go to the project's own script. */
const beforeDashes =
  (guard: Guard): Guard =>
  (args) => {
    const end = args.indexOf("--");
    return guard(end < 0 ? args : args.slice(0, end));
  };
const npmInstall = accept({
  flags: "s",
  long: "--silent --no-audit --no-fund --ignore-scripts --production --prefer-offline --offline --frozen-lockfile --immutable --legacy-peer-deps --no-save --quiet --dry-run",
  longValues: "--omit --include --loglevel",
  maxOperands: 0,
});
const npmRead = accept({
  flags: "alg",
  long: "--all --json --long --parseable --global --production --no-audit --silent",
  longValues: "--depth --omit --audit-level",
});
const npmTables: Readonly<Record<string, Guard>> = {
  test: beforeDashes(npmRun),
  t: beforeDashes(npmRun),
  start: beforeDashes(npmRun),
  stop: beforeDashes(npmRun),
  run: beforeDashes(npmRun),
  "run-script": beforeDashes(npmRun),
  ci: npmInstall,
  install: npmInstall,
  i: npmInstall,
  "clean-install": npmInstall,
  ls: npmRead,
  list: npmRead,
  outdated: npmRead,
  audit: (args) => (args[0] === "fix" ? "fix" : npmRead(args)),
  view: npmRead,
  info: npmRead,
  why: npmRead,
  explain: npmRead,
  root: npmRead,
  prefix: npmRead,
  ping: npmRead,
  whoami: npmRead,
  fund: npmRead,
};
const npm: Guard = (args) => {
  const rest = args[0] === "--silent" || args[0] === "-s" ? args.slice(1) : args;
  return infoOnly(rest) === undefined || (rest.length === 1 && rest[0] === "-v")
    ? undefined
    : subcommands(npmTables)(rest);
};
const yarnLike: Guard = (args) => (args.length === 0 ? undefined : npm(args));

const dateGuard: Guard = accept({
  flags: "uR",
  values: "dr",
  long: "--utc --universal --rfc-email --iso-8601 --version --help -I",
  longValues: "--date --reference",
  longOptional: "--iso-8601 --rfc-3339",
  // An operand without `+` sets the clock.
  operand: (value) => value.startsWith("+"),
});

const jq: Guard = accept({
  flags: "cnrRsSjaCMeh1",
  long: "--compact-output --null-input --raw-output --raw-input --slurp --sort-keys --join-output --ascii-output --color-output --monochrome-output --exit-status --tab --seq --unbuffered --version --help --args --jsonargs --raw-output0 --stream",
  longValues: "--indent --arg --argjson",
});
/** `--arg name value` takes two words: the second must not be read as an option. */
const jqGuard: Guard = (args) => {
  const plain: string[] = [];
  for (let i = 0; i < args.length; i += 1) {
    if (args[i] === "--arg" || args[i] === "--argjson") i += 2;
    else plain.push(args[i] as string);
  }
  return jq(plain);
};

const dockerRead = accept({
  flags: "aqnl",
  values: "f",
  long: "--all --quiet --no-trunc --size --latest --digests --no-stream --timestamps --tail",
  longValues: "--filter --format --tail --since --until --last",
});
const docker = subcommands({
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
  value: (option, value) => (option === "-o" || option === "--output" ? /^(?:wide|json|yaml|name)$/.test(value) : true),
});
const kubectl = subcommands({
  get: kubectlRead,
  describe: kubectlRead,
  logs: kubectlRead,
  top: kubectlRead,
  version: kubectlRead,
  "api-resources": kubectlRead,
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

const goGuard = subcommands(
  Object.fromEntries(
    ["build", "test", "vet", "list", "version", "fmt", "doc"].map((verb): [string, Guard] => [
      verb,
      accept({
        flags: "vmxnl",
        long: "-v -race -cover -short -json -m -trimpath -failfast -a -x -n",
        longValues: "-run -count -timeout -bench -tags -p -parallel -f -skip",
        operand: (value) => /^(?:\.{1,3}|\.\/[\w./-]*|[\w][\w./-]*|all)$/.test(value),
      }),
    ]),
  ),
);
const cargoGuard = subcommands(
  Object.fromEntries(
    [
      "build",
      "b",
      "check",
      "c",
      "test",
      "t",
      "clippy",
      "fmt",
      "doc",
      "tree",
      "metadata",
      "version",
      "run",
      "r",
      "bench",
    ].map((verb): [string, Guard] => [
      verb,
      beforeDashes(
        accept({
          flags: "vqrj",
          values: "p",
          long: "--release --all --workspace --lib --bins --tests --examples --all-targets --all-features --no-default-features --verbose --quiet --locked --offline --frozen --no-run --check --no-deps",
          longValues: "--package --bin --test --example --features --jobs",
          operand: (value) => /^[\w:.-]+$/.test(value),
        }),
      ),
    ]),
  ),
);
/** Compilers: no plugins, wrappers, response files or own tool directories; output below the working directory. */
const compiler: Guard = (args) =>
  args.find((arg, index) => {
    if (
      /^(?:@|-wrapper|--?specs|-fplugin|-B|-load|-Xclang|-Xlinker|-Xassembler|-Xpreprocessor|-fuse-ld|--ld-path|-plugin|-fpass-plugin|-W[lap],|-dumpdir|-aux-info|-save-temps|-MF|-MD|-MMD|--config|-imacros|-include|-iplugindir|-T)/.test(
        arg,
      )
    )
      return true;
    if (/^-o./.test(arg)) return !isPlainLocalPath(arg.slice(2));
    return arg === "-o" && !isPlainLocalPath(args[index + 1] ?? "");
  });

const mvn: Guard = accept({
  flags: "qBoeUXN",
  values: "TP",
  long: "--quiet --batch-mode --offline --errors --version --no-transfer-progress -ntp -DskipTests -v",
  operand: (value) =>
    /^(?:validate|compile|test|package|verify|install|clean|site|test-compile|process-\w+|dependency:tree)$/.test(
      value,
    ),
});

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

const eslintLike = accept({
  long: "--quiet --cache --no-cache --color --no-color --version --help --fix-dry-run --check --noEmit --pretty --skipLibCheck --strict --watch --verbose --dry-run --list-different --no-error-on-unmatched-pattern -v -h --listFiles --incremental --build -b --noEmitOnError --allowJs --checkJs",
  longValues:
    "--ext --max-warnings --report-unused-disable-directives --log-level --target --module --moduleResolution --jsx --lib",
  operand: (value) => !value.startsWith("@"),
});
const tsc: Guard = (args) => {
  // A project file is data, not code; it says itself where output goes.
  const rest: string[] = [];
  for (let i = 0; i < args.length; i += 1) {
    if (/^--?(?:p|project)$/i.test(args[i] as string) && isPlainLocalPath(args[i + 1] ?? "")) i += 1;
    else rest.push(args[i] as string);
  }
  return eslintLike(rest);
};

export const TABLES: Readonly<Record<string, Guard>> = {
  git: gitGuard,
  find,
  awk: awkGuard,
  gawk: awkGuard,
  mawk: awkGuard,
  nawk: awkGuard,
  "original-awk": awkGuard,
  sed: sedGuard,
  gsed: sedGuard,
  ssed: sedGuard,
  tar,
  gtar: tar,
  bsdtar: tar,
  curl,
  wget,
  make: makeWithJobs,
  gmake: makeWithJobs,
  npm,
  pnpm: npm,
  yarn: yarnLike,
  jq: jqGuard,
  date: dateGuard,
  docker,
  podman: docker,
  kubectl,
  systemctl,
  ip,
  go: goGuard,
  cargo: cargoGuard,
  mvn,
  openssl,
  tsc,
  eslint: eslintLike,
  prettier: eslintLike,
  rg: refuse("z", "--pre --pre-glob --hostname-bin --search-zip --hyperlink-format"),
  ag: refuse("", "--pager --path-to-ignore"),
  ack: refuse("", "--pager --ackrc --env --create-ackrc"),
  fd: refuse("xX", "--exec --exec-batch"),
  fdfind: refuse("xX", "--exec --exec-batch"),
  bat: refuse("", "--pager --config-file --config-dir --paging --map-syntax"),
  batcat: refuse("", "--pager --config-file --config-dir --paging --map-syntax"),
  tree: refuse("oR", "--output"),
  sort: accept({
    flags: "bdfgiMhnRrVcCmsuz",
    values: "ktS",
    long: `--ignore-leading-blanks --dictionary-order --ignore-case --general-numeric-sort --ignore-nonprinting --month-sort
      --human-numeric-sort --numeric-sort --random-sort --reverse --version-sort --stable --unique --zero-terminated --merge
      --check --debug --version --help`,
    longValues: "--key --field-separator --buffer-size --parallel --batch-size",
    longOptional: "--check --sort",
  }),
  shuf: accept({
    flags: "erz",
    values: "in",
    long: "--echo --repeat --zero-terminated",
    longValues: "--head-count --input-range",
  }),
  uniq: accept({
    flags: "cdDuiz",
    values: "fsw",
    long: "--count --repeated --unique --ignore-case --zero-terminated --version --help",
    longValues: "--skip-fields --skip-chars --check-chars",
    longOptional: "--group --all-repeated",
    // The second operand is written.
    maxOperands: 1,
  }),
  tee: accept({ flags: "aip", long: "--append --ignore-interrupts", operand: (value) => value === "/dev/null" }),
  dd: (args) =>
    args.find(
      (arg) =>
        !/^(?:if|bs|ibs|obs|count|skip|status|conv|iflag)=/.test(arg) ||
        (arg.startsWith("if=") && isStreamPath(arg.slice(3))),
    ),
  split: refuseAll,
  csplit: refuseAll,
  install: refuseAll,
  ginstall: refuseAll,
  cp: refuseAll,
  gcp: refuseAll,
  mv: refuseAll,
  ln: refuseAll,
  link: refuseAll,
  rsync: refuseAll,
  truncate: refuseAll,
  shred: refuseAll,
  sponge: refuseAll,
  patch: refuseAll,
  fallocate: refuseAll,
  mkfifo: refuseAll,
  mknod: refuseAll,
  cpio: refuseAll,
  pax: refuseAll,
  uudecode: refuseAll,
  unrtf: refuseAll,
  rename: refuseAll,
  prename: refuseAll,
  "file-rename": refuseAll,
  aria2c: refuseAll,
  xxd: accept({ flags: "bEiuv", values: "clsg", maxOperands: 1 }),
  hostname: noOperands("fsiIdAay", "--fqdn --short --ip-address --all-ip-addresses --domain --long --version --help"),
  hostnamectl: noOperands(""),
  timedatectl: noOperands(""),
  arch: noOperands("", "--version --help"),
  printf: (args) => (args[0]?.startsWith("-") && args[0] !== "--" ? args[0] : undefined),
  env: anything,
  file: refuse("CzZmS", "--compile --uncompress --uncompress-noreport --magic-file --no-sandbox"),
  diff: refuse("l", "--paginate"),
  sdiff: refuse("o", "--output --diff-program"),
  diff3: refuse("", "--diff-program"),
  iconv: refuse("o", "--output"),
  ptx: refuseAll,
  zip: accept({
    flags: "rqjvy0123456789",
    values: "x",
    long: "--recurse-paths --quiet --junk-paths",
    longValues: "--exclude",
    operand: (value, index) => (index > 0 ? !value.startsWith("-") : isArchive(value)),
  }),
  gcc: compiler,
  "g++": compiler,
  cc: compiler,
  "c++": compiler,
  clang: compiler,
  "clang++": compiler,
  cpp: compiler,
  tcc: infoOnly,
  rustc: infoOnly,
  javac: infoOnly,
  cmake: infoOnly,
  meson: infoOnly,
  ninja: accept({
    flags: "vn",
    values: "jk",
    long: "--version --verbose --quiet",
    operand: (value) => TARGET.test(value),
  }),
  just: infoOnly,
  task: infoOnly,
  composer: infoOnly,
  pip: subcommands({
    list: accept({ long: "--outdated", longValues: "--format" }),
    show: accept({ flags: "f" }),
    freeze: accept({}),
    check: accept({}),
    "--version": anything,
  }),
  pip3: subcommands({
    list: accept({ long: "--outdated", longValues: "--format" }),
    show: accept({ flags: "f" }),
    freeze: accept({}),
    check: accept({}),
    "--version": anything,
  }),
  jest: infoOnly,
  vitest: infoOnly,
  mocha: infoOnly,
  webpack: infoOnly,
  vite: infoOnly,
  rollup: infoOnly,
  esbuild: infoOnly,
  pytest: accept({
    flags: "vqxsl",
    values: "km",
    long: "--verbose --quiet --exitfirst --lf --ff --last-failed --failed-first --no-header --collect-only -vv -vvv -ra",
    longValues: "--tb --maxfail --durations --ignore --deselect --color",
    operand: (value) => !value.startsWith("@"),
  }),
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
    list: accept({}),
    info: accept({}),
    "--version": anything,
    "--prefix": accept({}),
    outdated: accept({}),
  }),
  "apt-key": infoOnly,
  gpg: infoOnly,
  gpg2: infoOnly,
  "ssh-keygen": accept({ flags: "lv", values: "fE" }),
  "ssh-add": accept({ flags: "lL", maxOperands: 0 }),
  gh: (args) => {
    const [topic = "", verb = ""] = args;
    if (
      !/^(?:pr|issue|run|repo|release|workflow|label)$/.test(topic) ||
      !/^(?:view|list|status|checks|diff)$/.test(verb)
    )
      return args[0] ?? "gh";
    return refuse("w", "--web")(args.slice(2));
  },
  ffmpeg: refuseAll,
  pandoc: infoOnly,
  convert: infoOnly,
  magick: infoOnly,
  mogrify: infoOnly,
  gs: infoOnly,
  exiftool: infoOnly,
  latex: infoOnly,
  pdflatex: infoOnly,
  xelatex: infoOnly,
  lualatex: infoOnly,
  tex: infoOnly,
  latexmk: infoOnly,
  groff: infoOnly,
  troff: infoOnly,
  m4: infoOnly,
  dc: infoOnly,
  ldd: infoOnly,
  yq: refuse("is", "--inplace --split-exp --in-place --from-file"),
  vipe: refuseAll,
  pee: refuseAll,
  ifne: refuseAll,
  mispipe: refuseAll,
  chattr: refuseAll,
  crontab: refuseAll,
  visudo: refuseAll,
};
