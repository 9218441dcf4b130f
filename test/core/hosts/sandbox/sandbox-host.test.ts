/** Commands in real sandboxes: what they see, what they get, and how they end. */
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, it } from "vitest";
import { eventually } from "../../../support/state.ts";
import { describeWithBwrap, openWorld, refusal, type World, type WorldOptions } from "./support.ts";

let world: World;
const open = (options?: WorldOptions): World => {
  world = openWorld(options);
  return world;
};
afterEach(() => world?.dispose());

describeWithBwrap("a command in a sandbox", () => {
  it("runs byte for byte in a shell of its own and gives output and exit code", async () => {
    const { run } = open();
    expect(await run(`printf '%s|' "it's" 'a "b"'; echo err >&2; exit 7`)).toMatchObject({
      output: expect.stringContaining(`it's|a "b"|`),
      end: { reason: "exit", exitCode: 7 },
    });
    expect((await run("cat <<'EOF'\n$HOME `x`\nEOF")).output).toBe("$HOME `x`\n");
    expect((await run("-x 2>/dev/null; echo $?")).output).toBe("127\n");
    expect((await run("pwd; id -un; id -u; hostname; echo $HOME")).output).toBe(
      "/workspace\nsandbox\n1000\nsandbox\n/workspace\n",
    );
  });

  it("sees no variable of the gateway, and those of the configuration, of the call and our marks", async () => {
    const { run } = open({ sandbox: { docker: { env: { LANG: "C.UTF-8", FROM: "config", BOTH: "config" } } } });
    process.env.SECRET_OF_THE_GATEWAY = "hidden";
    const { output } = await run("env -0 | sort -z | tr '\\0' '\\n'", {
      env: { BOTH: "call", LINES: "one\ntwo" },
      marks: { OPENCLAW_RUN_ID: "g:1", OPENCLAW_CHANNEL_CONTEXT: '{"sender":{"id":"U1"}}' },
    });
    delete process.env.SECRET_OF_THE_GATEWAY;
    const names = output.split("\n").flatMap((line) => /^([A-Za-z_]+)=/.exec(line)?.[1] ?? []);
    expect(names).toEqual([
      ...["BOTH", "FROM", "HOME", "LANG", "LINES", "LOGNAME", "OPENCLAW_CHANNEL_CONTEXT", "OPENCLAW_CLI"],
      ...["OPENCLAW_RUN_ID", "OPENCLAW_SHELL", "PATH", "PWD", "SHELL", "USER"],
    ]);
    expect(output).toContain("BOTH=call\n");
    expect(output).toContain("LINES=one\ntwo\n");
    expect(output).toContain('OPENCLAW_CHANNEL_CONTEXT={"sender":{"id":"U1"}}\n');
    expect(output).toContain("OPENCLAW_SHELL=exec\n");
  });

  it("puts a PATH of the call and pathPrepend before the one of /etc/profile, and leaves no trace of how", async () => {
    const { run } = open();
    const { output } = await run('echo "$PATH"; env | grep -c PREPEND', {
      pathPrepend: ["/opt/a b"],
      env: { PATH: "/opt/c:/opt/d" },
    });
    expect(output).toMatch(/^\/opt\/a b:\/opt\/c:\/opt\/d:.*\/usr\/bin.*\n0\n$/);
  });

  it("values are in no argument: neither of the launcher nor of bubblewrap", async () => {
    const { start } = open();
    const handle = await start("sleep 30", { env: { TOKEN: "value-nobody-may-see" } });
    await eventually(() => readFileSync(`/proc/${handle.pid}/cmdline`, "latin1").includes("bwrap"));
    for (const pid of readdirSync("/proc").filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)) {
      const read = (file: string) => {
        try {
          return readFileSync(`/proc/${pid}/${file}`, "latin1");
        } catch {
          return "";
        }
      };
      expect(read("cmdline")).not.toContain("value-nobody-may-see");
    }
    expect(readFileSync(`/proc/${handle.pid}/environ`, "latin1")).not.toContain("value-nobody-may-see");
    handle.stop("manual-cancel");
    await handle.ended;
  });

  it("hands in nothing but its three streams, and leaves no file behind", async () => {
    const { run, stateDir } = open();
    expect((await run("ls /proc/self/fd | tr '\\n' ' '")).output).toBe("0 1 2 3 ");
    const root = join(stateDir, "sandboxes");
    expect(readdirSync(root).filter((name) => !name.startsWith("."))).toHaveLength(1);
    const [folder = ""] = readdirSync(root).filter((name) => !name.startsWith("."));
    expect(statSync(join(root, folder)).mode & 0o777).toBe(0o700);
    expect(statSync(join(root, folder, "workspace")).mode & 0o777).toBe(0o700);
  });

  it.each([
    ["none", "private", undefined],
    ["ro", "private", "read-only"],
    ["rw", "workspace", undefined],
  ] as const)(
    "workspaceAccess %s: /workspace is the %s directory, /agent is %s",
    async (workspaceAccess, what, agent) => {
      const { run, workspace } = open({ sandbox: { workspaceAccess } });
      writeFileSync(join(workspace, "mine"), "of the agent\n");
      const seen = await run("ls; cat /agent/mine; echo x > /agent/new; echo new > made");
      if (what === "workspace") {
        expect(seen.output).toContain("mine\n");
        expect(readFileSync(join(workspace, "made"), "utf8")).toBe("new\n");
      } else {
        expect(seen.output).not.toMatch(/^mine$/m);
        expect(readdirSync(workspace)).toEqual(["mine"]);
        // What was made is there for the next command.
        expect((await run("cat made")).output).toBe("new\n");
      }
      if (agent === undefined) expect(seen.output).toMatch(/\/agent\/mine: No such file/);
      else expect(seen.output).toMatch(/of the agent\n(?:.|\n)*Read-only file system/);
    },
  );

  it("scope session keeps the files of two conversations apart, scope agent and shared do not", async () => {
    for (const [scope, other] of [
      ["session", ""],
      ["agent", "kept\n"],
      ["shared", "kept\n"],
    ] as const) {
      const { run } = open({ sandbox: { scope } });
      await run("echo kept > file", { sessionKey: "agent:main:web:chat:a" });
      expect((await run("cat file 2>/dev/null", { sessionKey: "agent:main:web:chat:b" })).output).toBe(other);
      await world.dispose();
    }
  });

  it("docker.workdir names the mount, docker.user the number", async () => {
    const { run } = open({ sandbox: { docker: { workdir: "/home/work", user: "1234:2345" } } });
    expect((await run("pwd; echo $HOME; id -u; id -g; touch x; ls -n x | cut -d' ' -f3,4")).output).toBe(
      "/home/work\n/home/work\n1234\n2345\n1234 2345\n",
    );
  });

  it("binds are there, ro and rw, from a workspace; others are refused by name", async () => {
    const { run, workspace } = open({ sandbox: { docker: { binds: [] } } });
    mkdirSync(join(workspace, "data"));
    await run("true");
    await world.dispose();
    const made = open();
    mkdirSync(join(made.workspace, "data"));
    writeFileSync(join(made.workspace, "data", "file"), "data\n");
    const bound = (binds: string[]) =>
      openWorld({ sandbox: { docker: { binds } }, agents: [{ id: "main", workspace: made.workspace }] });
    const writable = bound([`${made.workspace}/data:/data`, `${made.workspace}/data:/opt/deep/data:ro`]);
    expect((await writable.run("cat /data/file; echo more > /data/new; echo x > /opt/deep/data/y")).output).toMatch(
      /^data\n.*Read-only file system\n$/s,
    );
    expect(readFileSync(join(made.workspace, "data", "new"), "utf8")).toBe("more\n");
    await writable.dispose();
    const refused = bound(["/etc:/x"]);
    expect(await refusal(() => refused.run("true"))).toMatch(
      /^host-unavailable: .*"\/etc:\/x" in agents\.defaults\.sandbox\.docker\.binds.*Nothing was run/,
    );
    await refused.dispose();
  });

  it("a temporary file system is empty at each command and no larger than it may be", async () => {
    const { run } = open({ sandbox: { docker: { tmpfs: ["/tmp:size=1m", "/run"] } } });
    expect((await run("echo x > /tmp/a; ls /tmp; head -c 4000000 /dev/zero > /tmp/b")).output).toMatch(
      /^a\n.*No space left/s,
    );
    expect((await run("ls /tmp; ls /var/tmp")).output).toMatch(/^ls: .*\/var\/tmp/);
  });

  it("readOnlyRoot: the root is closed, or forgotten", async () => {
    expect((await open().run("touch /x /etc/x; ls /x")).output).toMatch(/\/x': Read-only/);
    await world.dispose();
    const { run } = open({ sandbox: { docker: { readOnlyRoot: false } } });
    expect((await run("touch /x && ls /x")).output).toBe("/x\n");
    expect((await run("ls /x 2>&1")).output).toMatch(/No such file/);
  });

  it("stdin can be written and ended", async () => {
    const { start } = open();
    const handle = await start("cat; echo end", { stdin: "open" });
    let output = "";
    handle.onOutput((_, text) => {
      output += text;
    });
    await handle.write("hello\n");
    await eventually(() => output.includes("hello"));
    await handle.endInput();
    expect((await handle.ended).exitCode).toBe(0);
    expect(output).toBe("hello\nend\n");
  });
});

