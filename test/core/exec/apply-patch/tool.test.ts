import {
  chmodSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { createApplyPatchTool, offersApplyPatch } from "../../../../src/core/exec/apply-patch/tool.ts";

const tool = createApplyPatchTool();
let base: string;
let workspace: string;

beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "openclaw-patch-")));
  workspace = join(base, "ws");
  mkdirSync(workspace);
});

function file(path: string, text?: string | Buffer): string {
  const full = join(workspace, path);
  if (text !== undefined) {
    mkdirSync(dirname(full), { recursive: true });
    writeFileSync(full, text);
  }
  return full;
}

const read = (path: string) => readFileSync(join(workspace, path), "utf8");
const everything = () => readdirSync(base, { recursive: true }).sort();

async function apply(
  body: string,
  options: { workspaceOnly?: boolean; workspace?: string; signal?: AbortSignal } = {},
) {
  return tool.call(
    { input: `*** Begin Patch\n${body}\n*** End Patch` },
    {
      workspace: options.workspace ?? workspace,
      workspaceOnly: options.workspaceOnly ?? true,
      ...(options.signal ? { signal: options.signal } : {}),
    },
  );
}

async function refusal(body: string, options: Parameters<typeof apply>[1] = {}): Promise<string> {
  const before = everything();
  try {
    await apply(body, options);
  } catch (error) {
    expect(everything()).toEqual(before);
    return (error as Error).message;
  }
  throw new Error("the patch was applied");
}

describe("a patch over several files", () => {
  it("adds, changes, moves and deletes, and says so", async () => {
    file("a.txt", "one\ntwo\n");
    file("old.txt", "x\ny\n");
    file("gone.txt", "z");
    const result = await apply(
      "*** Update File: a.txt\n@@\n-two\n+2\n*** Add File: deep/er/new.txt\n+hi\n*** Delete File: gone.txt\n*** Update File: old.txt\n*** Move to: moved/new-name.txt\n@@\n x\n-y\n+Y",
    );
    expect(result.content[0]?.text).toBe(
      "Success. Updated the following files:\nA deep/er/new.txt\nM a.txt\nM moved/new-name.txt\nD gone.txt",
    );
    expect(result.details).toMatchObject({
      summary: { added: ["deep/er/new.txt"], modified: ["a.txt", "moved/new-name.txt"], deleted: ["gone.txt"] },
    });
    expect(read("a.txt")).toBe("one\n2\n");
    expect(read("deep/er/new.txt")).toBe("hi\n");
    expect(read("moved/new-name.txt")).toBe("x\nY\n");
    expect(everything()).toEqual(
      ["ws", "ws/a.txt", "ws/deep", "ws/deep/er", "ws/deep/er/new.txt", "ws/moved", "ws/moved/new-name.txt"].sort(),
    );
  });

  it("changes nothing at all when any part does not fit", async () => {
    file("a.txt", "one\n");
    file("b.txt", "two\n");
    const message = await refusal(
      "*** Update File: a.txt\n@@\n-one\n+1\n*** Add File: n/c.txt\n+x\n*** Update File: b.txt\n@@\n-nope\n+x",
    );
    expect(message).toMatch(/Failed to find expected lines in b\.txt[\s\S]*Nothing was changed\./);
    expect(read("a.txt")).toBe("one\n");
  });

  it("sees earlier parts of the same patch: delete then add, change twice, move onto itself", async () => {
    file("a.txt", "one\ntwo\n");
    const result = await apply("*** Delete File: a.txt\n*** Add File: a.txt\n+fresh");
    expect(read("a.txt")).toBe("fresh\n");
    expect(result.details).toMatchObject({ summary: { added: ["a.txt"], deleted: ["a.txt"] } });
    await apply("*** Update File: a.txt\n@@\n-fresh\n+f1\n*** Update File: ./a.txt\n*** Move to: a.txt\n@@\n-f1\n+f2");
    expect(read("a.txt")).toBe("f2\n");
  });

  it("keeps the mode of a file, and leaves no temporary file", async () => {
    chmodSync(file("run.sh", "#!/bin/sh\necho 1\n"), 0o755);
    await apply("*** Update File: run.sh\n@@\n-echo 1\n+echo 2");
    expect(statSync(file("run.sh")).mode & 0o777).toBe(0o755);
    expect(readdirSync(workspace)).toEqual(["run.sh"]);
  });

  it("an update that changes nothing writes nothing", async () => {
    file("a.txt", "one\n");
    const before = statSync(file("a.txt")).mtimeMs;
    const result = await apply("*** Update File: a.txt\n@@\n-one\n+one");
    expect(result.content[0]?.text).toBe("No changes made to a.txt.");
    expect(statSync(file("a.txt")).mtimeMs).toBe(before);
  });

  it("patches of one workspace wait for each other", async () => {
    file("a.txt", "0\n");
    // The order in which they came counts, however long the system takes to find each one's workspace.
    const patches = Array.from({ length: 100 }, (_, step) =>
      apply(`*** Update File: a.txt\n@@\n-${step}\n+${step + 1}`),
    );
    await Promise.all(patches);
    expect(read("a.txt")).toBe("100\n");
  });

  it("an aborted call writes nothing", async () => {
    file("a.txt", "one\n");
    const message = await refusal("*** Update File: a.txt\n@@\n-one\n+1", { signal: AbortSignal.abort() });
    expect(message).toMatch(/abort/i);
    expect(read("a.txt")).toBe("one\n");
  });
});

