/** `openclaw-exec sandbox …` and what doctor says of sandboxes. */
import { existsSync, mkdirSync, readdirSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import JSON5 from "json5";
import { describe, expect, it, onTestFinished } from "vitest";
import { describeWithBwrap, openWorld, type World, type WorldOptions } from "../core/hosts/sandbox/support.ts";
import { eventually } from "../support/state.ts";
import { type CliHome, cliHome } from "./run-cli.ts";

function homeWith(sandbox: object, more: object = {}): CliHome {
  const home = cliHome();
  const config = { ...more, agents: { defaults: { sandbox }, ...(more as { agents?: object }).agents } };
  writeFileSync(join(home.dir, "openclaw.json"), JSON5.stringify(config), { mode: 0o600 });
  mkdirSync(join(home.dir, "workspace"), { recursive: true });
  return home;
}

/** A gateway's sandboxes on the same state directory as a command line. */
function both(options: WorldOptions = {}): { world: World; cli: CliHome["run"] } {
  const world = openWorld(options);
  onTestFinished(() => world.dispose());
  const home = cliHome();
  const config = { agents: { defaults: { sandbox: { mode: "all", ...options.sandbox } }, list: options.agents ?? [] } };
  writeFileSync(join(world.stateDir, "openclaw.json"), JSON5.stringify(config), { mode: 0o600 });
  return { world, cli: (...argv) => home.runWith({ env: { OPENCLAW_STATE_DIR: world.stateDir } }, ...argv) };
}

const doctorSays = async (home: CliHome) => {
  const { checks } = JSON.parse((await home.run("doctor", "--json")).out) as { checks: { name: string }[] };
  return checks.filter(({ name }) => name.startsWith("sandbox"));
};

describe("sandbox explain", () => {
  it("says that a session is not sandboxed, and by which key", async () => {
    const { out, code } = await homeWith({ mode: "off" }).run("sandbox", "explain");
    expect(out).toMatch(/^session +agent:main:main\nsandboxed +no: agents\.defaults\.sandbox\.mode is off\n/);
    expect(code).toBe(0);
  });

  it("non-main: the main session is not, a chat is", async () => {
    const home = homeWith({ mode: "non-main" });
    expect((await home.run("sandbox", "explain")).out).toMatch(/sandboxed +no: .*non-main.*is the main session/);
    const chat = await home.run("sandbox", "explain", "--session", "agent:main:slack:direct:U1", "--json");
    expect(JSON.parse(chat.out)).toMatchObject({
      sandboxed: true,
      why: "agents.defaults.sandbox.mode is non-main, and this is not the main session",
      scopeKey: "agent:main",
      network: "none",
      mounts: [{ inside: "/workspace", mode: "rw", role: "private" }],
      tools: { allow: [], deny: [], from: "tools.sandbox.tools" },
    });
  });

  it("a backend that is not there: exit code 1, and the key to change", async () => {
    const { out, code } = await homeWith({ mode: "all", backend: "podman" }).run("sandbox", "explain");
    expect(out).toMatch(/backend +podman, does not work: .*set agents\.defaults\.sandbox\.backend to bwrap/);
    expect(code).toBe(1);
  });

  it("an agent's own settings, tools and limits are told with the keys they come from", async () => {
    const home = homeWith(
      { mode: "off", docker: { ulimits: { nofile: 100 } } },
      {
        agents: {
          list: [
            {
              id: "ops",
              sandbox: { mode: "all", scope: "session" },
              tools: { exec: { host: "gateway" }, sandbox: { tools: { deny: ["process"] } } },
            },
          ],
        },
      },
    );
    const { out } = await home.run("sandbox", "explain", "--agent", "OPS");
    expect(out).toMatch(/sandboxed +yes: agents\.list\[0\]\.sandbox\.mode is all/);
    expect(out).toMatch(/but +tools\.exec\.host is gateway: commands run there/);
    expect(out).toMatch(/limits +nofile=100:100 \(prlimit\)/);
    expect(out).toMatch(/tools +allow all, deny process \(agents\.list\[0\]\.tools\.sandbox\.tools\)/);
    expect(out).toMatch(/scope +session \(agent:ops:main\)/);
    expect(await home.run("sandbox", "explain", "--agent", "opps")).toMatchObject({
      code: 1,
      err: expect.stringContaining('There is no agent "opps". Known: ops.'),
    });
  });
});

describeWithBwrap("sandbox list and recreate", () => {
  it("lists what is there, and removes what nobody uses", async () => {
    const { world, cli } = both({ sandbox: { scope: "session" } });
    expect((await cli("sandbox", "list")).out).toBe("There are no private directories of sandboxes.");
    await world.run("echo kept > file", { sessionKey: "agent:main:a" });
    await world.run("true", { sessionKey: "agent:main:b" });
    expect((await cli("sandbox", "list")).out).toMatch(
      /^session-main-[ab]-\w+ {2}agent:main:[ab] {2}made .* UTC, last used/m,
    );
    expect(JSON.parse((await cli("sandbox", "list", "--json")).out)).toHaveLength(2);
    const removed = await cli("sandbox", "recreate", "--session", "agent:main:a");
    expect(removed).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^Removed session-main-a-\w+ \(agent:main:a\)\.$/),
    });
    expect((await world.run("ls", { sessionKey: "agent:main:a" })).output).toBe("");
    expect((await cli("sandbox", "recreate", "--agent", "main")).out.split("\n")).toHaveLength(2);
    expect((await cli("sandbox", "recreate", "--all")).out).toMatch(/nothing was removed/);
    expect(await cli("sandbox", "recreate")).toMatchObject({ code: 2, err: expect.stringContaining("--all") });
  });

  it("what is in use stays, unless it is ended by --force", async () => {
    const { world, cli } = both();
    const handle = await world.start("trap 'echo cleaned' TERM; echo up; sleep 300 & wait");
    let output = "";
    handle.onOutput((_, text) => {
      output += text;
    });
    await eventually(() => output.includes("up"));
    expect((await cli("sandbox", "list")).out).toContain("in use now");
    expect(await cli("sandbox", "recreate", "--all")).toMatchObject({
      code: 1,
      out: "",
      err: expect.stringMatching(/is in use\.\nNothing was removed\..*--force/),
    });
    expect((await cli("sandbox", "recreate", "--all", "--force")).out).toMatch(/^Removed agent-main-/);
    await handle.ended;
    expect(output).toBe("up\ncleaned\n");
    expect(readdirSync(join(world.stateDir, "sandboxes")).filter((name) => !name.startsWith("."))).toEqual([]);
  });

  it("unused directories are removed by age, those in use and others' files are not", async () => {
    const { world } = both({ sandbox: { scope: "session", prune: { idleHours: 1, maxAgeDays: 0 } } });
    const root = join(world.stateDir, "sandboxes");
    await world.run("true", { sessionKey: "agent:main:old" });
    const old = readdirSync(root).find((name) => name.startsWith("session-main-old")) ?? "";
    mkdirSync(join(root, "mine"));
    mkdirSync(join(root, ".going-left"));
    const busy = await world.start("echo up; sleep 300", { sessionKey: "agent:main:busy" });
    let output = "";
    busy.onOutput((_, text) => {
      output += text;
    });
    await eventually(() => output.includes("up"));
    const used = readdirSync(root).find((name) => name.startsWith("session-main-busy")) ?? "";
    for (const name of [old, used]) utimesSync(join(root, name, "sandbox.json"), 1, 1);
    // The look of this life was at its first command; another life looks at its start.
    const next = openWorld({ sandbox: { prune: { idleHours: 1 } }, with: { roots: () => [root] } });
    onTestFinished(() => next.dispose());
    next.sandboxes.sweep();
    await next.sandboxes.settled();
    expect(existsSync(join(root, old))).toBe(false);
    expect(
      readdirSync(root)
        .filter((name) => !name.startsWith("."))
        .sort(),
    ).toEqual(["mine", used].sort());
    busy.stop("manual-cancel");
    await busy.ended;
  });
});

describe("doctor", () => {
  it("is content without sandboxes, and says what keeps one from being made", async () => {
    expect(await doctorSays(homeWith({ mode: "off" }))).toEqual([{ name: "sandbox", state: "ok", message: "off" }]);
    expect(await doctorSays(homeWith({ mode: "all", docker: { image: "debian" } }))).toMatchObject([
      { state: "error", message: expect.stringMatching(/refuse every command: .*docker\.image/) },
    ]);
  });
});

describeWithBwrap("doctor with bubblewrap", () => {
  it("really makes one, for each agent that has some", async () => {
    expect(await doctorSays(homeWith({ mode: "all" }))).toMatchObject([
      { state: "ok", message: "bwrap works here; mode all" },
    ]);
    const two = homeWith(
      { mode: "all" },
      { agents: { list: [{ id: "a" }, { id: "b", sandbox: { backend: "docker" } }] } },
    );
    expect(await doctorSays(two)).toMatchObject([
      { name: "sandbox of a", state: "ok" },
      { name: "sandbox of b", state: "error" },
    ]);
  });
});
