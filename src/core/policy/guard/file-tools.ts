/** Tools on files and text. Those whose job is to put content where the caller says are always a question. */

import { awkGuard } from "./awk.ts";
import { gitGuard } from "./git.ts";
import {
  accept,
  anything,
  type Guard,
  infoOnly,
  isPlainLocalPath,
  isStreamPath,
  refuse,
  refuseAll,
} from "./options.ts";
import { sedGuard } from "./sed.ts";

/** GNU find: tests and `-print`; every action that runs, deletes or writes is missing on purpose. */
const FIND_WORDS = new Set(
  `-H -L -P -name -iname -path -ipath -wholename -iwholename -regex -iregex -regextype -type -xtype -size -empty -newer -anewer
  -cnewer -mtime -atime -ctime -mmin -amin -cmin -perm -user -group -uid -gid -nouser -nogroup -links -inum -samefile -lname
  -ilname -maxdepth -mindepth -depth -d -mount -xdev -prune -quit -print -print0 -printf -ls -not -and -or -a -o -true -false
  -readable -writable -executable -daystart -follow -noleaf -warn -nowarn -used -fstype -context --version --help`.split(
    /\s+/,
  ),
);
const find: Guard = (args) =>
  args.find(
    (arg, index) =>
      arg.startsWith("-") &&
      !FIND_WORDS.has(arg) &&
      !(args[index - 1] === "-perm" && /^-[ugoa,+=rwxst0-7]+$/.test(arg)) &&
      !/^-(?:\d+[ckMGwb]?|O[0-3]|newer[aBcm][aBcmt])$/.test(arg),
  );

/** An archive below the working directory whose name says that it is one. */
const isArchive = (path: string): boolean =>
  path === "-" ||
  (isPlainLocalPath(path) &&
    /\.(?:tar(?:\.\w+)?|tgz|tbz2?|txz|tzst|zip|jar|whl|gz)$/.test(path) &&
    !path.includes(":"));