describe("what is refused", () => {
  it.each([
    ["adding a file that is there", "*** Add File: a.txt\n+x", /exists already/],
    ["moving onto a file that is there", "*** Update File: a.txt\n*** Move to: b.txt\n@@\n-one\n+1", /exists already/],
    ["updating a missing file", "*** Update File: none.txt\n@@\n-x\n+y", /file not found/],
    ["deleting a missing file", "*** Delete File: none.txt", /file not found/],
    ["deleting a folder", "*** Delete File: dir", /is a folder/],
    ["a binary file", "*** Update File: bin\n@@\n-x\n+y", /not UTF-8/],
    ["a file for a folder", "*** Add File: a.txt/x\n+y", /not a folder/],
    ["a path to a folder", "*** Add File: dir/\n+y", /does not name a file/],
  ])("%s", async (_, body, message) => {
    file("a.txt", "one\n");
    file("b.txt", "two\n");
    file("bin", Buffer.from([0xff, 0xfe, 0x00]));
    mkdirSync(file("dir"));
    expect(await refusal(body)).toMatch(message);
  });

  it("blank, unreadable and empty patches", async () => {
    const call = (input: unknown) => tool.call(input, { workspace, workspaceOnly: true });
    await expect(call({ input: "  " })).rejects.toThrow("Provide a patch input.");
    await expect(call({})).rejects.toThrow("give the patch as text in input");
    await expect(call({ input: "*** Begin Patch\n*** End Patch" })).rejects.toThrow("No files were modified");
    await expect(call({ input: "nonsense" })).rejects.toThrow("The first line of the patch");
    await expect(
      tool.call(
        { input: "*** Begin Patch\n*** Delete File: a\n*** End Patch" },
        { workspace: join(base, "none"), workspaceOnly: true },
      ),
    ).rejects.toMatchObject({
      code: "workdir-unavailable",
    });
  });
});

