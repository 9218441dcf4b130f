/** What holds for the sandbox of one agent, out of the defaults and its own settings. */
import { describe, expect, it } from "vitest";
import { type Config, configSchema } from "../../../src/core/config/schema.ts";
import { deniedInSandbox, sandboxSettings, sessionSettings } from "../../../src/core/exec/sandbox-settings.ts";
import { isToolAllowed } from "../../../src/core/exec/tool-policy.ts";

const parse = (config: object) => configSchema.parse(config) as Config;
const config = parse({
  agents: {
    defaults: {
      sandbox: {
        mode: "all",
        docker: { binds: ["/a:/a"], env: { LANG: "C", A: "1" }, memory: "1g" },
        prune: { idleHours: 5 },
      },
    },
    list: [
      {
        id: "ops",
        workspace: "/srv/ops",
        sandbox: { scope: "session", workspaceAccess: "rw", docker: { binds: ["/b:/b"], env: { A: "2" } } },
      },
      { id: "all", sandbox: { scope: "shared", docker: { binds: ["/b:/b"], memory: "2g" }, prune: { idleHours: 1 } } },
    ],
  },
});

describe("the sandbox of an agent", () => {
  it("is its own over the defaults, field by field; binds and variables of both count", () => {
    expect(sandboxSettings(config, "OPS", "/state")).toMatchObject({
      agentId: "ops",
      mode: "all",
      scope: "session",
      workspaceAccess: "rw",
      workspace: "/srv/ops",
      workspaceRoot: "/state/sandboxes",
      docker: { binds: ["/a:/a", "/b:/b"], env: { LANG: "C", A: "2" }, memory: "1g", network: "none" },
      prune: { idleHours: 5, maxAgeDays: 7 },
    });
  });

  it("at scope shared only the defaults say how it is made and when it goes", () => {
    const settings = sandboxSettings(config, "all", "/state");
    expect(settings).toMatchObject({ docker: { binds: ["/a:/a"], memory: "1g" }, prune: { idleHours: 5 } });
    expect(settings.keyOf("docker.memory")).toBe("agents.defaults.sandbox.docker.memory");
  });

  it("knows every agent's workspace, and in which of them sandboxed commands write", () => {
    const { workspaces, writableWorkspaces } = sandboxSettings(config, "all", "/state");
    expect([workspaces, writableWorkspaces]).toEqual([["/srv/ops", "/state/workspace"], ["/srv/ops"]]);
  });

  it("names the key that a value comes from", () => {
    const { keyOf } = sandboxSettings(config, "ops", "/state");
    expect(["docker.binds", "docker.memory", "scope", "mode"].map(keyOf)).toEqual([
      "agents.list[0].sandbox.docker.binds",
      "agents.defaults.sandbox.docker.memory",
      "agents.list[0].sandbox.scope",
      "agents.defaults.sandbox.mode",
    ]);
  });
});

describe("tools of a sandboxed session", () => {
  const gated = parse({
    tools: { sandbox: { tools: { deny: ["process"] } } },
    agents: {
      defaults: { sandbox: { mode: "non-main" } },
      list: [{ id: "a" }, { id: "b", tools: { sandbox: { tools: { allow: ["exec", "process"] } } } }],
    },
  });
  const may = (tool: string, agentId: string, sessionKey: string) =>
    isToolAllowed(tool, sessionSettings(gated, agentId, "/state", sessionKey).toolLayers);

  it.each([
    ["process", "a", "agent:a:web:chat:1", false],
    ["process", "a", "agent:a:main", true],
    ["process", "b", "agent:b:web:chat:1", true],
    ["exec", "b", "agent:b:web:chat:1", true],
    ["apply_patch", "a", "agent:a:web:chat:1", false],
    ["apply_patch", "a", "agent:a:main", true],
  ])("%s for %s in %s: %s", (tool, agentId, sessionKey, allowed) => {
    expect(may(tool, agentId, sessionKey)).toBe(allowed);
  });

  it("the key that denies one is named", () => {
    const of = (agentId: string) => deniedInSandbox(gated, "read", { agentId, sessionKey: `agent:${agentId}:x` });
    expect([of("a"), of("b")]).toEqual([undefined, "agents.list[1].tools.sandbox.tools"]);
  });
});
