import { describe, expect, it } from "vitest";
import { loginPath } from "../../src/core/exec/login-path.ts";
import { SearchPath } from "../../src/gateway/search-path.ts";

const silent = () => {};

describe("where commands are looked up", () => {
  it("the login shell's folders come first, then the gateway's own, each once; nothing before it is known", async () => {
    const env = { PATH: "/own/bin:/usr/bin:/own/bin", SHELL: "/bin/sh" };
    const login = [...new Set(await loginPath({ env, onWarning: silent }))];
    expect(login).not.toEqual([]);
    const path = new SearchPath(env, silent);
    expect(path.folders()).toEqual([]);
    await path.ready();
    expect(path.folders().slice(0, login.length)).toEqual(login);
    expect(path.folders().filter((folder) => folder === "/own/bin")).toHaveLength(1);
    expect(new Set(path.folders()).size).toBe(path.folders().length);
  });

  it("without an answer the gateway's own stays, and without that the system's", async () => {
    const off = { OPENCLAW_SHELL_ENV_TIMEOUT_MS: "0" };
    const own = new SearchPath({ ...off, PATH: "/own/bin:/usr/bin" }, silent);
    await own.ready();
    expect(own.folders()).toEqual(["/own/bin", "/usr/bin"]);
    const none = new SearchPath(off, silent);
    await none.ready();
    expect(none.folders()).toEqual(expect.arrayContaining(["/usr/local/bin", "/usr/bin", "/bin"]));
  });
});
