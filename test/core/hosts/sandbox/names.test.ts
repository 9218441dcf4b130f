/** Names of sandboxes and of the files in them: pure, so tried with whatever there is. */
import { posix } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type BindRules, bindProblem, parseBind } from "../../../../src/core/hosts/sandbox/binds.ts";
import { bwrapOptions, type Layout } from "../../../../src/core/hosts/sandbox/bwrap-options.ts";
import { directoryInside, isWithin, type Mount, toHost, toInside } from "../../../../src/core/hosts/sandbox/mounts.ts";
import { scopeName } from "../../../../src/core/hosts/sandbox/scope.ts";

const SCOPES = ["agent", "session", "shared"] as const;

describe("the name of a sandbox", () => {
  it.each([
    ["agent", "main", "agent:main:slack:direct:U1", /^agent-main-[0-9a-f]{12}$/],
    ["session", "main", "agent:main:slack:direct:U1", /^session-main-slack-direct-u1-[0-9a-f]{12}$/],
    ["session", "main", "agent:main:web:chat:../../etc", /^session-main-web-chat-etc-[0-9a-f]{12}$/],
    ["shared", "main", "agent:main:main", /^shared-[0-9a-f]{12}$/],
  ] as const)("scope %s of %s in %s", (scope, agentId, sessionKey, name) => {
    expect(scopeName({ scope, agentId, sessionKey }, "/w")).toMatch(name);
  });

  it("is one short file name whatever the session is called, and another for every other scope", () => {
    const text = fc.string({ unit: "binary", maxLength: 300 });
    fc.assert(
      fc.property(fc.constantFrom(...SCOPES), text, text, text, (scope, agentId, sessionKey, workspace) => {
        const name = scopeName({ scope, agentId, sessionKey }, workspace);
        expect(name).toMatch(/^(?:agent|session|shared)-[a-z0-9-]+$/);
        expect(name.length).toBeLessThan(64);
        if (scope === "session") {
          expect(scopeName({ scope, agentId, sessionKey: `${sessionKey}x` }, workspace)).not.toBe(name);
          expect(scopeName({ scope, agentId, sessionKey }, `${workspace}x`)).not.toBe(name);
        }
        if (scope === "agent") expect(scopeName({ scope, agentId, sessionKey: "other" }, workspace)).toBe(name);
        if (scope === "shared") expect(scopeName({ scope, agentId: "other", sessionKey: "x" }, "/v")).toBe(name);
      }),
    );
  });

  it("sessions that read alike are kept apart", () => {
    const name = (sessionKey: string) => scopeName({ scope: "session", agentId: "main", sessionKey }, "/w");
    expect(new Set(["agent:main:a-b", "agent:main:a:b", "agent:main:A:B", "agent:main:a b"].map(name)).size).toBe(4);
  });
});

const folder = fc
  .array(fc.constantFrom("a", "b", "c", "workspace", "agent", "x y"), { minLength: 1, maxLength: 4 })
  .map((parts) => `/${parts.join("/")}`);
const mount = fc.record({ host: folder, inside: folder, mode: fc.constantFrom("ro" as const, "rw" as const) });
const mounts = fc
  .uniqueArray(mount, { minLength: 1, maxLength: 5, selector: (one) => one.inside })
  .map((all): Mount[] => all.map((one) => ({ ...one, role: "bind" })));

