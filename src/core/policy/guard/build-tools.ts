/** Build tools, package managers, compilers and linters: what a project itself defines, and nothing chosen by the caller. */
import { accept, anything, type Guard, infoOnly, isPlainLocalPath, subcommands } from "./options.ts";

const TARGET = /^[A-Za-z0-9_][A-Za-z0-9_./:%@+-]*$/;
const make: Guard = accept({
  flags: "jknsBqitwS",
  values: "",
  long: `--jobs --keep-going --dry-run --just-print --silent --quiet --always-make --question --ignore-errors --touch --version
    --help --print-directory --no-print-directory --warn-undefined-variables --trace --output-sync`,
  longOptional: "--jobs --output-sync",
  // `NAME=value` overrides any variable of the makefile, SHELL and CC among them.
  operand: (value) => TARGET.test(value) || /^\d+$/.test(value) || /^(?:V|VERBOSE|DEBUG)=[01]$/.test(value),
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
  value: (_option, value) => isPlainLocalPath(value) || /^@[\w.-]+\/[\w.-]+$/.test(value),
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
const goGuard = subcommands(
  Object.fromEntries(
    ["build", "test", "vet", "list", "version", "fmt", "doc"].map((verb): [string, Guard] => [
      verb,
      accept({
        flags: "vmxnl",
        long: "-v -race -cover -short -json -m -trimpath -failfast -a -x -n",
        longValues: "-run -count -timeout -bench -tags -p -parallel -f -skip",
        operand: (value) => /^(?:\.{1,3}|\.\/(?!.*\.\.\/)[\w./-]*|all)$/.test(value),
      }),
    ]),
  ),
);
const cargoOptions = accept({
  flags: "vqrj",
  values: "p",
  long: "--release --all --workspace --lib --bins --tests --examples --all-targets --all-features --no-default-features --verbose --quiet --locked --offline --frozen --no-run --check --no-deps",
  longValues: "--package --bin --test --example --features --jobs",
  operand: (value) => /^[\w:.-]+$/.test(value),
});

/** What stands behind `--` goes to rustfmt, or to rustc through clippy: only how strict to be. */
const cargoPassing =
  (allowed: RegExp): Guard =>
  (args) =>
    beforeDashes(cargoOptions)(args) ??
    (args.includes("--") ? args.slice(args.indexOf("--") + 1).find((arg) => !allowed.test(arg)) : undefined);
const cargoGuard = subcommands({
  clippy: cargoPassing(/^(?:-[DWA]|[\w:]+)$/),
  fmt: cargoPassing(/^--check$/),
  ...Object.fromEntries(
    ["build", "b", "check", "c", "test", "t", "doc", "tree", "metadata", "version", "run", "r", "bench"].map(
      (verb): [string, Guard] => [
        verb,
        // Of `run`, `test` and `bench` the rest goes to the project's own program.
        beforeDashes(cargoOptions),
      ],
    ),
  ),
});

/** Compilers: what to build and how strictly; no plugins, wrappers, response files, dumps or tool directories. */
const COMPILER_OPTION =
  /^(?:-[cSEvsw]|-g[0-9a-z-]*|-O(?:[0-3sgz]|fast)?|-W(?![lap],)[A-Za-z0-9+=-]*|-std=[\w+]+|-[DUIL].+|-l[\w.+-]+|-f(?:PIC|pic|PIE|pie|no-[a-z-]+|sanitize=[a-z,-]+|strict-aliasing|omit-frame-pointer|diagnostics-color(?:=\w+)?|color-diagnostics|visibility=\w+|exceptions|lto|openmp|stack-protector(?:-\w+)?)|-m(?:32|64|arch=[\w-]+|tune=[\w-]+|native|avx\d?|sse[\d.]*)|-pthread|-pedantic(?:-errors)?|-ansi|-shared|-static|--version|-dumpversion|-dumpmachine|-pipe)$/;
const compiler: Guard = (args) =>
  args.find((arg, index) => {
    if (args[index - 1] === "-o") return !isPlainLocalPath(arg);
    if (arg === "-o") return args[index + 1] === undefined;
    if (/^-o./.test(arg)) return !isPlainLocalPath(arg.slice(2));
    return arg.startsWith("@") || (arg.startsWith("-") && !COMPILER_OPTION.test(arg));
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
    if (/^--?(?:p|project|b|build)$/i.test(args[i] as string) && isPlainLocalPath(args[i + 1] ?? "")) i += 1;
    else if (args[i] !== "-w") rest.push(args[i] as string);
  }
  return eslintLike(rest) ?? rest.find((arg) => arg.includes(".."));
};

export const BUILD_TOOLS: Readonly<Record<string, Guard>> = {
  make: makeWithJobs,
  gmake: makeWithJobs,
  npm,
  pnpm: npm,
  yarn: yarnLike,
  go: goGuard,
  cargo: cargoGuard,
  mvn,
  tsc,
  eslint: eslintLike,
  prettier: eslintLike,
  gcc: compiler,
  "g++": compiler,
  cc: compiler,
  c89: compiler,
  c99: compiler,
  "c++": compiler,
  clang: compiler,
  "clang++": compiler,
  cpp: compiler,
  tcc: infoOnly,
  rustc: infoOnly,
  javac: infoOnly,
  cmake: infoOnly,
  scons: makeWithJobs,
  waf: makeWithJobs,
  as: infoOnly,
  easy_install: infoOnly,
  luarocks: infoOnly,
  opam: infoOnly,
  dotnet: subcommands({
    build: accept({ operand: isPlainLocalPath, longValues: "--configuration", values: "c" }),
    test: accept({
      operand: isPlainLocalPath,
      longValues: "--configuration --filter",
      values: "c",
      long: "--no-build",
    }),
    restore: accept({ operand: isPlainLocalPath }),
    "--version": anything,
    "--info": anything,
  }),
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
};
