import { mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { MAX_SCRIPT_BYTES, preflight, scriptTarget } from "../../../src/core/exec/preflight.ts";
import { nodeFinding, pythonFinding } from "../../../src/core/exec/script-findings.ts";

let cwd: string;
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), "openclaw-preflight-"));
});

async function refusal(command: string): Promise<string | undefined> {
  try {
    await preflight(command, cwd);
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

describe("which script a command runs", () => {
  it.each([
    ["python main.py", "main.py"],
    ["python3 -u -W ignore main.py --x", "main.py"],
    ["/usr/bin/python3.12 ./a.py", "./a.py"],
    ["env -u X FOO=1 python a.py", "a.py"],
    ["node --require x.js app.js", "app.js"],
    ["node app.mjs -e", "app.mjs"],
    ["python -c code a.py", undefined],
    ["python -m http.server a.py", undefined],
    ["python --version", undefined],
    ["python -", undefined],
    ["node -e code app.js", undefined],
    ["node --check app.js", undefined],
    ["node app.txt", undefined],
    ["ruby a.rb", undefined],
  ])("%s: %s", (command, path) => {
    expect(scriptTarget(command.split(" "))?.path).toBe(path);
  });
});

describe("shell variables in Python code", () => {
  it.each([
    ["a bare one", "import os\npath = $HOME\n", "$HOME", 2],
    ["inside an f-string's expression", 'x = f"a {$USER} b"\n', "$USER", 1],
    ["after strings and comments", '"""doc $HOME"""\n# $HOME\nx = \'$HOME\'\nprint($PATH)\n', "$PATH", 4],
    ["in a nested f-string", "x = f\"{f'{$DEEP}'}\"", "$DEEP", 1],
  ])("%s", (_, source, variable, line) => {
    expect(pythonFinding(source)).toEqual({ kind: "shell-variable", variable, line });
  });

  it.each([
    ["in a string", "x = '$HOME'"],
    ["in a comment", "x = 1 # $HOME"],
    ["in a triple-quoted string over lines", "x = '''\n$HOME\n''' "],
    ["in a raw string with a quote", "x = r'\\'; y = \"$HOME\""],
    ["in the text of an f-string", 'x = f"$HOME {y}"'],
    ["in doubled braces", 'x = f"{{$HOME}}"'],
    ["a regular expression", "re.compile(r'^$A|$B')"],
  ])("none: %s", (_, source) => {
    expect(pythonFinding(source)).toBeUndefined();
  });
});

describe("shell variables in Node code", () => {
  it.each([
    ["a bare one", "const fs = require('fs');\nfs.readFile($HOME + '/x');\n", "$HOME", 2],
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is the script's template
    ["in a template's expression", "console.log(`${$USER}`)", "$USER", 1],
  ])("%s", (_, source, variable, line) => {
    expect(nodeFinding(source)).toEqual({ kind: "shell-variable", variable, line });
  });

  it.each([
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is the script's template
    ["in a string, a template, a comment, a pattern", "a('$HOME'); b(`$HOME ${x}`); // $HOME\n/* $HOME */ c(/$HOME/);"],
    ["a name of the program's own", "const $EL = q('#a'); $EL.focus();"],
    ["a parameter", "items.map(($ITEM) => $ITEM.id)"],
    ["an import", "import { $STORE } from './s.js'; $STORE.x;"],
    ["a property", "obj.$HOME"],
    ["a division, not a pattern", "x = a / b; y = '$HOME' / 2;"],
  ])("none: %s", (_, source) => {
    expect(nodeFinding(source)).toBeUndefined();
  });

  it.each(["\nNODE_ENV=production node app.js", "#!/bin/bash\necho hi", "NODE app.js"])(
    "shell syntax at the top: %j",
    (source) => {
      expect(nodeFinding(source)?.kind).toBe("shell-syntax");
    },
  );
});

describe("preflight", () => {
  it("names file, line and what to write instead, also inside a chain", async () => {
    writeFileSync(join(cwd, "a.py"), "print($HOME)\n");
    writeFileSync(join(cwd, "a.js"), "x($HOME)\n");
    expect(await refusal("python a.py")).toContain(
      'a.py:1 uses $HOME like a shell variable, which Python does not know. Use os.environ.get("HOME")',
    );
    expect(await refusal("true && node a.js | cat")).toContain('process.env["HOME"]');
    expect(await refusal("(python3 a.py)")).toContain("a.py:1");
  });

  it("leaves files alone that are outside, missing, too large or no files", async () => {
    const outside = mkdtempSync(join(tmpdir(), "openclaw-outside-"));
    writeFileSync(join(outside, "a.py"), "print($HOME)\n");
    symlinkSync(join(outside, "a.py"), join(cwd, "link.py"));
    writeFileSync(join(cwd, "big.py"), `print($HOME)\n${"#".repeat(MAX_SCRIPT_BYTES)}`);
    mkdirSync(join(cwd, "dir.py"));
    for (const path of [join(outside, "a.py"), "../a.py", "link.py", "big.py", "dir.py", "missing.py", "$X.py"]) {
      expect(await refusal(`python ${path}`)).toBeUndefined();
    }
  });

  it("passes good scripts and commands that are not scripts", async () => {
    writeFileSync(join(cwd, "ok.py"), "import os\nprint(os.environ.get('HOME'))\n");
    for (const command of ["python ok.py", "echo $HOME", "python -c 'print(1)'", "if ((( broken"]) {
      expect(await refusal(command)).toBeUndefined();
    }
  });

  it("refuses a pasted script of another interpreter (shebang-multiline)", async () => {
    expect(await refusal("#!/usr/bin/env python3\nimport os")).toContain("script for python3");
  });
});
