/**
 * git: which subcommand with which options only reads the repository or does the everyday work of a person. Options
 * before the subcommand (`-c`, `-C`, `--git-dir`, `--exec-path`, `-p` …) and options that name a program or an output
 * file are what is kept out. What a repository's own hooks and config run is not visible here (docs/policy.md).
 */
import { accept, type Guard, type OptionTable, subcommands } from "./options.ts";

/** Remote helpers (`ext::sh -c …`) run programs; an operand that looks like an option would be taken for one. */
const plainOperand = (value: string): boolean =>
  value === "-" || (!value.includes("::") && !/^(?:-|ssh:\/\/-|[^/]*@-)/.test(value));
/** A configured remote, or a web address; a path or an ssh address can name a server program's host. */
const remoteOperand = (value: string, index: number): boolean =>
  plainOperand(value) && (index > 0 || /^(?:[A-Za-z0-9_][A-Za-z0-9_./-]*|https:\/\/[A-Za-z0-9][^\s]*)$/.test(value));

const table = (options: OptionTable): Guard => accept({ operand: plainOperand, ...options });

const DIFF_LONG = `--stat --shortstat --numstat --dirstat --summary --name-only --name-status --patch --no-patch --raw --cached
  --staged --merge-base --word-diff --color-words --color --no-color --minimal --patience --histogram --check --full-index
  --binary --ignore-space-change --ignore-all-space --ignore-space-at-eol --ignore-blank-lines --function-context
  --exit-code --quiet --no-index --no-renames --find-renames --find-copies --text --no-prefix --no-ext-diff --no-textconv
  --compact-summary --patch-with-stat --cc --combined-all-paths --pickaxe-all --pickaxe-regex --relative --no-relative
  --indent-heuristic --irreversible-delete --abbrev -z`;
const DIFF_OPTIONAL =
  "--stat --dirstat --word-diff --color --color-words --find-renames --find-copies --abbrev --relative --ignore-submodules --submodule --ws-error-highlight --color-moved";
const DIFF_VALUES =
  "--unified --diff-filter --diff-algorithm --inter-hunk-context --word-diff-regex --stat-width --stat-count --src-prefix --dst-prefix --anchored --diff-merges";
const DIFF_FLAGS = "pubwRaWzsqM";

const LOG_LONG = `--oneline --graph --all --decorate --no-decorate --merges --no-merges --first-parent --reverse --follow
  --branches --tags --remotes --source --left-right --cherry-pick --cherry-mark --boundary --simplify-by-decoration
  --topo-order --date-order --author-date-order --abbrev-commit --no-abbrev-commit --parents --children --full-history
  --relative-date --walk-reflogs --all-match --invert-grep --regexp-ignore-case --extended-regexp --fixed-strings
  --perl-regexp --no-walk --no-notes --notes --no-mailmap --mailmap --log-size --no-expand-tabs --count --objects
  --show-pulls --ancestry-path --not --no-show-signature`;
const LOG_OPTIONAL = "--pretty --decorate --branches --tags --remotes --no-walk --glob --exclude";
const LOG_VALUES = `--max-count --skip --since --until --after --before --author --committer --grep --format --date --encoding
  --decorate-refs --decorate-refs-exclude --min-parents --max-parents`;

