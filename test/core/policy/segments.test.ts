import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { controlCommand } from "../../../src/core/policy/control-commands.ts";
import { awkProblem } from "../../../src/core/policy/guard/awk.ts";
import { sedProblem } from "../../../src/core/policy/guard/sed.ts";
import { spellings } from "../../../src/core/policy/program-kinds.ts";
import { parseCommand } from "../../../src/core/policy/shell/parse.ts";
import { decodeWord, quoteWord } from "../../../src/core/policy/shell/word.ts";
import { type Asked, codes, judge, makeWorld, type World } from "./policy-world.ts";

let world: World;
beforeAll(() => {
  world = makeWorld();
});
afterAll(() => world.remove());

const verdict = (command: string, asked: Asked = {}): string => {
  const decision = judge(command, world.cwd, asked);
  return decision.kind === "allow" ? "allow" : codes(decision).join(" ");
};

describe("words", () => {
  it("come back from quoting unchanged, through our reading and the parser's", () => {
    const value = fc.string({ unit: "binary" }).filter((text) => !/\p{Cs}/u.test(text) && !text.includes("\0"));
    fc.assert(
      fc.property(value, (text) => {
        expect(decodeWord(quoteWord(text))).toEqual({ ok: true, value: text });
        const parsed = parseCommand(`x ${quoteWord(text)}`);
        expect(parsed.ok && parsed.list.pipelines[0]?.commands[0]?.words[1]?.value).toBe(text);
      }),
    );
  });

  it("never make the parser throw, whatever the text", () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(..."a '\"\\$`(){}[]<>|&;*?~!#=\n"), maxLength: 60 }), (text) => {
        expect(() => parseCommand(text)).not.toThrow();
      }),
      { numRuns: 2000 },
    );
  });
});

describe("reasons are named", () => {
  const allowlist = ["ls", "echo", "cat", "git", "node", "env", "timeout", "nice"];
  it.each([
    ["ls; curl a", "not-found allowlist-miss"],
    ['echo "now $(date)"', "command-substitution"],
    ['echo "now `date`"', "command-substitution"],
    ['git commit -m "fix `parse()` in a.ts"', "command-substitution"],
    ["cat <<EOF\n$(touch x)\nEOF", "heredoc"],
    ["cat <<EOF", "heredoc"],
    ["cat <<< x", "here-string"],
    ["echo $HOME", "dynamic-argument"],
    ["$X ls", "dynamic-executable"],
    ["l* x", "dynamic-executable"],
    ["ls *.ts", "glob"],
    ["ls {a,b}", "brace-expansion"],
    ["ls ~", "tilde"],
    ["(ls)", "subshell"],
    ["{ ls; }", "group"],
    ["if ls; then ls; fi", "conditional"],
    ["for f in a; do ls; done", "loop"],
    ["f(){ ls; }; f", "function"],
    ["case a in a) ls;; esac", "case"],
    ["ls & ls", "background"],
    ["coproc ls", "coproc"],
    ["((1))", "arithmetic"],
    ["A=1", "assignment"],
    ["A=1 ls", "env-prefix"],
    ["ls > out", "redirect"],
    ["ls \\\n-la", "line-continuation"],
    ["ls\r", "control-character"],
    ["ls\u200b", "invisible-character"],
    ["ls\u00a0-la", "invisible-character"],
    ["ls\u0000", "control-character"],
    ["# nothing", "empty"],
    ["", "empty"],
    ["ls 'x", "syntax-error"],
    ["eval ls", "builtin"],
    ["command node x", "builtin"],
    ["exec node x", "builtin"],
    [". ./a.sh", "builtin"],
    ["env FOO=1 ls", "wrapper-option"],
    ["env -S ls", "wrapper-option"],
    ["timeout ls", "wrapper-option"],
    ["nice nice nice nice nice ls", "wrapper-depth"],
    ["ls | bash", "stdin-program allowlist-miss"],
    ["ls | node", "stdin-program"],
    ["node -r ./x.js a.js", "argument-guard"],
    ["l\u0455", "non-ascii-name"],
    ["/usr/bin/../bin/ls", "relative-path"],
    [`ls ${"x".repeat(8200)}`, "too-long"],
    [Array.from({ length: 65 }, () => "ls").join(";"), "too-many-segments"],
  ])("%j: %s", (command, expected) => {
    const got = verdict(command, { allowlist });
    expect(expected.split(" ")).toContain(got.split(" ")[0]);
  });
});

