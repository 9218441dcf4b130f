import { describe, expect, it } from "vitest";
import { ExecError } from "../../../src/core/errors.ts";
import {
  channelMarks,
  checkEnvOverrides,
  type Env,
  hostEnv,
  inheritedEnv,
  plainEnv,
  wrapperOverrides,
} from "../../../src/core/exec/env.ts";
import { BLOCKED_EVERYWHERE, OVERRIDE_ONLY, REFUSED_AND_STRIPPED } from "../../../src/core/exec/env-policy.ts";
import type { EffectiveHost } from "../../../src/core/policy/types.ts";

function refusal(overrides: Env, host: EffectiveHost = "gateway"): ExecError | undefined {
  try {
    checkEnvOverrides(overrides, host);
    return undefined;
  } catch (error) {
    if (error instanceof ExecError) return error;
    throw error;
  }
}

const BASE = { path: ["/usr/bin", "/bin"], overrides: {}, marks: {}, pty: false };

describe("what a call may set", () => {
  it.each(["PATH", "Path", "LD_PRELOAD", "ld_audit", "DYLD_INSERT_LIBRARIES", "BASH_FUNC_x()"])(
    "%s is refused whatever its case (env-path-override-refused)",
    (name) => {
      expect(refusal({ [name]: "x" })).toMatchObject({ code: "env-forbidden", details: { keys: [name] } });
    },
  );

  it.each(
    "GIT_SSH_COMMAND GIT_EXTERNAL_DIFF GIT_EXEC_PATH GIT_EDITOR BROWSER NODE_OPTIONS PYTHONSTARTUP PERL5OPT RUBYOPT BASH_ENV ENV PS4 PROMPT_COMMAND IFS BASHOPTS JAVA_TOOL_OPTIONS GLIBC_TUNABLES DOCKER_HOST GIT_CONFIG_COUNT NPM_CONFIG_REGISTRY CARGO_TARGET_X86_64_LINKER HOME MANPAGER REDIS_URL SLACK_BOT_TOKEN".split(
      " ",
    ),
  )("%s is refused: it can change what runs (env-indirect-exec-keys)", (name) => {
    expect(refusal({ [name]: "payload" })?.code).toBe("env-forbidden");
    expect(refusal({ [name]: "payload" }, "node")?.code).toBe("env-forbidden");
  });

  it("a pager can be switched off, not chosen", () => {
    expect(refusal({ PAGER: "cat", GIT_PAGER: "" })).toBeUndefined();
    expect(refusal({ PAGER: "less" })?.code).toBe("env-forbidden");
    const env = hostEnv({ ...BASE, inherited: {}, overrides: { PAGER: "cat" } });
    expect(env.PAGER).toBe("");
  });

  it("our own marks are never taken from a call, on any host (channel-context-shape)", () => {
    for (const host of ["gateway", "node", "sandbox"] as const) {
      expect(refusal({ OPENCLAW_CHANNEL_CONTEXT: "{}" }, host)?.code).toBe("env-forbidden");
      expect(refusal({ openclaw_shell: "x" }, host)?.code).toBe("env-forbidden");
    }
  });

  it("names that no program could be given are refused as such, all of them named (env-path-override-refused, exec.md 15.15)", () => {
    const error = refusal({ "": "x", "A=B": "x", "LD_AUDIT\0": "x", "a-b": "x", GOOD: "x\0y" });
    expect(error?.code).toBe("env-invalid");
    expect(error?.message).toContain('"", "A=B", "LD_AUDIT\\u0000", "a-b", GOOD (its value has a NUL character)');
    expect(refusal({ BIG: "x".repeat(200_000) })?.message).toContain("too long");
  });

  it("several forbidden ones are listed in order, and PATH comes with advice", () => {
    const error = refusal({ PATH: "/evil", LD_PRELOAD: "x", GOOD: "1" });
    expect(error?.message).toContain("the variables LD_PRELOAD, PATH are forbidden");
    expect(error?.message).toContain("pathPrepend");
  });

  it("ordinary variables are taken, and a sandbox takes a PATH of its own", () => {
    expect(refusal({ NODE_ENV: "test", MY_VAR: "a=b\nc", "ProgramFiles(x86)": "x" })).toBeUndefined();
    expect(refusal({ PATH: "/opt/bin", LD_LIBRARY_PATH: "/opt/lib" }, "sandbox")).toBeUndefined();
  });
});

