/** Limits of sandboxed commands: how they are written, that they are enforced, and that none is left out in silence. */
import { execFileSync } from "node:child_process";
import {
  accessSync,
  constants,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it, onTestFinished } from "vitest";
import { type Config, configSchema } from "../../../../src/core/config/schema.ts";
import { Cgroups } from "../../../../src/core/hosts/sandbox/cgroups.ts";
import { bytesOf, limitsOf, parseTmpfs, TMPFS_BYTES } from "../../../../src/core/hosts/sandbox/limits.ts";
import { inEnglish } from "../../../../src/core/words/phrase.ts";
import { requireOrSkip } from "../../../support/require.ts";
import { eventually } from "../../../support/state.ts";
import { describeWithBwrap, openWorld, refusal, type World } from "./support.ts";

const docker = (more: object) =>
  (configSchema.parse({ agents: { defaults: { sandbox: { docker: more } } } }) as Config).agents.defaults.sandbox
    .docker;

describe("how limits are written", () => {
  it.each([
    ["512m", 512 * 1024 ** 2],
    ["1g", 1024 ** 3],
    ["1.5G", 1.5 * 1024 ** 3],
    ["64KiB", 64 * 1024],
    ["1048576", 1048576],
    ["10 mb", 10 * 1024 ** 2],
    ["0", undefined],
    ["-1", undefined],
    ["a lot", undefined],
    ["1e9", undefined],
    ["", undefined],
  ])("%j bytes", (text, bytes) => {
    expect(bytesOf(text)).toBe(bytes);
  });

  it.each([
    ["/tmp", { path: "/tmp", bytes: TMPFS_BYTES }],
    ["/tmp:size=64m", { path: "/tmp", bytes: 64 * 1024 ** 2 }],
    ["/tmp:size=x", undefined],
    ["/tmp:exec", undefined],
    ["tmp", undefined],
  ])("%s as a temporary file system", (text, parsed) => {
    expect(parseTmpfs(text)).toEqual(parsed);
  });

  it("ulimits become arguments of prlimit, and a name or value it would not take is told", () => {
    expect(limitsOf(docker({ ulimits: { nofile: { soft: 100, hard: 200 }, core: 0, cpu: "5", stack: "-1" } }))).toEqual(
      {
        groups: {},
        prlimit: ["--nofile=100:200", "--core=0:0", "--cpu=5:5", "--stack=unlimited:unlimited"],
      },
    );
    expect(limitsOf(docker({ ulimits: { files: 1 } }))).toEqual({ field: "ulimits.files", value: "1" });
    expect(limitsOf(docker({ ulimits: { nofile: "1 --core=1" } }))).toMatchObject({ field: "ulimits.nofile" });
    expect(limitsOf(docker({ memory: "lots" }))).toEqual({ field: "memory", value: "lots" });
    // Memory and swap together, as with containers.
    expect(limitsOf(docker({ memorySwap: "1g" }))).toMatchObject({ field: "memorySwap" });
    expect(limitsOf(docker({ memory: "2g", memorySwap: "1g" }))).toMatchObject({ field: "memorySwap" });
  });
});

describe("control groups, on files that stand for them", () => {
  function machine(cgroup: string, mounts: (root: string) => string): { root: string; groups: Cgroups } {
    const root = mkdtempSync(join(tmpdir(), "openclaw-cgroups-"));
    onTestFinished(() => rmSync(root, { recursive: true, force: true }));
    writeFileSync(join(root, "cgroup"), cgroup);
    writeFileSync(join(root, "mountinfo"), mounts(root));
    return { root, groups: new Cgroups("abc", root) };
  }
  const v2 = (own: string) => {
    const made = machine(`0::${own}\n`, (root) => `30 20 0:26 / ${root}/tree rw shared:4 - cgroup2 cgroup2 rw\n`);
    mkdirSync(join(made.root, "tree", own), { recursive: true });
    writeFileSync(join(made.root, "tree", "cgroup.controllers"), "cpuset cpu io memory pids\n");
    return { ...made, own: join(made.root, "tree", own) };
  };

  it("version 2: one group below our own has all limits, in the words of version 2", () => {
    const { groups, own } = v2("/system.slice/gateway.service");
    const made = groups.create("run", { pids: 10, memoryBytes: 100, memorySwapBytes: 150, cpus: 1.5 });
    const group = join(own, "openclaw-exec", "abc-run");
    expect(made).toMatchObject({ procs: [join(group, "cgroup.procs")] });
    const has = (file: string) => readFileSync(join(group, file), "utf8");
    expect(["pids.max", "memory.max", "memory.swap.max", "cpu.max"].map(has)).toEqual([
      "12",
      "100",
      "50",
      "150000 100000",
    ]);
    expect(readFileSync(join(own, "cgroup.subtree_control"), "utf8")).toBe("+pids +memory +cpu");
    expect(readFileSync(join(own, "openclaw-exec", "cgroup.subtree_control"), "utf8")).toBe("+pids +memory +cpu");
  });

  it("version 2: where our own group has processes, the one above it that was given to us is used", () => {
    const { groups, own } = v2("/service/gateway");
    // The kernel answers EBUSY; a directory in its place answers EISDIR.
    mkdirSync(join(own, "cgroup.subtree_control"));
    expect(groups.create("run", { pids: 10 })).toMatchObject({
      procs: [join(own, "..", "openclaw-exec", "abc-run", "cgroup.procs")],
    });
  });

  it("version 1: one group in each tree that is needed, below our own", () => {
    const { root, groups } = machine("4:memory:/mine\n3:cpu,cpuacct:/\n2:pids:/\n", (at) =>
      [
        `31 20 0:27 / ${at}/memory rw - cgroup cgroup rw,memory`,
        `32 20 0:28 / ${at}/cpu rw - cgroup cgroup rw,cpu,cpuacct`,
        `33 20 0:29 / ${at}/pids rw - cgroup cgroup rw,pids`,
      ].join("\n"),
    );
    mkdirSync(join(root, "memory", "mine", "x"), { recursive: true });
    const made = groups.create("run", { pids: 10, memoryBytes: 100, memorySwapBytes: 150, cpus: 0.5 });
    const paths = ["pids/openclaw-exec/abc-run", "memory/mine/openclaw-exec/abc-run", "cpu/openclaw-exec/abc-run"];
    expect(made).toMatchObject({ procs: paths.map((path) => join(root, path, "cgroup.procs")) });
    expect(readFileSync(join(root, paths[1] ?? "", "memory.memsw.limit_in_bytes"), "utf8")).toBe("150");
    expect(readFileSync(join(root, paths[2] ?? "", "cpu.cfs_quota_us"), "utf8")).toBe("50000");
  });

  it("says which limit can not be set, and leaves no group behind", () => {
    const { groups, root } = machine("0::/\n", () => "");
    const refused = groups.create("run", { cpus: 1 });
    expect(refused).toMatchObject({ field: "cpus" });
    expect("why" in refused && inEnglish(refused.why)).toBe("there is no control group for cpu.");
    const closed = v2("/closed");
    mkdirSync(join(closed.own, "openclaw-exec", "abc-run", "memory.max"), { recursive: true });
    expect(closed.groups.create("run", { pids: 5, memoryBytes: 5 })).toMatchObject({ field: "memory" });
    expect(readdirSync(root)).toEqual(["cgroup", "mountinfo"]);
  });

  it("without limits no group is made", () => {
    const { groups, root } = machine("", () => "");
    expect(groups.create("run", {})).toMatchObject({ procs: [] });
    expect(readdirSync(root)).toHaveLength(2);
  });
});