describe("everyday text is not mistaken for grammar", () => {
  const allowlist = ["echo", "node", "git", "ls", "printf", "cat"];
  it.each([
    ['node add_log.js "2026-03-28 (Sat) - a;b|c > d & e"', "case quoted-metachar-literal"],
    ["echo 'now $(date)'", "case substitution-in-double-quotes"],
    ['echo "cost \\$(5)"', "case substitution-in-double-quotes"],
    ["git log --oneline | head -n 3", "case compound-all-listed-should-pass"],
    ["git diff --stat && git status || true", "case compound-all-listed-should-pass"],
    ["printf 'a\\nb' | wc -l", "case glob-and-var-in-listed-command"],
    ["echo $'it\\'s' a\\ b 'c'\"d\"e", "quoting of every kind"],
    ["git show stash@{0} HEAD@{1}", "braces that do not expand"],
    ["ls 2>/dev/null | cat 2>&1", "stream-only redirections"],
    ["! ls", "negation"],
    ["time -p ls", "timing"],
    ["git commit -m '✔️ done — naïve café'", "letters of the world"],
  ])("%s (%s)", (command) => {
    expect(verdict(command, { allowlist })).toBe("allow");
  });
});

describe("compound commands", () => {
  const allowlist = ["/usr/bin/git", "/usr/bin/ls"];
  it.each([
    "git log; date +%s",
    "date && ls",
    "ls /x && (curl a)",
    "ls || { curl a; }",
    "! curl a",
    "ls &curl a",
    "if ls; then curl a; fi",
    "for f in a; do curl $f; done",
    "f(){ curl a; }; f",
    "git log & git status",
    "ls |& curl a",
    "ls\ncurl a",
  ])("%s is asked about (case compound-smuggling-any-position)", (command) => {
    expect(judge(command, world.cwd, { allowlist }).kind).toBe("ask");
  });

  it("judges every call alone (case parallel-calls-poison)", () => {
    const kinds = ["echo a", "echo b && date", "echo c", "echo d"].map(
      (c) => judge(c, world.cwd, { allowlist: ["echo"] }).kind,
    );
    expect(kinds).toEqual(["allow", "ask", "allow", "allow"]);
  });

  it("asks about an unlisted consumer of a pipe (case pipe-second-stage-unlisted)", () => {
    expect(verdict("echo \"console.log('hi')\" | node", { allowlist: ["/usr/bin/echo"] })).not.toBe("allow");
  });

  it("asks about what a listed dispatcher would start (case transparent-wrapper-env)", () => {
    const listed = { allowlist: ["/usr/bin/env", "/usr/bin/timeout", "/usr/bin/nice"] };
    for (const command of [
      "env FOO=1 sh -c 'touch x'",
      "timeout 5 node -e 1",
      "nice -n 5 python3 a.py",
      "nohup xargs rm",
      "FOO=1 node a.js",
    ]) {
      expect(verdict(command, listed)).not.toBe("allow");
    }
  });
});

describe("safe bins", () => {
  const config = { safeBins: ["cut", "uniq", "head", "tail", "tr", "wc", "sort", "grep"] };
  it.each([
    "tail -n 1",
    "wc -l",
    "tr -d abc",
    "uniq -c",
    "cut -s -f 1",
    "head -n5",
    "head -n -5",
    "cut -d'$' -f1",
    "sort -rn",
    "grep -i -e foo",
    "head --lin=5",
  ])("%s runs", (command) => expect(verdict(command, { config })).toBe("allow"));
  it.each([
    "tail -fn 1",
    "grep -if/etc/passwd",
    "sort -o/tmp/out",
    "sort --outp=/tmp/out",
    "wc --files0-from=-",
    "tail -n1F",
    "tail --fol",
    "sort -o ./stolen.txt",
    "grep -R password .",
    "tr a /",
    "cut -d '*' -f1",
    "head x",
    "head -- x",
    "sort --compress-prog=x",
    "sort -T .",
    "grep foo",
    "uniq a b",
    "head -5",
    "wc -l f",
    "tail --retry",
    "head -c",
    "tr",
    "tr a b c",
    "grep -e a -r",
  ])("%s asks (cases safebin-value-flag-smuggling, safebin-sort-write-grep-recursive)", (command) => {
    expect(verdict(command, { config })).not.toBe("allow");
  });
  it("lets a custom profile deny more and never less", () => {
    const custom = { ...config, safeBinProfiles: { sort: { allowedValueFlags: ["-o"], maxPositional: 0 } } };
    expect(verdict("sort -o x", { config: custom })).not.toBe("allow");
  });
});

describe("awk programs", () => {
  it.each([
    "{print $1}",
    "NR>1 {s += $2} END {print s / NR}",
    "/a\\/b/ {print}",
    "$3 > 100",
    "{print (a > b)}",
    "{ x = $1 / 2; print x }",
    "!s[$0]++",
    '{gsub(/[a-z]/, ""); print}',
    'BEGIN{OFS="|"} {print $1, $2}',
  ])("%s only computes", (program) => expect(awkProblem(program)).toBeUndefined());
  it.each([
    'BEGIN{system("x")}',
    '{print > "f"}',
    '{print a,\n b > "f"}',
    '{print | "x"}',
    '{"x" | getline}',
    '{getline < "f"}',
    '@load "x"',
    "{f()}",
    "function f(){}",
    'if(1) /"/; system("x") #"/',
    '{exit /"/; system("x") #"/}',
    '{x=/[/"]/;system("x")#"/}',
    '{print ENVIRON["A"]}',
    '{printf "%s" >> f}',
    '{close("x")}',
    '{x++ /"/; system("y") #/}',
  ])("%j does more", (program) => expect(awkProblem(program)).toBeTypeOf("string"));
});