describe("nothing outside the workspace is touched (patch-traversal-symlink)", () => {
  beforeEach(() => {
    writeFileSync(join(base, "outside.txt"), "precious\n");
    mkdirSync(join(base, "out"));
    writeFileSync(join(base, "out", "x"), "precious\n");
    file("sub/keep.txt", "k\n");
    symlinkSync(join(base, "out"), file("link"));
    symlinkSync("..", file("sub/up"));
    symlinkSync(join(base, "nowhere"), file("dangling"));
    symlinkSync(join(base, "outside.txt"), file("final"));
  });

  it.each([
    ["../outside.txt"],
    ["sub/../../outside.txt"],
    ["/etc/x"],
    ["~/x"],
    ["link/x"],
    ["sub/up/../outside.txt"],
    ["dangling/x"],
    ["a\0b"],
    [".."],
  ])("%j", async (path) => {
    for (const body of [
      `*** Add File: ${path}\n+evil`,
      `*** Update File: ${path}\n@@\n-precious\n+evil`,
      `*** Delete File: ${path}`,
    ]) {
      expect(await refusal(body)).toContain("Nothing was changed.");
    }
    expect(await refusal(`*** Update File: sub/keep.txt\n*** Move to: ${path}\n@@\n-k\n+evil`)).toContain(
      "Nothing was changed.",
    );
    expect(readFileSync(join(base, "outside.txt"), "utf8")).toBe("precious\n");
    expect(readFileSync(join(base, "out", "x"), "utf8")).toBe("precious\n");
  });

  it("a final link is neither written through nor overwritten; a delete removes the link itself", async () => {
    expect(await refusal("*** Update File: final\n@@\n-precious\n+evil")).toContain("is a symbolic link");
    expect(await refusal("*** Add File: dangling\n+evil")).toContain("exists already");
    await apply("*** Delete File: final");
    expect(existsSync(join(base, "outside.txt"))).toBe(true);
    expect(lstatSync(join(workspace, "dangling")).isSymbolicLink()).toBe(true);
  });

  it("a second name of an outside file is replaced, the outside one keeps its text", async () => {
    linkSync(join(base, "outside.txt"), file("hard.txt"));
    await apply("*** Update File: hard.txt\n@@\n-precious\n+mine");
    expect(read("hard.txt")).toBe("mine\n");
    expect(readFileSync(join(base, "outside.txt"), "utf8")).toBe("precious\n");
  });

  it("a linked folder that stays inside is fine, so is a workspace that is a link itself, and an absolute path into it", async () => {
    symlinkSync(file("sub"), file("alias"));
    await apply("*** Update File: alias/keep.txt\n@@\n-k\n+k2");
    symlinkSync(workspace, join(base, "ws-link"));
    await apply("*** Update File: sub/keep.txt\n@@\n-k2\n+k3", { workspace: join(base, "ws-link") });
    await apply(`*** Update File: ${join(base, "ws-link", "sub", "keep.txt")}\n@@\n-k3\n+k4`);
    expect(read("sub/keep.txt")).toBe("k4\n");
  });

  it("with workspaceOnly off the outside may be written, as the operator wanted", async () => {
    await apply("*** Update File: ../outside.txt\n@@\n-precious\n+changed", { workspaceOnly: false });
    expect(readFileSync(join(base, "outside.txt"), "utf8")).toBe("changed\n");
  });
});

describe("which models get it", () => {
  const settings = { enabled: true, workspaceOnly: true, allowModels: [] as string[] };
  it.each([
    [settings, "openai", "gpt-5.5", true],
    [settings, "OpenAI-Codex", undefined, true],
    [settings, "anthropic", "claude", false],
    [{ ...settings, enabled: false }, "openai", "gpt-5.5", false],
    [{ ...settings, allowModels: ["GPT-5.5"] }, "openai", "gpt-5.5", true],
    [{ ...settings, allowModels: ["openai/gpt-5.5"] }, "openai", "gpt-5.5", true],
    [{ ...settings, allowModels: ["gpt-5.5"] }, "openai", "gpt-4", false],
    [{ ...settings, allowModels: ["gpt-5.5"] }, "openai", undefined, false],
  ])("%j for %s/%s: %s", (given, provider, id, offered) => {
    expect(offersApplyPatch(given, { provider, id })).toBe(offered);
  });
});
