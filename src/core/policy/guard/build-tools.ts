/** Build tools, compilers and linters: what a project itself defines, and nothing chosen by the caller. */
import { accept, anything, type Guard, infoOnly, isPlainLocalPath, refuse, subcommands } from "./options.ts";
import { beforeDashes, PACKAGE_MANAGERS } from "./package-managers.ts";

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

const goNames = accept({
  flags: "u",
  long: "-all -short -src -m -json",
  operand: (value) => /^[\w./@-]+$/.test(value),
});
const goLocal = (value: string): boolean => value === "." || isPlainLocalPath(value.replace(/^\.\//, ""));
/** Runs the project's own program; what follows its name is its arguments. */
const goRun: Guard = (args) => {
  const at = args.findIndex((arg) => !/^-(?:race|v)$/.test(arg));
  const target = args[at] ?? "";
  return goLocal(target) && (/^\.(?:\/|$)/.test(target) || target.endsWith(".go")) ? undefined : target || "run";
};
const goGuard = subcommands({
  mod: (args) =>
    /^(?:tidy|download|verify|graph|why)$/.test(args[0] ?? "") ? goNames(args.slice(1)) : (args[0] ?? "mod"),
  env: (args) => args.find((arg) => !/^(?:[A-Z][A-Z0-9_]*|-json|-changed)$/.test(arg)),
  doc: goNames,
  run: goRun,
  ...Object.fromEntries(
    ["build", "test", "vet", "list", "version", "fmt"].map((verb): [string, Guard] => [
      verb,
      accept({
        flags: "vmxnl",
        long: "-v -race -cover -short -json -m -trimpath -failfast -a -x -n",
        longValues: "-run -count -timeout -bench -benchtime -tags -p -parallel -f -skip -o -ldflags",
        value: (option, value) => {
          if (option === "-o") return value === "/dev/null" || isPlainLocalPath(value.replace(/^\.\//, ""));
          // `-extld` and its like name the program that links.
          return (
            option !== "-ldflags" ||
            /^(?:-[sw]|-X [\w./-]+=[\w.:+-]*)(?: (?:-[sw]|-X [\w./-]+=[\w.:+-]*))*$/.test(value)
          );
        },
        operand: (value) => /^(?:\.{1,3}|\.\/(?!.*\.\.\/)[\w./-]*|all)$/.test(value),
      }),
    ]),
  ),
});
const cargoOptions = accept({
  flags: "vqr",
  values: "pj",
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
  "--version": accept({ maxOperands: 0 }),
  "-V": accept({ maxOperands: 0 }),
  clean: accept({ long: "--release --doc", values: "p", maxOperands: 0 }),
  update: accept({ long: "--dry-run --locked --offline", values: "p", longValues: "--package", maxOperands: 0 }),
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
  /^(?:-[cSEvsw]|-g[0-9a-z-]*|-O(?:[0-3sgz]|fast)?|-W(?![lap],)[A-Za-z0-9+=-]*|-std=[\w+]+|-[DUIL].*|-isystem|-l[\w.+-]+|-f(?:PIC|pic|PIE|pie|no-[a-z-]+|sanitize=[a-z,-]+|strict-aliasing|omit-frame-pointer|diagnostics-color(?:=\w+)?|color-diagnostics|visibility=\w+|exceptions|lto|openmp|syntax-only|stack-protector(?:-\w+)?)|-m(?:32|64|arch=[\w-]+|tune=[\w-]+|native|avx\d?|sse[\d.]*)|-pthread|-pedantic(?:-errors)?|-ansi|-shared|-static|--version|-dumpversion|-dumpmachine|-pipe)$/;
const compiler: Guard = (args) =>
  // What the preprocessor prints can be any text, a makefile for one.
  (args.includes("-E") ? args.find((arg) => arg.startsWith("-o")) : undefined) ??
  args.find((arg, index) => {
    if (args[index - 1] === "-o") return !isPlainLocalPath(arg);
    if (arg === "-o") return args[index + 1] === undefined;
    if (/^-o./.test(arg)) return !isPlainLocalPath(arg.slice(2));
    return arg.startsWith("@") || (arg.startsWith("-") && !COMPILER_OPTION.test(arg));
  });
const mvn: Guard = accept({
  flags: "qBoeUXN",
  values: "TP",
  long: "--quiet --batch-mode --offline --errors --version --no-transfer-progress -ntp -DskipTests -DskipTests=true -v",
  longValues: "-Dtest",
  value: (option, value) => option !== "-Dtest" || /^[\w.,*#$!+-]+$/.test(value),
  operand: (value) =>
    /^(?:validate|compile|test|package|verify|install|clean|site|test-compile|process-\w+|dependency:tree)$/.test(
      value,
    ),
});
const eslintLike = accept({
  long: "--quiet --cache --no-cache --color --no-color --version --help --fix --write --fix-dry-run --check --noEmit --pretty --skipLibCheck --strict --watch --verbose --dry-run --list-different --no-error-on-unmatched-pattern -v -h --listFiles --incremental --build -b --noEmitOnError --allowJs --checkJs",
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

/** Builds what a CMakeLists.txt of the project says; no scripts, cache files, tool paths or tools of cmake's own. */
const cmakeConfigure = accept({
  values: "SBGD",
  long: "--fresh --version --help",
  operand: (value) => /^\.{1,2}(?:\/\.\.)*$/.test(value) || isPlainLocalPath(value),
  value: (option, value) => {
    if (option === "-G") return /^[A-Za-z][A-Za-z0-9 ]*$/.test(value);
    if (option === "-D")
      return /^(?:CMAKE_BUILD_TYPE|BUILD_SHARED_LIBS|BUILD_TESTING|CMAKE_EXPORT_COMPILE_COMMANDS)(?::\w+)?=\w+$/.test(
        value,
      );
    return value === "." || value === ".." || isPlainLocalPath(value);
  },
  maxOperands: 1,
});
const cmakeBuild = accept({
  flags: "v",
  values: "jt",
  long: "--clean-first --verbose --parallel",
  longValues: "--target --config",
  operand: (value) => value === "." || isPlainLocalPath(value) || /^\d+$/.test(value),
  value: (_option, value) => /^[\w.-]+$/.test(value),
  maxOperands: 2,
});
const cmake: Guard = (args) => (args[0] === "--build" ? cmakeBuild(args.slice(1)) : cmakeConfigure(args));

const inBuildDirectory = accept({
  flags: "v",
  values: "Cj",
  long: "--verbose --print-errorlogs --list",
  value: (option, value) => (option === "-C" ? isPlainLocalPath(value) : /^\d+$/.test(value)),
  operand: (value) => TARGET.test(value),
});

/** Tasks of the project's own build; no init scripts, other directories, properties or plugin builds. */
const gradle = accept({
  flags: "qisa",
  values: "x",
  long: `--quiet --info --debug --stacktrace --full-stacktrace --no-daemon --daemon --offline --parallel --continue --dry-run
    --rerun-tasks --build-cache --no-build-cache --version --help`,
  longValues: "--tests --exclude-task --console --warning-mode --max-workers",
  operand: (value) => /^:?[A-Za-z][\w:-]*$/.test(value),
});
const vitest = accept({
  values: "t",
  long: "--run --coverage --watch --silent --ui --passWithNoTests --no-color --version --changed --bail",
  longValues: "--testNamePattern --bail --project --maxWorkers --testTimeout",
});

export const BUILD_TOOLS: Readonly<Record<string, Guard>> = {
  ...PACKAGE_MANAGERS,
  make: makeWithJobs,
  gmake: makeWithJobs,
  go: goGuard,
  cargo: cargoGuard,
  mvn,
  "json.tool": accept({
    long: "--sort-keys --no-ensure-ascii --json-lines --compact --tab --no-indent",
    longValues: "--indent",
    // The second operand is written.
    maxOperands: 1,
  }),
  unittest: accept({
    flags: "vqfcb",
    values: "kspt",
    long: "--verbose --quiet --failfast --catch --buffer --locals",
    longValues: "--start-directory --pattern --top-level-directory",
  }),
  tsc,
  eslint: eslintLike,
  prettier: eslintLike,
  gcc: compiler,
  "g++": compiler,
  cc: compiler,
  c89: compiler,
  c99: compiler,
  "c++": compiler,
  gfortran: compiler,
  g77: compiler,
  gdc: compiler,
  gccgo: compiler,
  clang: compiler,
  "clang++": compiler,
  cpp: compiler,
  tcc: infoOnly,
  rustc: infoOnly,
  javac: infoOnly,
  cmake,
  ctest: accept({
    flags: "VN",
    values: "RELj",
    long: "--output-on-failure --verbose --show-only --rerun-failed --stop-on-failure --progress --version",
    longValues: "--test-dir --tests-regex --exclude-regex --label-regex --parallel --timeout --repeat",
    value: (option, value) => option !== "--test-dir" || isPlainLocalPath(value),
    maxOperands: 0,
  }),
  gradle,
  gradlew: gradle,
  mvnw: mvn,
  scons: makeWithJobs,
  waf: makeWithJobs,
  as: infoOnly,
  ar: (args) => (/^-?[tpv]+$/.test(args[0] ?? "") ? accept({})(args.slice(1)) : (args[0] ?? "ar")),
  ranlib: infoOnly,
  strip: infoOnly,
  objcopy: infoOnly,
  elfedit: infoOnly,
  dwp: infoOnly,
  gold: infoOnly,
  "ld.bfd": infoOnly,
  "ld.gold": infoOnly,
  "ld.lld": infoOnly,
  mold: infoOnly,
  jar: (args) => (/^-?tv?f$/.test(args[0] ?? "") ? accept({})(args.slice(1)) : (args[0] ?? "jar")),
  javadoc: infoOnly,
  keytool: (args) =>
    args[0] === "-list"
      ? refuse("J", "-providerclass -providerpath -addprovider")(args.slice(1))
      : (args[0] ?? "keytool"),
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
  meson: subcommands({
    compile: inBuildDirectory,
    test: inBuildDirectory,
    "--version": anything,
  }),
  ninja: accept({
    flags: "vn",
    values: "jk",
    long: "--version --verbose --quiet",
    operand: (value) => TARGET.test(value),
  }),
  just: accept({ long: "--list --summary --version", flags: "l", operand: (value) => TARGET.test(value) }),
  task: accept({ long: "--list --list-all --version", flags: "la", operand: (value) => TARGET.test(value) }),
  composer: infoOnly,
  jest: accept({
    flags: "io",
    values: "tw",
    long: "--ci --coverage --watch --watchAll --runInBand --verbose --silent --bail --onlyChanged --passWithNoTests --listTests --no-coverage --version",
    longValues: "--testNamePattern --maxWorkers --testTimeout",
    longOptional: "--bail --maxWorkers",
  }),
  vitest: (args) => (/^(?:run|watch|related|list)$/.test(args[0] ?? "") ? vitest(args.slice(1)) : vitest(args)),
  mocha: accept({
    flags: "b",
    values: "gt",
    long: "--bail --recursive --exit --parallel --watch --version",
    longValues: "--grep --timeout",
  }),
  webpack: infoOnly,
  vite: infoOnly,
  rollup: infoOnly,
  esbuild: infoOnly,
  pytest: accept({
    flags: "vqxsl",
    values: "kmn",
    long: "--cov --no-cov --cov-branch --verbose --quiet --exitfirst --lf --ff --last-failed --failed-first --no-header --collect-only -vv -vvv -ra",
    longValues: "--tb --maxfail --durations --ignore --deselect --color --cov-report --cov-fail-under --numprocesses",
    longOptional: "--cov",
    // `html:directory` names where to write.
    value: (option, value) => option !== "--cov-report" || /^term(?:-missing)?$/.test(value),
    operand: (value) => !value.startsWith("@"),
  }),
};