describeWithBwrap("how a command in a sandbox ends", () => {
  /** pids of everything that belongs to `mark`, inside and outside. */
  const alive = (mark: string): string[] =>
    readdirSync("/proc").filter((name) => {
      if (!/^\d+$/.test(name)) return false;
      try {
        return readFileSync(`/proc/${name}/environ`, "latin1").includes(`OPENCLAW_RUN_ID=${mark}`);
      } catch {
        return false;
      }
    });
  /** `pid` runs `commandLine` and its group is the one in the foreground of its terminal (proc(5), stat). */
  const holdsTerminal = (pid: string, commandLine: string): boolean => {
    if (readFileSync(`/proc/${pid}/cmdline`, "latin1") !== commandLine) return false;
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    const [, , group, , , foreground] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return group === foreground;
  };
  const running = async (command: string, extra: object = {}) => {
    const mark = `gateway:${crypto.randomUUID()}`;
    const handle = await world.start(command, { marks: { OPENCLAW_RUN_ID: mark }, ...extra });
    let output = "";
    handle.onOutput((_, text) => {
      output += text;
    });
    await eventually(() => output.includes("ready"));
    return { handle, mark, output: () => output };
  };

  it("sandbox-wedged-engine: a timeout reaches what runs inside, which may still clean up; nothing is left", async () => {
    open();
    const { handle, mark, output } = await running("trap 'echo cleaned; exit 3' TERM; echo ready; sleep 300 & wait", {
      timeoutMs: 300,
    });
    expect(await handle.ended).toMatchObject({ reason: "overall-timeout", timedOut: true });
    expect(output()).toBe("ready\ncleaned\n");
    await eventually(() => alive(mark).length === 0);
  });

  it("a stop ends all of the tree, also what ignores SIGTERM and what left its session", async () => {
    open();
    const { handle, mark } = await running("trap '' TERM; setsid sleep 301 & sleep 302 & echo ready; sleep 303");
    const since = performance.now();
    handle.stop("manual-cancel");
    expect(await handle.ended).toMatchObject({ reason: "manual-cancel" });
    // Not before the grace was over.
    expect(performance.now() - since).toBeGreaterThan(350);
    await eventually(() => alive(mark).length === 0);
  });

  it("what a command leaves running ends with it", async () => {
    const { run } = open();
    const mark = `gateway:${crypto.randomUUID()}`;
    const { end } = await run("setsid sleep 300 & (sleep 300 &) ; sleep 0.1; exit 4", {
      marks: { OPENCLAW_RUN_ID: mark },
    });
    expect(end).toMatchObject({ reason: "exit", exitCode: 4 });
    await eventually(() => alive(mark).length === 0);
  });

  it("a terminal: size, Ctrl-C, resize and job control", async () => {
    open();
    const terminal = await running("stty size; echo ready; sleep 300; echo not reached", { pty: true });
    expect(terminal.output()).toContain("30 120");
    await terminal.handle.write("\x03");
    expect(await terminal.handle.ended).toMatchObject({ reason: "exit", exitCode: 130 });
    expect(terminal.output()).not.toContain("not reached");

    const shell = await running("echo ready; exec bash --norc --noprofile -i", { pty: true });
    await shell.handle.write("PS1='> '\n");
    shell.handle.resize(90, 20);
    await shell.handle.write("stty size\n");
    await eventually(() => /\b20 90\b/.test(shell.output()));
    // A job of its own in the foreground, ended alone: the shell goes on.
    await shell.handle.write("sleep 300\n");
    await eventually(() => alive(shell.mark).some((pid) => holdsTerminal(pid, "sleep\x00300\0")));
    await shell.handle.write("\x03");
    await shell.handle.write("echo still $((40 + 2))\n");
    await eventually(() => shell.output().includes("still 42"));
    expect(shell.output()).not.toMatch(/no job control|cannot set terminal/);
    // The shell may be gone before the write has been told that it was taken.
    await shell.handle.write("exit 5\n").catch(() => {});
    expect(await shell.handle.ended).toMatchObject({ reason: "exit", exitCode: 5 });
    await eventually(() => alive(shell.mark).length === 0);
  });

  it("with an older bubblewrap and other tools around it a command is as closed, and ends at once when stopped", async () => {
    const { sandboxes, run } = open();
    await run("true");
    const engine = await sandboxes.engine(sandboxes.place("main", "agent:main:main"));
    const older = { ...engine, setpriv: undefined, graceful: false, features: { disableUserns: false, sizes: false } };
    Object.assign(sandboxes, { engine: async () => older });
    const { output: seen } = await run(
      "unshare -Ur id -u 2>&1 || echo refused; grep -E '^CapEff|^Seccomp:' /proc/self/status",
    );
    expect(seen).toMatch(/refused\nCapEff:\t0{16}\nSeccomp:\t2\n$/);
    const { handle, mark } = await running("trap '' TERM; echo ready; sleep 300");
    handle.stop("manual-cancel");
    // bubblewrap itself ended by it.
    expect(await handle.ended).toMatchObject({ reason: "manual-cancel", exitSignal: "SIGTERM" });
    await eventually(() => alive(mark).length === 0);
  });

  it("a shutdown of the supervisor leaves nothing", async () => {
    open();
    const marks = await Promise.all(
      ["sleep 300", "trap '' TERM HUP; sleep 300", "sleep 300 & sleep 300"].map(
        async (command, at) => (await running(`echo ready; ${command}`, { pty: at === 1 })).mark,
      ),
    );
    await world.supervisor.shutdown();
    await eventually(() => marks.every((mark) => alive(mark).length === 0));
  });
});