/** `%G…` and `%(signature…)` make git run the configured signature program. */
const logValue = (option: string, value: string): boolean =>
  !/%G|%\(signature/.test(value) && !(option === "--sort" && /^-?signature/.test(value));
const logOptional =
  (guard: Guard): Guard =>
  (args) =>
    args.find((arg) => /^--pretty=.*%G/s.test(arg)) ?? guard(args);

const LOG: Guard = logOptional(
  table({
    flags: `${DIFF_FLAGS}tcmiEFPg`,
    values: "nSGLU",
    number: true,
    long: `${DIFF_LONG} ${LOG_LONG}`,
    longValues: `${DIFF_VALUES} ${LOG_VALUES}`,
    longOptional: `${DIFF_OPTIONAL} ${LOG_OPTIONAL}`,
    value: logValue,
  }),
);

const DIFF: Guard = table({
  flags: `${DIFF_FLAGS}tcr`,
  values: "SGUl",
  long: DIFF_LONG,
  longValues: DIFF_VALUES,
  longOptional: DIFF_OPTIONAL,
});

const NO_EDITOR = "--no-edit --quiet --verbose --progress --no-progress";

const SUBCOMMANDS: Readonly<Record<string, Guard>> = {
  status: table({
    flags: "sbvuz",
    long: "-uno -uall -unormal --short --branch --porcelain --long --verbose --show-stash --ahead-behind --no-ahead-behind --renames --no-renames --untracked-files --ignored --no-column --no-optional-locks",
    longOptional: "--porcelain --untracked-files --ignored --ignore-submodules --find-renames --column",
  }),
  log: LOG,
  show: LOG,
  whatchanged: LOG,
  reflog: (args) => (args[0] === undefined || args[0] === "show" || args[0].startsWith("-") ? LOG(args) : args[0]),
  shortlog: table({
    flags: "snec",
    values: "w",
    long: `--summary --numbered --email --committer --all --no-merges --branches`,
    longValues: "--since --until --author --group --format",
    value: logValue,
  }),
  diff: DIFF,
  "diff-tree": table({
    flags: "rtpmcsz",
    long: `${DIFF_LONG} --root --no-commit-id --stdin`,
    longOptional: DIFF_OPTIONAL,
  }),
  "diff-index": table({ flags: "rtpmcsz", long: DIFF_LONG, longOptional: DIFF_OPTIONAL }),
  "diff-files": table({ flags: "rtpmcsz", long: DIFF_LONG, longOptional: DIFF_OPTIONAL }),
  "range-diff": table({ flags: "p", long: "--no-color --stat --no-patch --left-only --right-only" }),
  "rev-parse": table({
    flags: "q",
    long: `--short --abbrev-ref --verify --quiet --show-toplevel --git-dir --absolute-git-dir --git-common-dir --is-inside-work-tree
      --is-inside-git-dir --is-bare-repository --is-shallow-repository --show-prefix --show-cdup --symbolic --symbolic-full-name
      --all --branches --tags --remotes --local-env-vars --show-superproject-working-tree --show-object-format --no-revs --revs-only`,
    longOptional: "--short --abbrev-ref --branches --tags --remotes --path-format --show-object-format",
    longValues: "--git-path --default",
  }),
  "rev-list": table({
    number: true,
    values: "n",
    long: LOG_LONG,
    longValues: LOG_VALUES,
    longOptional: LOG_OPTIONAL,
    value: logValue,
  }),
  "ls-files": table({
    flags: "cdmosuktvfz",
    values: "x",
    long: "--cached --deleted --modified --others --stage --unmerged --ignored --exclude-standard --full-name --error-unmatch --directory --eol --recurse-submodules --deduplicate",
    longValues: "--exclude",
  }),
  "ls-tree": table({
    flags: "drtlz",
    long: "--long --name-only --name-status --object-only --full-name --full-tree",
    longOptional: "--abbrev",
  }),
  "cat-file": table({ flags: "tspe", maxOperands: 2 }),
  "for-each-ref": table({
    long: "--no-color",
    longValues: "--format --sort --count --contains --points-at --merged --no-merged",
    value: logValue,
  }),
  "show-ref": table({
    flags: "sdq",
    long: "--heads --tags --verify --hash --head --dereference --quiet",
    longOptional: "--hash",
  }),
  "merge-base": table({ flags: "a", long: "--all --is-ancestor --fork-point --octopus --independent" }),
  "name-rev": table({ long: "--name-only --tags --always --no-undefined", longValues: "--refs --exclude" }),
  describe: table({
    long: "--tags --all --long --always --dirty --contains --exact-match --first-parent",
    longValues: "--match --exclude --candidates",
    longOptional: "--dirty --abbrev --broken",
  }),
  blame: table({
    flags: "lsfnewctpMC",
    values: "L",
    long: "--porcelain --line-porcelain --show-email --show-name --show-number --root",
    longValues: "--since --date",
  }),
  "count-objects": table({ flags: "vH", long: "--verbose --human-readable" }),
  "check-ignore": table({ flags: "vqnz", long: "--verbose --quiet --non-matching --no-index" }),
  "check-attr": table({ flags: "az", long: "--all --cached" }),
  version: table({ long: "--build-options", maxOperands: 0 }),
  grep: table({
    flags: "iwvhHnlLczoqEGFPIaprW",
    values: "eABCm",
    number: true,
    long: `--ignore-case --word-regexp --invert-match --line-number --column --files-with-matches --files-without-match --name-only
      --count --only-matching --quiet --extended-regexp --basic-regexp --fixed-strings --perl-regexp --cached --untracked
      --no-index --full-name --heading --break --show-function --function-context --all-match --and --or --not --recursive
      --no-color --color --no-textconv --text`,
    longValues: "--after-context --before-context --context --max-depth --threads --max-count",
    longOptional: "--color",
  }),
  branch: table({
    flags: "avrlqidDmMcft",
    long: `--list --all --remotes --verbose --show-current --no-color --color --merged --no-merged --contains --no-contains --delete
      --move --copy --force --quiet --ignore-case --track --no-track --unset-upstream --column --no-column`,
    longValues: "--sort --format --points-at --set-upstream-to --abbrev",
    values: "u",
    longOptional: "--merged --no-merged --contains --no-contains --color --abbrev --track --column",
    value: logValue,
  }),
  tag: table({
    flags: "ldaifn",
    values: "m",
    long: "--list --delete --annotate --force --ignore-case --no-color --column --merged --no-merged --contains --no-contains",
    longValues: "--sort --format --points-at --message",
    longOptional: "--merged --no-merged --contains --color",
    number: true,
    value: logValue,
  }),
  remote: (args) => {
    const rest = args[0] === "-v" || args[0] === "--verbose" ? args.slice(1) : args;
    if (rest.length === 0) return undefined;
    if (rest[0] === "get-url") return table({ long: "--push --all", maxOperands: 1 })(rest.slice(1));
    if (rest[0] === "show") return table({ flags: "n", maxOperands: 1, operand: remoteOperand })(rest.slice(1));
    return rest[0];
  },
  stash: (args) => {
    const [verb = "push"] = args;
    if (verb === "list" || verb === "show") return LOG(args.slice(1));
    if (verb === "push" || verb.startsWith("-")) {
      return table({
        flags: "ukqaS",
        values: "m",
        long: "--include-untracked --keep-index --no-keep-index --all --quiet --staged",
        longValues: "--message",
      })(verb === "push" ? args.slice(1) : args);
    }
    if (verb === "pop" || verb === "apply" || verb === "drop")
      return table({ flags: "q", long: "--index --quiet", maxOperands: 1 })(args.slice(1));
    return verb;
  },
  config: (args) => {
    const [verb, ...rest] = args;
    if (verb === "--list" || verb === "-l" || verb === "list") return rest[0];
    // One name reads it, a second word would set it.
    if (rest.length === 0 && /^[A-Za-z][\w-]*\.[^=]+$/.test(verb ?? "")) return undefined;
    if (verb !== "--get" && verb !== "--get-all" && verb !== "get") return verb ?? "config";
    return rest.length === 1 ? table({})(rest) : (rest[1] ?? verb);
  },
  cherry: table({ flags: "v", long: "--abbrev" }),
  "show-branch": table({ flags: "ar", long: "--all --remotes --current --list --sha1-name --no-name" }),
  "symbolic-ref": table({ flags: "q", long: "--short --quiet", maxOperands: 1 }),
  var: table({ maxOperands: 1 }),
  fsck: table({ long: "--full --no-full --no-dangling --connectivity-only --no-progress --verbose", maxOperands: 0 }),
  "verify-pack": table({ flags: "vs" }),
  "patch-id": table({ long: "--stable --unstable", maxOperands: 0 }),
  notes: (args) => (args[0] === "show" || args[0] === "list" ? table({})(args.slice(1)) : (args[0] ?? "notes")),
  bisect: (args) => (args[0] === "log" && args.length === 1 ? undefined : (args[0] ?? "bisect")),
  archive: (args) => (args.length === 1 && /^(?:-l|--list)$/.test(args[0] as string) ? undefined : "archive"),
  clean: (args) =>
    args.some((arg) => /^(?:-[a-zA-Z]*n[a-zA-Z]*|--dry-run)$/.test(arg))
      ? table({ flags: "ndxXq", long: "--dry-run --quiet" })(args)
      : (args[0] ?? "clean"),
  apply: (args) =>
    args.some((arg) => /^--(?:check|stat|numstat|summary)$/.test(arg))
      ? table({ flags: "vR", long: "--check --stat --numstat --summary --verbose --reverse", values: "p" })(args)
      : (args[0] ?? "apply"),
  worktree: (args) =>
    args[0] === "list"
      ? table({ flags: "vz", long: "--porcelain --verbose", maxOperands: 0 })(args.slice(1))
      : (args[0] ?? "worktree"),
  submodule: (args) =>
    args[0] === undefined || args[0] === "status"
      ? table({ flags: "q", long: "--recursive --cached" })(args.slice(1))
      : args[0],
  init: table({ flags: "q", values: "b", long: "--quiet", longValues: "--initial-branch", maxOperands: 0 }),
  add: table({
    flags: "AunvfN",
    long: "--all --update --dry-run --verbose --force --intent-to-add --no-all --ignore-errors --refresh --renormalize --sparse",
    longOptional: "--chmod",
  }),
  rm: table({ flags: "rfnq", long: "--cached --force --dry-run --quiet --ignore-unmatch" }),
  mv: table({ flags: "fknv", long: "--force --dry-run --verbose" }),
  restore: table({
    flags: "SWq",
    values: "s",
    long: "--staged --worktree --quiet --ours --theirs",
    longValues: "--source",
  }),
  reset: table({ flags: "qN", long: "--soft --mixed --hard --keep --merge --quiet --intent-to-add" }),
  commit: table({
    flags: "amqsvn",
    values: "mC",
    long: `--all --amend ${NO_EDITOR} --signoff --no-signoff --dry-run --short --porcelain --allow-empty --allow-empty-message --no-verify --reset-author --only --include --no-gpg-sign --status --no-status`,
    longValues: "--message --author --date --fixup --squash --reuse-message --trailer --cleanup",
  }),
  checkout: table({
    flags: "bBfqtm",
    long: "--quiet --force --track --no-track --detach --ours --theirs --merge",
    longValues: "--orphan",
  }),
  switch: table({
    flags: "cCfqtdm",
    long: "--create --force-create --force --quiet --track --no-track --detach --discard-changes --guess --no-guess",
    longValues: "--orphan",
  }),
  merge: table({
    flags: "qn",
    values: "m",
    long: `${NO_EDITOR} --no-ff --ff --ff-only --squash --no-commit --abort --no-verify --stat --no-stat --allow-unrelated-histories`,
    longValues: "--message",
  }),
  "cherry-pick": table({ flags: "nx", long: `${NO_EDITOR} --no-commit --abort --skip --quit` }),
  revert: table({ flags: "n", long: `${NO_EDITOR} --no-commit --abort --skip --quit` }),
  rebase: table({
    flags: "q",
    long: `${NO_EDITOR} --abort --skip --autostash --no-autostash --stat --no-stat`,
    longValues: "--onto",
  }),
  fetch: table({
    flags: "apqvtPnf",
    long: "--all --prune --quiet --verbose --tags --no-tags --prune-tags --dry-run --force --unshallow --progress --multiple",
    longValues: "--depth --jobs",
    operand: remoteOperand,
  }),
  pull: table({
    flags: "qvr",
    long: "--rebase --no-rebase --ff-only --ff --no-ff --quiet --verbose --all --prune --tags --no-tags --autostash --no-edit --progress",
    longValues: "--depth",
    operand: remoteOperand,
  }),
  push: table({
    flags: "uqvnfd",
    long: "--set-upstream --quiet --verbose --dry-run --force --force-with-lease --tags --follow-tags --all --delete --no-verify --progress --porcelain --atomic",
    operand: (value, index) => (index === 0 ? /^[A-Za-z0-9_][A-Za-z0-9_.-]*$/.test(value) : plainOperand(value)),
  }),
  "ls-remote": table({
    flags: "htq",
    long: "--heads --tags --refs --quiet --exit-code --get-url --symref",
    longValues: "--sort",
    operand: remoteOperand,
  }),
  clone: table({
    flags: "qvn",
    values: "b",
    long: "--quiet --verbose --progress --no-checkout --bare --mirror --single-branch --no-single-branch --no-tags --sparse",
    longValues: "--depth --branch --filter --shallow-since",
    operand: (value, index) =>
      index === 0
        ? /^https:\/\/[A-Za-z0-9]/.test(value)
        : /^[A-Za-z0-9_][A-Za-z0-9_./-]*$/.test(value) && !value.includes(".."),
    maxOperands: 2,
  }),
};

const byName = subcommands(SUBCOMMANDS);

export const gitGuard: Guard = (args) => {
  // The only options before a subcommand that are harmless.
  const rest = args[0] === "--no-pager" || args[0] === "--no-optional-locks" ? args.slice(1) : args;
  if (rest.length === 1 && (rest[0] === "--version" || rest[0] === "-v")) return undefined;
  return byName(rest);
};