const FOLDER = "/sys/fs/cgroup/pids/openclaw-exec";
const writable = (() => {
  try {
    accessSync("/sys/fs/cgroup/pids", constants.W_OK);
    return existsSync("/sys/fs/cgroup/memory") && process.getuid?.() === 0;
  } catch {
    return false;
  }
})();

describeWithBwrap("limits of a real command", () => {
  let world: World;
  afterEach(() => world?.dispose());

  it("ulimits hold for the command, soft and hard", async () => {
    world = openWorld({ sandbox: { docker: { ulimits: { nofile: { soft: 64, hard: 128 }, core: 0, fsize: 4096 } } } });
    expect(
      (await world.run("ulimit -Sn; ulimit -Hn; ulimit -c; head -c 9999 /dev/zero > big; wc -c < big")).output,
    ).toMatch(/^64\n128\n0\n(?:.*\n)*4096\n/);
  });

  it("a ulimit above what the account may have is refused by the name of its key", async () => {
    world = openWorld({ sandbox: { docker: { ulimits: { nofile: 2 ** 40 } } } });
    expect(await refusal(() => world.run("true"))).toMatch(
      /^host-unavailable: .*docker\.ulimits can not be enforced on this machine: prlimit: .*NOFILE.*Nothing was run/,
    );
  });

  it("a limit that can not be understood is refused by the name of its key", async () => {
    world = openWorld({ sandbox: { docker: { memory: "lots" } } });
    expect(await refusal(() => world.run("true"))).toMatch(
      /^host-unavailable: .*agents\.defaults\.sandbox\.docker\.memory can not be "lots".*Nothing was run/,
    );
  });

  it("a limit that can not be enforced here is refused by the name of its key", async () => {
    world = openWorld({ sandbox: { docker: { pidsLimit: 10 } } });
    Object.assign(world.sandboxes, { groups: new Cgroups("abc", "/nowhere") });
    expect(await refusal(() => world.run("true"))).toMatch(
      /^host-unavailable: .*docker\.pidsLimit can not be enforced on this machine: there is no control group for pids/,
    );
  });

  (writable ? requireOrSkip("control groups", true) : describe.skip)("by control groups", () => {
    it("pidsLimit, memory and cpus are enforced, and the groups go with the command", async () => {
      world = openWorld({ sandbox: { docker: { pidsLimit: 12, memory: "64m", cpus: 0.5 } } });
      const many = await world.run("for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16; do sleep 5 & done; wait", {
        timeoutMs: 20_000,
      });
      expect(many.output).toMatch(/Cannot fork|Resource temporarily unavailable/);
      const much = await world.run("python3 -c 'x = b\"a\" * 300_000_000; print(len(x))'; echo code $?");
      expect(much.output).toMatch(/code 137/);
      // A temporary file system is memory as well.
      const stuffed = await world.run("head -c 300000000 /dev/zero > /tmp/x; echo code $?");
      expect(stuffed.output).not.toContain("code 0");
      expect(stuffed.end.exitCode).not.toBe(0);
      const { output } = await world.run("cat /proc/self/cgroup");
      expect(output).not.toContain("openclaw-exec/abc");
      const mine = () => readdirSync(FOLDER).filter((name) => name.includes(world.sandboxes.groups.owner));
      await eventually(() => mine().length === 0);
      expect(execFileSync("cat", ["/sys/fs/cgroup/cpu/cgroup.procs"], { encoding: "utf8" })).not.toBe("");
    });

    it("what an earlier life left is removed at a start", async () => {
      world = openWorld();
      const left = join(FOLDER, `${world.sandboxes.groups.owner}-left`);
      mkdirSync(left, { recursive: true });
      world.sandboxes.sweep();
      expect(existsSync(left)).toBe(false);
    });
  });
});