describe("what is inherited", () => {
  it("secrets of the gateway and everything that redirects programs stay behind", () => {
    const kept = inheritedEnv(
      {
        HOME: "/home/u",
        FOO: "bar",
        HTTPS_PROXY: "http://p",
        SLACK_BOT_TOKEN: "xoxb",
        DISCORD_TOKEN: "d",
        TELEGRAM_BOT_TOKEN: "t",
        OPENCLAW_GATEWAY_TOKEN: "g",
        OPENCLAW_STATE_DIR: "/s",
        REDIS_URL: "redis://:pw@h",
        OPENAI_API_KEY: "sk",
        AWS_SECRET_ACCESS_KEY: "a",
        NODE_OPTIONS: "--require /evil.js",
        LD_PRELOAD: "/evil.so",
        "BASH_FUNC_ls%%": "() { evil; }",
        EDITOR: "vi",
        MODEL_KEY: "named by the config",
        EMPTY: undefined,
      },
      ["MODEL_KEY"],
    );
    expect(kept).toEqual({ HOME: "/home/u", FOO: "bar", HTTPS_PROXY: "http://p", OPENCLAW_STATE_DIR: "/s" });
  });

  it("git transports that the operator narrowed stay narrow", () => {
    expect(inheritedEnv({ GIT_ALLOW_PROTOCOL: "https:ext:SSH", GIT_PROTOCOL_FROM_USER: "1" })).toEqual({
      GIT_ALLOW_PROTOCOL: "https:SSH",
      GIT_PROTOCOL_FROM_USER: "0",
    });
  });

  it("the lists have the sizes of the policy they were taken from", () => {
    expect([BLOCKED_EVERYWHERE.size, OVERRIDE_ONLY.size, REFUSED_AND_STRIPPED.size]).toEqual([110, 42, 99]);
  });
});

describe("the environment of a command", () => {
  it("marks win over everything, PATH is ours, and nothing waits in a pager or editor (interactive-pager-hang)", () => {
    const env = hostEnv({
      ...BASE,
      inherited: { Path: "/old", FOO: "inherited", NVM_DIR: "/old" },
      startup: { NVM_DIR: "/nvm" },
      overrides: { FOO: "call" },
      marks: { OPENCLAW_CHANNEL_CONTEXT: "{}" },
    });
    expect(env).toEqual({
      FOO: "call",
      NVM_DIR: "/nvm",
      PATH: "/usr/bin:/bin",
      PAGER: "cat",
      GIT_PAGER: "cat",
      GIT_EDITOR: "true",
      OPENCLAW_SHELL: "exec",
      OPENCLAW_CLI: "1",
      OPENCLAW_CHANNEL_CONTEXT: "{}",
    });
  });

  it("the operator's own pager is kept, and a terminal keeps its editor (interactive-pager-hang)", () => {
    const env = hostEnv({ ...BASE, inherited: { PAGER: "less" }, pty: true });
    expect(env.PAGER).toBe("less");
    expect(env.GIT_EDITOR).toBeUndefined();
  });

  it("a command allowed without a person gets a short list, not what happens to be there", () => {
    const env = plainEnv({
      ...BASE,
      inherited: {
        HOME: "/h",
        LC_ALL: "C",
        FOO: "bar",
        CDPATH: "/x",
        GIT_DIR: "/y",
        RIPGREP_CONFIG_PATH: "/z",
        TAR_OPTIONS: "--x",
        PAGER: "less",
      },
      overrides: { MY: "1" },
    });
    expect(env).toMatchObject({
      HOME: "/h",
      LC_ALL: "C",
      MY: "1",
      PAGER: "cat",
      GIT_CONFIG_NOSYSTEM: "1",
      GIT_TERMINAL_PROMPT: "0",
      EDITOR: "true",
    });
    for (const name of ["FOO", "CDPATH", "GIT_DIR", "RIPGREP_CONFIG_PATH", "TAR_OPTIONS"])
      expect(env[name]).toBeUndefined();
  });

  it("only harmless overrides reach a shell wrapper on a node (env-indirect-exec-keys)", () => {
    expect(wrapperOverrides({ TERM: "x", LC_TIME: "C", FOO: "1", NO_COLOR: "1", NODE_ENV: "test" })).toEqual({
      TERM: "x",
      LC_TIME: "C",
      NO_COLOR: "1",
    });
  });
});

describe("OPENCLAW_CHANNEL_CONTEXT (channel-context-shape)", () => {
  it.each([
    [{ senderId: "U1", chatId: "C1" }, '{"sender":{"id":"U1"},"chat":{"id":"C1"}}'],
    [{ senderId: " U1 " }, '{"sender":{"id":"U1"}}'],
    [{ chatId: "-100" }, '{"chat":{"id":"-100"}}'],
    [{ senderId: 'a"b\nc', chatId: "" }, '{"sender":{"id":"a\\"b\\nc"}}'],
    [{ senderId: " ", chatId: undefined }, undefined],
  ])("%j is %s", (context, expected) => {
    const marks = channelMarks(context);
    expect(marks.OPENCLAW_CHANNEL_CONTEXT).toBe(expected);
    expect(Object.keys(marks)).toHaveLength(expected === undefined ? 0 : 1);
  });
});