describe("the two names of a file", () => {
  it("to the sandbox and back is the same file; what no mount holds has no name there", () => {
    fc.assert(
      fc.property(mounts, folder, (all, path) => {
        const inside = toInside(path, all);
        if (inside === undefined) return;
        expect(toHost(inside, all)).toBe(path);
        expect(all.some((one) => isWithin(path, one.host))).toBe(true);
      }),
    );
    fc.assert(
      fc.property(mounts, folder, (all, path) => {
        const host = toHost(path, all);
        if (host === undefined) expect(all.some((one) => isWithin(path, one.inside))).toBe(false);
        else expect(all.some((one) => isWithin(host, one.host))).toBe(true);
      }),
    );
  });

  it("a mount in another hides what that one has in its place", () => {
    const all: Mount[] = [
      { host: "/w", inside: "/workspace", mode: "rw", role: "workspace" },
      { host: "/data", inside: "/workspace/data", mode: "ro", role: "bind" },
    ];
    expect(toHost("/workspace/data/x", all)).toBe("/data/x");
    expect(toInside("/w/data/x", all)).toBeUndefined();
    expect(toInside("/w/database", all)).toBe("/workspace/database");
    expect(toInside("/workspace", all)).toBeUndefined();
  });

  it("however links lead, a directory is one below a mount or none", () => {
    const parts = fc.array(fc.constantFrom("..", ".", "a", "b", "", "workspace", "agent", "etc"), { maxLength: 8 });
    const target = fc.tuple(fc.boolean(), parts).map(([absolute, all]) => (absolute ? "/" : "") + all.join("/"));
    const links = fc.dictionary(fc.constantFrom("/h/a", "/h/b", "/h/a/a", "/h/a/b", "/g/a", "/g/b"), target);
    const all: Mount[] = [
      { host: "/h", inside: "/workspace", mode: "rw", role: "private" },
      { host: "/g", inside: "/agent", mode: "ro", role: "agent" },
    ];
    fc.assert(
      fc.property(parts, links, (path, linked) => {
        const files = { readlink: (at: string) => linked[at], isDirectory: () => true };
        const found = directoryInside(`/${path.join("/")}`, all, files);
        if (found === undefined) return;
        expect(posix.normalize(found)).toBe(found);
        expect(isWithin(found, "/workspace") || isWithin(found, "/agent")).toBe(true);
        // Nothing on the way is a link any more.
        for (let at = found; at !== "/"; at = posix.dirname(at)) expect(linked[toHost(at, all) ?? ""]).toBeUndefined();
      }),
      { numRuns: 2_000 },
    );
  });
});

describe("binds", () => {
  const rules: BindRules = {
    workspaces: ["/srv/work", "/root/.openclaw/workspace"],
    writable: [],
    secrets: { homes: ["/root"], own: ["/root/.openclaw"] },
    reserved: ["/workspace", "/agent"],
    allowExternal: false,
    allowReserved: false,
  };
  const judge = (text: string, more: Partial<BindRules> = {}, path?: string) => {
    const bind = parseBind(text);
    return bind === undefined
      ? "syntax"
      : bindProblem(bind, { path: path ?? bind.source, kind: "directory" }, { ...rules, ...more });
  };

  it.each([
    ["/srv/work/a:/data", undefined],
    ["/srv/work/a:/data:ro", undefined],
    ["/root/.openclaw/workspace/a:/data", undefined],
    ["/srv/work:/tmp/work", undefined],
    ["/srv/work/a", "syntax"],
    ["/srv/work/a:/data:rx", "syntax"],
    ["/srv/work/a:/data:ro:z", "syntax"],
    [":/data", "syntax"],
    ["work:/data", "source-relative"],
    ["~/work:/data", "source-relative"],
    ["/srv/work/../../etc:/data", "source-relative"],
    ["/srv/work/a:data", "target-relative"],
    ["/srv/work/a:/data/../etc", "target-relative"],
    ["/srv/work/a:/", "target-system"],
    ["/srv/work/a:/usr/local/bin", "target-system"],
    ["/srv/work/a:/etc", "target-system"],
    ["/srv/work/a:/proc", "target-system"],
    ["/srv/work/a:/workspace", "target-reserved"],
    ["/srv/work/a:/workspace/deep", "target-reserved"],
    ["/srv/work/a:/agent", "target-reserved"],
    ["/opt/x:/data", "source-external"],
    ["/srv:/data", "source-external"],
  ])("%s: %s", (text, problem) => {
    expect(judge(text)).toBe(problem);
  });

  it.each(
    [
      "/",
      "/etc",
      "/etc/ssl",
      "/proc",
      "/sys",
      "/dev",
      "/boot",
      "/run",
      "/run/docker.sock",
      "/var/run/docker.sock",
      "/var",
      "/root",
    ].concat([
      ...[
        "/root/.ssh",
        "/root/.aws/credentials",
        "/root/.config",
        "/root/.netrc",
        "/root/.openclaw",
        "/root/.openclaw/logs",
      ],
    ]),
  )("%s is never handed in, not even with the dangerous switches", (source) => {
    expect(judge(`${source}:/data`, { allowExternal: true, allowReserved: true })).toBe("source-blocked");
  });

  it("what counts is where a source leads, not what it is called", () => {
    expect(judge("/srv/work/link:/data", {}, "/etc")).toBe("source-blocked");
    expect(judge("/srv/work/link:/data", {}, "/opt/x")).toBe("source-external");
    expect(judge("/opt/link:/data", {}, "/srv/work/a")).toBeUndefined();
  });

  it("the switches allow what they say", () => {
    expect(judge("/opt/x:/data", { allowExternal: true })).toBeUndefined();
    expect(judge("/srv/work/a:/workspace/a", { allowReserved: true })).toBeUndefined();
  });

  it("not even a workspace is handed in when it holds the state of the gateway", () => {
    expect(judge("/root:/data", { workspaces: ["/root"] })).toBe("source-blocked");
    expect(judge("/srv:/data", { workspaces: ["/srv"], secrets: { homes: [], own: ["/srv/state"] } })).toBe(
      "source-blocked",
    );
    expect(
      judge("/srv/work:/data", { workspaces: ["/srv"], secrets: { homes: [], own: ["/srv/state"] } }),
    ).toBeUndefined();
  });

  it("a source that sandboxed commands could replace by a link is refused", () => {
    expect(judge("/srv/work/a:/data", { writable: ["/srv/work"] })).toBe("source-swappable");
    expect(judge("/srv/work:/data", { writable: ["/srv/work"] })).toBeUndefined();
  });

  it("no text is taken for a bind of something blocked", () => {
    const piece = fc.constantFrom(
      "/",
      "..",
      ".",
      "etc",
      "srv",
      "work",
      ":",
      "ro",
      "root",
      ".ssh",
      "usr",
      "data",
      "workspace",
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 10 }), (pieces) => {
        const bind = parseBind(pieces.join(""));
        if (bind === undefined) return;
        const real = posix.resolve("/", bind.source);
        if (bindProblem(bind, { path: real, kind: "directory" }, { ...rules, allowExternal: true }) !== undefined)
          return;
        for (const blocked of ["/etc", "/root/.ssh", "/proc"]) {
          expect(isWithin(real, blocked) || isWithin(blocked, real)).toBe(false);
        }
        expect(posix.isAbsolute(bind.target) && posix.normalize(bind.target) === bind.target).toBe(true);
      }),
      { numRuns: 5_000 },
    );
  });
});