const tarOptions = (writes: boolean): Guard =>
  accept({
    flags: writes ? "cvzjJahp" : "xtvzjJakpO",
    values: writes ? "fC" : "f",
    long: `--create --extract --get --list --verbose --gzip --bzip2 --xz --zstd --auto-compress --keep-old-files --dereference
      --exclude-vcs --no-same-owner --no-same-permissions --numeric-owner --no-recursion --exclude-backups --totals --wildcards`,
    longValues: `--file --exclude --strip-components${writes ? " --directory" : ""}`,
    value: (option, value) =>
      option === "-f" || option === "--file"
        ? writes
          ? isArchive(value) || value === "/dev/null"
          : !value.includes(":")
        : (option !== "-C" && option !== "--directory") || value === "." || isPlainLocalPath(value),
    // Extraction stays in the working directory: no `-C`; tar itself drops absolute names.
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
  const reads = normal.some((arg) => /^-[A-Za-z]*[xt]/.test(arg) || /^--(?:ext|get|list)/.test(arg));
  if (creates === reads) return first;
  return tarOptions(creates)(normal);
};
/** Writes beside the file it is given, unless it only shows: no name for the output, no dot files. */
const compressor: Guard = (args) => {
  const shows = args.some((arg) => /^(?:-[a-zA-Z0-9]*[clt][a-zA-Z0-9]*|--(?:stdout|to-stdout|list|test))$/.test(arg));
  return accept({
    flags: "cdfhklLnNqrtvVzCmAa0123456789",
    values: "ST",
    long: `--stdout --to-stdout --decompress --uncompress --compress --force --keep --list --no-name --name --quiet --recursive
      --test --verbose --version --help --fast --best --extreme --rm --ultra --no-progress --single-stream --rsyncable`,
    longValues: "--threads --suffix --format --check --memlimit",
    longOptional: "--threads --long --adapt --fast",
    operand: (value) => shows || isPlainLocalPath(value) || value === "-",
  })(args);
};
/** lz4 writes what its second operand names. */
const lz4: Guard = accept({
  flags: "cdfkmqtvz123456789",
  long: "--decompress --compress --force --keep --list --test --verbose --quiet --version --help --rm --best --fast",
  operand: isPlainLocalPath,
  maxOperands: 1,
});

/** Capabilities by name. `init` and `reset` run the program that the terminal's description names. */
const tput: Guard = (args) => args.find((arg) => !/^[a-z0-9]+$/.test(arg) || arg === "init" || arg === "reset");

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
const bat: Guard = (args) =>
  args[0] === "cache"
    ? args[0]
    : refuse("", "--pager --config-file --config-dir --paging --map-syntax --generate-config-file --lessopen")(args);

/** Nothing they can be told makes them more than they are: they look, compare, count, remove or make empty files. */
const PLAIN_TOOLS =
  `[ ls dir vdir cat tac rev echo grep egrep fgrep rgrep zgrep zcat bzcat xzcat zstdcat head tail wc cut tr paste join comm
  fold fmt nl pr expand unexpand od hexdump strings base32 basenc md5sum md5 sha1sum sha224sum sha256sum sha384sum
  sha512sum shasum b2sum cksum sum stat du df ps pgrep pkill kill killall pidof id whoami who w last groups uname uptime free
  nproc lscpu lsblk lsusb lspci lsof lsmod netstat ping ping6 traceroute tracepath mtr dig host nslookup whois which
  which.debianutils whereis readlink realpath basename dirname pwd seq sleep true false test yes touch mkdir rmdir rm unlink
  chmod chown chgrp mktemp tsort factor cal ncal expr numfmt column look getent locale printenv tty vmstat iostat mpstat
  cmp zipinfo clear sync getconf pathchk logname users
  csvcut csvlook tokei exa eza lsd duf dust procs tldr`.split(/\s+/);

export const FILE_TOOLS: Readonly<Record<string, Guard>> = {
  ...Object.fromEntries(PLAIN_TOOLS.map((name): [string, Guard] => [name, anything])),
  unzip: accept({
    flags: "lvtZqoujnpcCaX12z",
    values: "xPd",
    value: (option, value) => option !== "-d" || isPlainLocalPath(value),
  }),
  ...Object.fromEntries(
    "gzip gunzip bzip2 bunzip2 xz unxz zstd unzstd".split(" ").map((name): [string, Guard] => [name, compressor]),
  ),
  lz4,
  unlz4: lz4,
  lz4cat: accept({ flags: "q", maxOperands: 1 }),
  zstdcat: accept({ flags: "fqv" }),
  base64: accept({
    flags: "dDi",
    values: "wb",
    long: "--decode --ignore-garbage --version --help",
    longValues: "--wrap --break",
    operand: (value) => value !== "",
  }),
  ss: refuse("DK", "--diag --kill", "fFN"),
  top: (args) => (args.some((arg) => /^-[a-zA-Z]*b/.test(arg)) ? undefined : (args[0] ?? "no -b")),
  cloc: accept({
    flags: "vh",
    long: `--by-file --by-file-by-lang --quiet --csv --json --yaml --xml --md --hide-rate --progress-rate --skip-uniqueness
      --show-lang --show-ext --git --diff --version --help --exclude-content --fullpath`,
    longValues:
      "--exclude-dir --exclude-lang --exclude-ext --include-lang --include-ext --match-f --not-match-f --timeout",
  }),
  scc: refuse("o", "--output --format-multi", "fiMns"),
  tput,
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
  jq: jqGuard,
  date: dateGuard,
  rg: refuse("z", "--pre --pre-glob --hostname-bin --search-zip --hyperlink-format", "ABCEMTdefgjmrt"),
  ag: refuse("", "--pager --path-to-ignore"),
  ack: refuse("", "--pager --ackrc --env --create-ackrc --output"),
  fd: refuse("xX", "--exec --exec-batch", "EScdejot"),
  fdfind: refuse("xX", "--exec --exec-batch", "EScdejot"),
  bat: bat,
  batcat: bat,
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
  xxd: accept({ flags: "bEiuv", values: "clsg", maxOperands: 1 }),
  printf: (args) => (args[0]?.startsWith("-") && args[0] !== "--" ? args[0] : undefined),
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
  yq: refuse("is", "--inplace --split-exp --in-place --from-file --security-enable-system-operator", "opI"),
  tomlq: infoOnly,
  xq: infoOnly,
  "xq-python": infoOnly,
  "rename.ul": refuseAll,
  gzexe: refuseAll,
  bzexe: refuseAll,
  ptar: refuseAll,
  gpgtar: refuseAll,
  localedef: refuseAll,
  tic: refuseAll,
  zic: refuseAll,
  gencat: refuseAll,
  ctags: refuseAll,
  "ctags-universal": refuseAll,
  etags: refuseAll,
  nroff: infoOnly,
  pic: infoOnly,
  gpic: infoOnly,
  grops: infoOnly,
  pygmentize: refuse("xoFP", "", "lfOS"),
  vipe: refuseAll,
  pee: refuseAll,
  ifne: refuseAll,
  mispipe: refuseAll,
};