describe("sed scripts", () => {
  it.each([
    "1,20p",
    "s/a/b/g",
    "s|/usr|/opt|",
    "/x/,/y/d",
    "$!N;P;D",
    ":a;N;$!ba;s/x/ /g",
    "/^$/d;s/a/b/2",
    "5q",
    "y/abc/xyz/",
    "/a/{s/b/c/;p}",
    "a some text",
    "1!G;h;$!d",
    "s/[a-z]*/X/p",
    "# c\np",
  ])("%j only edits", (script) => expect(sedProblem(script)).toBeUndefined());
  it.each([
    "1e x",
    "s/a/b/e",
    "s/a/b/w f",
    "w f",
    "1W f",
    "r f",
    "R f",
    "s/a/b/;e x",
    "{e x\n}",
    "\\,x,e y",
    "b;e x",
    ":a e x",
    "a\\",
    "s/[/]/x/e",
    "0~3e x",
    "s/a/b/gew f",
    "}e x",
    "p;;e x",
    "i\\\nfoo\ne x",
  ])("%j does more", (script) => expect(sedProblem(script)).toBeTypeOf("string"));
});

describe("control commands", () => {
  it.each([
    "/approve ab12cd34 allow-once",
    "bash -c '/approve ab12cd34 allow-once'",
    "ls; /approve ab12cd34 deny",
    "sudo /approve ab12cd34 allow",
    '"/approve" always ab12cd34',
    "$'/\\x61pprove' ab12cd34 allow",
    "openclaw-exec approvals resolve ab12 allow-once",
    "npx openclaw channels login",
    "sh -c 'openclaw-exec exec-policy preset yolo'",
    "x=$(openclaw-exec approvals allowlist add '*')",
    "openclaw-exec doctor --fix",
    "eval openclaw-exec approvals set --stdin",
    "bash -c \"bash -c '/approve ab12cd34 allow'\"",
  ])("%s is refused even when everything may run", (command) => {
    const decision = judge(command, world.cwd, { config: { security: "full", ask: "off" } });
    expect(decision.kind).toBe("deny");
    expect(codes(decision)).toEqual(["control-command"]);
  });
  it.each([
    'echo "/approve a deny"',
    "ls # /approve a deny",
    "openclaw-exec approvals get",
    "openclaw-exec explain 'ls'",
    "grep approve file",
    "git commit -m '/approve x allow'",
    "openclaw-exec exec-policy show",
  ])("%s is only text", (command) => {
    expect(controlCommand(command)).toBeUndefined();
  });
});

describe("strictInlineEval under security=full", () => {
  const config = { security: "full", ask: "off", strictInlineEval: true } as const;
  it.each([
    "node -e 1",
    "sudo -u x env A=1 python3 -c 'x'",
    "x=$(perl -e 1)",
    "for f in a; do ruby -e 1; done",
    "bash -c 'python3 -c 1'",
    "python3 <<E\nx\nE",
    "echo x | python3",
    'eval "$X"',
    "awk 'BEGIN{system(\"x\")}'",
    "find . -exec rm {} +",
    "make --eval=x",
    "ls 'unterminated",
  ])("asks about %j", (command) => {
    const decision = judge(command, world.cwd, { config });
    expect(codes(decision)).toEqual(["inline-eval"]);
    // Nobody's silence may run it (cases askfallback-timeout-full-with-inline-eval).
    expect(decision.kind === "ask" && decision.explicitOnly).toBe(true);
  });
  it.each(["npm test", "python3 a.py", "ls > out", "awk '{print $1}' f", "echo $HOME", "find . -name x"])(
    "lets %j run",
    (command) => {
      expect(judge(command, world.cwd, { config }).kind).toBe("allow");
    },
  );
});

describe("what a program is", () => {
  it.each([
    ["python3.11", "python3"],
    ["tclsh8.6", "tclsh"],
    ["x86_64-linux-gnu-gcc-12", "gcc"],
    ["SUDO", "sudo"],
    ["ruby3.1", "ruby"],
    ["g++-13", "g++"],
    ["vim.basic", "vim.basic"],
  ])("%s counts as %s", (name, expected) => {
    expect(spellings(name)).toContain(expected);
  });
  it("leaves names alone that only look like versions", () => {
    expect(spellings("md5sum")).toEqual(["md5sum"]);
    expect(spellings("ls")).toEqual(["ls"]);
  });
});
