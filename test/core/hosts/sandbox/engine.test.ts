/** An engine that is missing, wedged, too old or forbidden: said in words, within a deadline, in nobody else's way. */
import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, describe, expect, it } from "vitest";
import { createGatewayHost } from "../../../../src/core/hosts/gateway-host.ts";
import { startChild } from "../../../support/child.ts";
import { eventually, manualClock } from "../../../support/state.ts";
import { bwrapWorks, describeWithBwrap, openWorld, refusal, type World, type WorldOptions } from "./support.ts";

let world: World;
const open = (options?: WorldOptions): World => {
  world = openWorld(options);
  return world;
};
afterEach(() => world?.dispose());

const standIns: string[] = [];
afterAll(() => {
  for (const dir of standIns) rmSync(dir, { recursive: true, force: true });
});

/** A program in the place of bubblewrap. */
function standIn(script: string): string {
  const dir = mkdtempSync(join(tmpdir(), "openclaw-bwrap-"));
  standIns.push(dir);
  const file = join(dir, "bwrap");
  writeFileSync(file, `#!/bin/sh\n${script}\n`);
  chmodSync(file, 0o755);
  return file;
}
const HELP = "echo '    --args FD   x'; echo '    --die-with-parent   x'; echo '    --perms OCTAL   x'";

