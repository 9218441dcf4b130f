/** Package managers: what the project's own manifest defines, and nothing chosen by the caller. */
import { accept, anything, type Guard, infoOnly, isPlainLocalPath, subcommands } from "./options.ts";

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
export const beforeDashes =
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
  search: npmRead,
  version: accept({ long: "--json", maxOperands: 0 }),
  config: (args) => (/^(?:get|list|ls)$/.test(args[0] ?? "") ? npmRead(args.slice(1)) : (args[0] ?? "config")),
  cache: (args) => (args.length === 1 && /^(?:verify|ls)$/.test(args[0] as string) ? undefined : (args[0] ?? "cache")),
};
const npm: Guard = (args) => {
  const rest = args[0] === "--silent" || args[0] === "-s" ? args.slice(1) : args;
  return infoOnly(rest) === undefined || (rest.length === 1 && rest[0] === "-v")
    ? undefined
    : subcommands(npmTables)(rest);
};

/**
 * pnpm and yarn run a script by its bare name, and a program of a dependency by the same form: only names that scripts
 * have and programs do not.
 */
const BARE_SCRIPT =
  /^(?:build|lint|dev|serve|typecheck|type-check|format|check|coverage|e2e|watch|preview|(?:build|lint|test|dev|check|format)[:-][a-z0-9:-]+)$/;
const bareScript: Guard = (args) => (BARE_SCRIPT.test(args[0] ?? "") ? beforeDashes(npmRun)(args) : npm(args));

/** In which packages of the workspace it runs; no other directory. */
const pnpm: Guard = (args) => {
  const [first = "", second = "", ...rest] = args;
  if (/^(?:-r|--recursive|-w|--workspace-root)$/.test(first)) return pnpm(args.slice(1));
  if (/^(?:--filter|-F)$/.test(first))
    return /^[@\w][@\w./-]*$/.test(second) && !second.includes("..") ? pnpm(rest) : first;
  return bareScript(args);
};
const yarnLike: Guard = (args) => {
  const [first = "", second = "", ...rest] = args;
  if (args.length === 0) return undefined;
  if (first === "workspace" && /^[@\w][@\w./-]*$/.test(second)) return rest.length > 0 ? bareScript(rest) : first;
  if (first === "workspaces") return second === "list" && rest.length === 0 ? undefined : second || first;
  return bareScript(args);
};

/** Installs what the project names; nothing by name, no other index. */
const pipInstall = accept({
  flags: "qU",
  values: "re",
  long: "--quiet --upgrade --no-deps --no-input --disable-pip-version-check --dry-run",
  longValues: "--requirement --editable",
  value: (option, value) => (option.endsWith("e") ? value === "." : isPlainLocalPath(value)),
  maxOperands: 0,
});
const pip = subcommands({
  list: accept({ long: "--outdated", longValues: "--format" }),
  show: accept({ flags: "f" }),
  freeze: accept({}),
  check: accept({}),
  install: (args) => (args.length === 0 ? "install" : pipInstall(args)),
  "--version": anything,
});

export const PACKAGE_MANAGERS: Readonly<Record<string, Guard>> = { npm, pnpm, yarn: yarnLike, pip, pip3: pip };
