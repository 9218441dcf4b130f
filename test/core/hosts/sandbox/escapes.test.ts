/** Ways out of a sandbox, each really tried, and what must not be seen from in there. */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { homedir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { syscallFilter } from "../../../../src/core/hosts/sandbox/syscall-filter.ts";
import { eventually } from "../../../support/state.ts";
import { describeWithBwrap, openWorld, refusal, type World } from "./support.ts";

const COMPILER = ["/usr/bin/cc", "/usr/bin/gcc"].find((file) => existsSync(file));

let world: World;
beforeEach(() => {
  world = openWorld();
});
afterEach(() => world.dispose());
const output = async (command: string, extra: object = {}) => (await world.run(command, extra)).output;

describeWithBwrap("files", () => {
  it("the state of the gateway, accounts and keys of the machine are not there", async () => {
    writeFileSync(join(world.stateDir, "secret"), "token\n");
    const paths = [
      join(world.stateDir, "secret"),
      "/etc/shadow",
      "/etc/ssh",
      "/etc/hostname",
      "/root",
      "/home",
      "/var/lib",
    ];
    for (const path of paths) expect(await output(`ls -d ${path}`)).toMatch(/No such file/);
    expect(await output("ls -d /sys /boot /mnt /opt /srv 2>/dev/null; true")).toBe("");
    expect((await output("cut -d: -f1 /etc/passwd")).split("\n")).toEqual(["root", "sandbox", "nobody", ""]);
    expect((await output("ls -A /dev | sort | tr '\\n' ' '")).trim().split(" ")).toEqual(
      ["console", "core", "fd", "full", "null", "ptmx", "pts", "random", "shm", "stderr", "stdin", "stdout", "tty"]
        .concat(["urandom", "zero"])
        // Only where the command has a terminal.
        .filter((name) => name !== "console"),
    );
  });

  it("what not everybody may read in /etc is not readable either", async () => {
    // Whatever of /etc is shown can be read by others on this machine, or is masked.
    const listed = (await output("find /etc -type f 2>/dev/null")).split("\n").filter((path) => path !== "");
    expect(listed.length).toBeGreaterThan(5);
    const mode = (path: string) => execFileSync("stat", ["-L", "-c", "%a", path], { encoding: "utf8" }).trim();
    const closed = listed.filter((path) => existsSync(path) && !/[4-7]$/.test(mode(path)));
    for (const path of closed) expect(await output(`cat ${path}`)).toMatch(/denied/);
  });

  it("nothing but the workspace and temporary directories can be written", async () => {
    for (const path of ["/x", "/usr/x", "/usr/local/x", "/etc/x", "/etc/passwd", "/bin/x", "/sys", "/boot"]) {
      expect(await output(`(: > ${path}) 2>&1 && echo written`)).toMatch(/Read-only|denied|Permission|nonexistent/);
    }
    expect(await output("mv /usr/bin /usr/b; rm -rf /usr/bin/env; ls /usr/bin/env")).toMatch(/\/usr\/bin\/env\n$/);
    expect(existsSync("/usr/bin/env")).toBe(true);
  });

  it("nothing that belongs to the whole machine can be written through /proc, although root is who the kernel sees", async () => {
    // Opened only: should it work one day, this machine must not have been changed by the test.
    for (const path of ["/proc/sys/kernel/core_pattern", "/proc/sys/kernel/modprobe", "/proc/sysrq-trigger"]) {
      expect(await output(`(exec 3>>${path}) 2>&1 && echo opened`)).toMatch(/Read-only|denied|nonexistent/);
    }
    const open = await output(
      "find /proc -path '/proc/[0-9]*' -prune -o -path '*/self' -prune -o -type f -writable -print 2>/dev/null | while read -r f; do (exec 3>>$f) 2>/dev/null && echo $f; done",
    );
    // Triggers of one's own, open to everybody by the kernel.
    expect(open.split("\n").filter((path) => path !== "" && !path.startsWith("/proc/pressure/"))).toEqual([]);
    expect(await output("cat /proc/sys/kernel/ngroups_max")).toMatch(/^\d+\n$/);
  });

  it("a planted link leads nowhere: neither as a working directory nor for the next command", async () => {
    await world.run(
      "ln -s / root; ln -s /etc etc; ln -s ../../.. up; mkdir real; ln -s /workspace/real inside; ln -s loop loop",
    );
    for (const workdir of ["root", "root/etc", "etc", "up", "loop", "/workspace/up", "root/usr"]) {
      expect(await refusal(() => world.sandboxes.workdir(workdir, "main", "agent:main:main"))).toMatch(
        /^workdir-unavailable: .*sandbox.*\(\/workspace\)/,
      );
    }
    const cwd = world.sandboxes.workdir("inside", "main", "agent:main:main");
    expect(cwd).toMatch(/\/workspace\/real$/);
    expect(await output("pwd", { cwd })).toBe("/workspace/real\n");
  });

  it.each([
    "~",
    "~/x",
    "$HOME",
    "..",
    "../..",
    "/",
    "/etc",
    "/usr",
    "/tmp",
    "/workspace/../etc",
    "/workspace/no",
    " ",
    "/proc/1/root",
  ])("the working directory %j is refused", async (workdir) => {
    expect(await refusal(() => world.sandboxes.workdir(workdir, "main", "agent:main:main"))).toMatch(
      /^workdir-unavailable/,
    );
  });

  it("a working directory that a command replaces by a link is looked up in the sandbox, not on the machine", async () => {
    await world.run("mkdir here");
    const cwd = world.sandboxes.workdir("here", "main", "agent:main:main");
    await world.run("rmdir here; ln -s /etc here");
    // Not what the link means on this machine: the sandbox's own /etc, if anything.
    expect(await output("pwd -P; ls ssh shadow 2>&1 | head -1", { cwd })).not.toMatch(/^ssh|host_key/m);
  });

  it("a directory that is a link is no private directory", async () => {
    await world.run("true");
    const root = join(world.stateDir, "sandboxes");
    const [name = ""] = readdirSync(root).filter((one) => !one.startsWith("."));
    execFileSync("rm", ["-rf", join(root, name)]);
    mkdirSync(join(root, name));
    symlinkSync("/etc", join(root, name, "workspace"));
    expect(await refusal(() => world.run("ls"))).toMatch(/^host-unavailable: .*not a directory of its own/);
  });

  it("a workspace that holds the state of the gateway, or keys, is no workspace of a sandbox", async () => {
    for (const workspaceAccess of ["ro", "rw"]) {
      for (const workspace of [world.dir, world.stateDir, "/", homedir()]) {
        const wide = openWorld({
          sandbox: { workspaceAccess },
          agents: [{ id: "main", workspace }],
          with: { stateDir: world.stateDir },
        });
        expect(await refusal(() => wide.run("ls"))).toMatch(
          /^host-unavailable: .*holds files of the system, keys, or the state/,
        );
        await wide.dispose();
      }
    }
  });

  it("a bind whose parents are links is judged by where it leads", async () => {
    symlinkSync("/etc", join(world.workspace, "link"));
    const refused = openWorld({
      sandbox: { docker: { binds: [`${world.workspace}/link/ssl:/data:ro`] } },
      agents: [{ id: "main", workspace: world.workspace }],
    });
    expect(await refusal(() => refused.run("ls /data"))).toMatch(/^host-unavailable: .*docker\.binds.*system/);
    await refused.dispose();
  });
});

describeWithBwrap("processes", () => {
  it("sees only its own: no other pid, no environment, no signal reaches out", async () => {
    const pids = (await output("ls /proc | grep -E '^[0-9]+$' | sort -n | tail -1")).trim();
    expect(Number(pids)).toBeLessThan(20);
    const outside = await output(`kill -9 ${process.pid}; kill -9 ${process.ppid}; ls -d /proc/${process.pid}`);
    expect(outside.match(/No such (?:process|file)/g)).toHaveLength(3);
    process.env.SECRET_OF_THE_GATEWAY = "hidden-value";
    expect(await output("cat /proc/*/environ /proc/*/cmdline 2>/dev/null | tr '\\0' '\\n'")).not.toContain(
      "hidden-value",
    );
    delete process.env.SECRET_OF_THE_GATEWAY;
    expect(
      (await output("tr '\\0' '\\n' < /proc/1/environ | cut -d= -f1 | sort | tr '\\n' ' '")).trim().split(" "),
    ).toEqual(expect.not.arrayContaining(["HOME", "PATH_INFO", "OPENCLAW_STATE_DIR"]));
    expect(await output("ls -l /proc/1/cwd /proc/1/root /proc/1/exe 2>&1")).not.toContain(world.stateDir);
  });

  it("has no capability, can gain none, and makes no namespace or mount", async () => {
    const status = await output("grep -E '^(Cap|NoNewPrivs)' /proc/self/status");
    expect(status.match(/^Cap\w+:\s+0{16}$/gm)).toHaveLength(5);
    expect(status).toMatch(/^NoNewPrivs:\s+1$/m);
    expect(await output("mount -t tmpfs x /tmp 2>&1; echo $?")).toMatch(
      /(?:denied|permitted|superuser)[\s\S]*[1-9]\d*\n$/,
    );
    expect(await output("unshare -Ur id -u 2>&1 || echo refused")).toMatch(/refused\n$/);
    expect(await output("chroot / id 2>&1 || echo refused")).toMatch(/refused\n$/);
    expect(await output("mknod /tmp/disk b 8 0 2>&1 || echo refused")).toMatch(/refused\n$/);
    expect(await output("su -c id </dev/null 2>&1 || echo refused")).toMatch(/refused\n$/);
    expect(await output("cp /bin/id /tmp/id && chmod u+s /tmp/id && /tmp/id -u")).toBe("1000\n");
    expect(await output("renice -n -5 $$ 2>&1 || echo refused")).toMatch(/refused\n$/);
  });
});

describeWithBwrap("system calls", () => {
  const calls =
    process.arch === "arm64"
      ? { keyctl: 219, add_key: 217, bpf: 280, getpid: 172, clone: 220, unshare: 97 }
      : { keyctl: 250, add_key: 248, bpf: 321, getpid: 39, clone: 56, unshare: 272 };
  const errors = async (tries: readonly (readonly number[])[]) => {
    const script = `import ctypes
c = ctypes.CDLL(None, use_errno=True)
for args in ${JSON.stringify(tries)}:
    ctypes.set_errno(0); r = c.syscall(*[ctypes.c_long(a) for a in args]); print(r if r > 0 else -ctypes.get_errno())`;
    return (await output(`python3 - <<'END'\n${script}\nEND`)).trim().split("\n").map(Number);
  };
  const [EPERM, ENOSYS] = [-1, -38];

  it("keys, bpf, io_uring and the calls for new namespaces fail; others do not", async () => {
    const NEWUSER = 0x10000000;
    expect(
      await errors([
        [calls.keyctl, 0, -3, 0],
        [calls.add_key, 0, 0, 0, 0, 0],
        [calls.bpf, 0, 0, 0],
        [425, 1, 0],
        [435, 0, 0],
        [calls.unshare, NEWUSER],
        [calls.clone, NEWUSER, 0, 0, 0, 0],
        [428, -100, 0, 0],
      ]),
    ).toEqual([EPERM, EPERM, EPERM, ENOSYS, ENOSYS, EPERM, EPERM, EPERM]);
    expect((await errors([[calls.getpid]]))[0]).toBeGreaterThan(0);
    if (process.arch === "x64") expect(await errors([[0x40000000 + 39]])).toEqual([ENOSYS]);
    // Threads, children and what programs of today need still work.
    expect(
      await output('node -e \'new (require("worker_threads").Worker)("1", {eval: true}).on("exit", console.log)\''),
    ).toBe("0\n");
    expect(
      await output(
        "python3 -c 'import subprocess, threading; t = threading.Thread(target=print, args=(1,)); t.start(); t.join(); subprocess.run([\"true\"], check=True)'",
      ),
    ).toBe("1\n");
    expect(await output("grep Seccomp: /proc/self/status")).toBe("Seccomp:\t2\n");
  });

  it("there is a filter for the usual machines and none is made up for others", () => {
    for (const arch of ["x64", "arm64"]) expect((syscallFilter(arch)?.length ?? 0) % 8).toBe(0);
    expect(syscallFilter("riscv64")).toBeUndefined();
  });
});

describeWithBwrap("network", () => {
  it("reaches no address and no socket of this machine", async () => {
    let visits = 0;
    const server = createServer((socket) => {
      visits += 1;
      socket.end();
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const hidden = createServer(() => {
      visits += 1;
    });
    const abstract = `openclaw-test-${process.pid}`;
    await new Promise<void>((resolve) => hidden.listen(`\0${abstract}`, resolve));
    const { port } = server.address() as { port: number };
    expect(await output(`bash -c 'exec 3<>/dev/tcp/127.0.0.1/${port}' 2>&1`)).toMatch(/refused|unreachable/);
    expect(await output("bash -c 'exec 3<>/dev/tcp/1.1.1.1/80' 2>&1")).toMatch(/unreachable/);
    const connect = `import socket; socket.socket(socket.AF_UNIX).connect("\\0${abstract}")`;
    expect(await output(`python3 -c '${connect}' 2>&1`)).toMatch(/refused/);
    expect(
      await output("ls /sys/class/net 2>/dev/null; cat /proc/net/dev | tail -n +3 | cut -d: -f1 | tr -d ' '"),
    ).toBe("lo\n");
    expect(visits).toBe(0);
    server.close();
    hidden.close();
  });
});

describeWithBwrap("what a caller hands in", () => {
  it("no value of a variable is read as an option", async () => {
    const hostile = ["--bind", "/", "/host"].join("\n");
    expect(await output('ls /host; echo "$A"', { env: { A: hostile, B: "--share-net", C: "9<&0" } })).toMatch(
      /No such file[\s\S]*--bind\n\/\n\/host\n$/,
    );
    expect(await refusal(() => world.run("true", { env: { A: "x\0--bind\0/\0/host" } }))).toMatch(/^env-invalid/);
    expect(
      await refusal(() =>
        world.run("true", { env: Object.fromEntries(Array.from({ length: 4000 }, (_, i) => [`V${i}`, "x"])) }),
      ),
    ).toMatch(/^env-invalid: .*400\d environment variables/);
  });

  (COMPILER === undefined ? describe.skip : describe)("with a compiler", () => {
    it("LD_PRELOAD is loaded in the sandbox and nowhere else", async () => {
      const escaped = join(world.dir, "escaped");
      const source = join(world.dir, "evil.c");
      const write = (path: string) => `f = fopen("${path}", "a"); if (f) { fputs("x", f); fclose(f); }`;
      writeFileSync(
        source,
        `#include <stdio.h>\n__attribute__((constructor)) static void go(void) { FILE *f; ${write(escaped)} ${write("/workspace/inside")} }\n`,
      );
      await world.run("true");
      const cwd = world.sandboxes.workdir(undefined, "main", "agent:main:main");
      execFileSync(COMPILER ?? "", ["-shared", "-fPIC", "-o", join(cwd, "evil.so"), source]);
      await world.run("true", { env: { LD_PRELOAD: join(cwd, "evil.so"), LD_LIBRARY_PATH: cwd } });
      expect(existsSync(escaped)).toBe(false);
      await world.run("true", { env: { LD_PRELOAD: "/workspace/evil.so", LD_AUDIT: "/workspace/evil.so" } });
      expect(existsSync(escaped)).toBe(false);
      expect(readFileSync(join(cwd, "inside"), "utf8")).toMatch(/^x+$/);
    });
  });

  it("descriptors that the gateway itself was started with stay outside", async () => {
    const script = `exec 200</etc/shadow 201<>${world.dir}/open; exec "$0" "$@"`;
    const child = new URL("./host-child.ts", import.meta.url).pathname;
    const seen = execFileSync(
      "bash",
      ["-c", script, process.execPath, "--import", "tsx", child, join(world.dir, "other"), "ls -l /proc/self/fd"],
      { encoding: "utf8" },
    );
    expect(seen).toContain("/proc/");
    expect(seen).not.toMatch(/ 20[01] ->|shadow/);
  });
});

describeWithBwrap("many at once", () => {
  it("100 commands in parallel leave no directory, descriptor, control group or process", async () => {
    await world.run("true");
    const descriptors = () => readdirSync("/proc/self/fd").length;
    const marks = Array.from({ length: 100 }, () => `gateway:${crypto.randomUUID()}`);
    const before = descriptors();
    const root = () => readdirSync(join(world.stateDir, "sandboxes")).sort();
    const folders = root();
    const ends = await Promise.all(
      marks.map((mark, at) => world.run(`echo ${at}; exit ${at % 3}`, { marks: { OPENCLAW_RUN_ID: mark } })),
    );
    expect(ends.map(({ output: text, end }) => [text, end.exitCode])).toEqual(
      marks.map((_, at) => [`${at}\n`, at % 3]),
    );
    expect(root()).toEqual(folders);
    await eventually(() => descriptors() <= before);
    const alive = () =>
      readdirSync("/proc").filter((name) => {
        try {
          const environ = readFileSync(`/proc/${name}/environ`, "latin1");
          return marks.some((mark) => environ.includes(mark));
        } catch {
          return false;
        }
      });
    await eventually(() => alive().length === 0);
  });
});