describe("an engine that does not work", () => {
  it.each([
    ["is not there", "/nowhere/bwrap", /ENOENT/],
    ["is too old", standIn("echo usage"), /too old; bubblewrap 0\.5/],
    [
      "is forbidden to make namespaces",
      standIn(
        `[ "$1" = --help ] && { ${HELP}; exit; }; echo 'bwrap: No permissions to create new namespace, likely because the kernel does not allow it' >&2; exit 1`,
      ),
      /bwrap: No permissions.*system forbids.*(?:sysctl|AppArmor)/,
    ],
    [
      "fails in its own words",
      standIn(
        `[ "$1" = --help ] && { ${HELP}; exit; }; echo noise; echo "bwrap: Can't mount proc on /newroot/proc" >&2; exit 1`,
      ),
      /bwrap says: bwrap: Can't mount proc/,
    ],
    ["ends without a word", standIn(`[ "$1" = --help ] && { ${HELP}; exit; }; exit 3`), /bwrap says: exit code 3/],
  ])("%s: nothing runs, and the message says what to do", async (_, bwrap, message) => {
    const { run } = open({ with: { bwrap } });
    const refused = await refusal(() => run("touch ran"));
    expect(refused).toMatch(/^host-unavailable: This session runs in a sandbox.*Nothing was run/);
    expect(refused).toMatch(message);
    const root = join(world.stateDir, "sandboxes");
    const made = readdirSync(root).flatMap((name) => readdirSync(join(root, name)));
    expect(made).not.toContain("ran");
  });

  it("sandbox-wedged-engine: every question has a deadline, is asked again only after a while, and gateway commands go on", async () => {
    const bwrap = standIn(`echo x >> $0.asked\n[ "$1" = --help ] && { ${HELP}; exit; }\ntrap '' TERM\nsleep 600`);
    const asked = () => (existsSync(`${bwrap}.asked`) ? readFileSync(`${bwrap}.asked`, "utf8").length / 2 : 0);
    const clock = manualClock();
    const { run, supervisor } = open({ with: { bwrap, answerMs: 1_000, clock } });
    const refused = refusal(() => run("true", { timeoutMs: 1_000 }));
    // Beside it, on this machine.
    const host = createGatewayHost({ supervisor, env: { SHELL: "/bin/sh" }, path: ["/usr/bin", "/bin"] });
    const handle = await host.run({
      ...{ plan: { kind: "verbatim", text: "exit 6" }, cwd: "/tmp", env: {}, marks: {}, pathPrepend: [] },
      ...{ pty: false, stdin: "closed", agentId: "main", sessionKey: "s" },
    });
    expect((await handle.ended).exitCode).toBe(6);
    expect(await refused).toMatch(/^host-unavailable: .*did not answer within 1 s/);
    const before = asked();
    // Believed for a moment: nobody waits a second time.
    expect(await refusal(() => run("true"))).toMatch(/did not answer/);
    expect(asked()).toBe(before);
    clock.advance(2_500);
    // Several at once ask once.
    await Promise.all([refusal(() => run("true")), refusal(() => run("true"))]);
    expect(asked()).toBe(before + 1);
    // The wedged program was not left running.
    await eventually(() => !stillRunning(bwrap));
  });

  it("one trial serves every session, and another kind of sandbox is tried by itself", async () => {
    if (!bwrapWorks) return;
    const bwrap = standIn(`echo x >> $0.asked\nexec /usr/bin/bwrap "$@"`);
    const asked = () => readFileSync(`${bwrap}.asked`, "utf8").length / 2;
    const { run } = open({
      sandbox: { scope: "session" },
      agents: [{ id: "main" }, { id: "b", sandbox: { workspaceAccess: "ro" } }],
      with: { bwrap },
    });
    for (const sessionKey of ["a", "b", "c"]) expect((await run("echo hi", { sessionKey })).output).toBe("hi\n");
    // Its help, one trial, three commands.
    expect(asked()).toBe(5);
    expect((await run("echo hi", { agentId: "b" })).output).toBe("hi\n");
    expect(asked()).toBe(7);
  });

  it("what works again is used again", async () => {
    const bwrap = standIn(
      `[ -e "$0.well" ] && exec /usr/bin/bwrap "$@"\necho 'bwrap: not today' >&2; [ "$1" = --help ] && { ${HELP}; exit; }; exit 1`,
    );
    const clock = manualClock();
    const { run } = open({ with: { bwrap, clock } });
    expect(await refusal(() => run("true"))).toMatch(/not today/);
    writeFileSync(`${bwrap}.well`, "");
    expect(await refusal(() => run("true"))).toMatch(/not today/);
    clock.advance(2_500);
    if (bwrapWorks) expect((await run("echo back")).output).toBe("back\n");
  });

  it.each<[string, object, RegExp]>([
    ["docker", { backend: "docker" }, /backend docker is not available.*agents\.defaults\.sandbox\.backend to bwrap/],
    ["podman", { backend: "podman" }, /backend podman/],
    ...["image", "setupCommand", "gpus", "seccompProfile", "apparmorProfile"].map((key): [string, object, RegExp] => [
      key,
      { docker: { [key]: "/x" } },
      new RegExp(`does not have agents\\.defaults\\.sandbox\\.docker\\.${key};`),
    ]),
    ["dns", { docker: { dns: ["1.1.1.1"] } }, /docker\.dns;/],
    ["extraHosts", { docker: { extraHosts: ["a:1.1.1.1"] } }, /docker\.extraHosts;/],
    ["network", { docker: { network: "bridge" } }, /docker\.network to "none"/],
    ["network host", { docker: { network: "host" } }, /docker\.network to "none"/],
    ["capDrop", { docker: { capDrop: ["NET_RAW"] } }, /docker\.capDrop can not be "NET_RAW"/],
    ["root", { docker: { user: "0:0" } }, /docker\.user can not be "0:0"/],
    ["a user name", { docker: { user: "node" } }, /docker\.user can not be "node"/],
    ["workdir", { docker: { workdir: "/usr/work" } }, /docker\.workdir can not be/],
    ["workdir ..", { docker: { workdir: "/a/../b" } }, /docker\.workdir can not be/],
    ["workdir over /agent", { workspaceAccess: "ro", docker: { workdir: "/agent/x" } }, /docker\.workdir can not be/],
    ["tmpfs", { docker: { tmpfs: ["/tmp:exec"] } }, /docker\.tmpfs can not be "\/tmp:exec"/],
    ["tmpfs over the system", { docker: { tmpfs: ["/usr"] } }, /docker\.tmpfs can not be "\/usr"/],
    ["tmpfs over the workspace", { docker: { tmpfs: ["/workspace"] } }, /docker\.tmpfs can not be "\/workspace"/],
    ["env", { docker: { env: { OPENCLAW_SHELL: "x" } } }, /docker\.env can not be "OPENCLAW_SHELL"/],
  ])("what this backend does not have is refused by its key: %s", async (_, sandbox, message) => {
    const { sandboxes } = open({ sandbox });
    const refused = await refusal(() => sandboxes.workdir(undefined, "main", "agent:main:main"));
    expect(refused).toMatch(/^host-unavailable: .*Nothing was run/);
    expect(refused).toMatch(message);
  });

  it("the key named is the one that is set: an agent's own", async () => {
    const { sandboxes } = open({ agents: [{ id: "ops", sandbox: { docker: { image: "x" } } }] });
    expect(await refusal(() => sandboxes.workdir(undefined, "ops", "agent:ops:main"))).toMatch(
      /agents\.list\[0\]\.sandbox\.docker\.image/,
    );
  });
});

function stillRunning(program: string): boolean {
  return readdirSync("/proc").some((name) => {
    try {
      return readFileSync(`/proc/${name}/cmdline`, "latin1").includes(program);
    } catch {
      return false;
    }
  });
}

describeWithBwrap("a gateway that is killed", () => {
  it("takes its sandboxed commands with it", async () => {
    open();
    const mark = `gateway:${crypto.randomUUID()}`;
    const command = "trap '' TERM HUP; setsid sleep 301 & echo ready; sleep 302";
    const child = startChild("../core/hosts/sandbox/host-child.ts", join(world.dir, "killed"), command, mark);
    await child.line((line) => line === "ready");
    const alive = () =>
      readdirSync("/proc").filter((name) => {
        try {
          return readFileSync(`/proc/${name}/environ`, "latin1").includes(mark);
        } catch {
          return false;
        }
      });
    expect(alive().length).toBeGreaterThanOrEqual(4);
    await child.kill();
    await eventually(() => alive().length === 0);
  });
});