describe("the options of bubblewrap", () => {
  const layout: Layout = {
    root: {
      ...{ links: [["/bin", "usr/bin"]], shown: ["/usr"], masked: [], emptied: [] },
      proc: { masked: [], emptied: [], closed: ["/proc/sys"] },
    },
    ...{ files: [], readOnlyRoot: true, uid: 1000, gid: 1000 },
    tmpfs: [{ path: "/tmp", bytes: 10 }],
    mounts: [
      { host: "/h/deep", inside: "/tmp/deep/er", mode: "ro", role: "bind" },
      { host: "/h", inside: "/workspace", mode: "rw", role: "private" },
    ],
  };
  const features = { disableUserns: true, sizes: true };

  it("what is mounted inside another comes after it, and the root is closed last", () => {
    const options = bwrapOptions(layout, features, { chdir: "/workspace", env: {}, terminal: false });
    const at = (word: string) => options.indexOf(word);
    expect(at("/tmp")).toBeLessThan(at("/tmp/deep/er"));
    expect(options.slice(-4)).toEqual(["--remount-ro", "/", "--chdir", "/workspace"]);
    expect(at("--proc")).toBeLessThan(at("/proc/sys"));
  });

  it("a command with a terminal stays in its session, another gets one of its own", () => {
    const of = (terminal: boolean) => bwrapOptions(layout, features, { chdir: "/", env: {}, terminal });
    expect(of(false)).toContain("--new-session");
    expect(of(true)).not.toContain("--new-session");
    for (const options of [of(true), of(false)]) {
      expect(options).toEqual(expect.arrayContaining(["--unshare-all", "--clearenv", "--die-with-parent"]));
      expect(options[options.indexOf("--cap-drop") + 1]).toBe("ALL");
    }
  });

  it("a variable is three words, whatever is in it", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.stringMatching(/^[A-Z]{1,8}$/), fc.string()), (env) => {
        const options = bwrapOptions(layout, features, { chdir: "/", env, terminal: false });
        const plain = bwrapOptions(layout, features, { chdir: "/", env: {}, terminal: false });
        expect(options.length - plain.length).toBe(3 * Object.keys(env).length);
        const at = options.indexOf("--clearenv") + 1;
        expect(options.slice(at, at + 3 * Object.keys(env).length)).toEqual(
          Object.entries(env).flatMap(([name, value]) => ["--setenv", name, value]),
        );
      }),
    );
  });
});
