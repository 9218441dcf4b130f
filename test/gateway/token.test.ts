import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { bearerToken } from "../../src/gateway/auth.ts";
import { checkHost, checkOrigin, limiterKey, plainAddress } from "../../src/gateway/peer.ts";
import { chatLink, findGatewayToken, loadGatewayToken, TOKEN_FILE } from "../../src/gateway/token.ts";

let stateDir: string;

beforeEach(() => {
  stateDir = mkdtempSync(join(tmpdir(), "token-"));
});

afterEach(() => rmSync(stateDir, { recursive: true, force: true }));

const path = () => join(stateDir, TOKEN_FILE);

describe("the token", () => {
  test("is made once, private and long, and found again", async () => {
    const made = await loadGatewayToken({ stateDir, env: {} });
    expect(made).toMatchObject({ from: "file", created: true });
    expect(Buffer.from(made.token, "base64url")).toHaveLength(32);
    expect(statSync(path()).mode & 0o777).toBe(0o600);
    expect(await loadGatewayToken({ stateDir, env: {} })).toEqual({ ...made, created: false });
  });

  test("is one and the same for processes that start at the same time", async () => {
    const all = await Promise.all(Array.from({ length: 8 }, () => loadGatewayToken({ stateDir, env: {} })));
    expect(new Set(all.map(({ token }) => token)).size).toBe(1);
    expect(all.filter(({ created }) => created)).toHaveLength(1);
  });

  test("comes from the configuration, then the environment, then the file", async () => {
    writeFileSync(path(), "from-file\n", { mode: 0o600 });
    const env = { OPENCLAW_GATEWAY_TOKEN: "from-env" };
    expect((await loadGatewayToken({ stateDir, configured: "from-config", env })).token).toBe("from-config");
    expect((await loadGatewayToken({ stateDir, env })).token).toBe("from-env");
    expect((await loadGatewayToken({ stateDir, env: {} })).token).toBe("from-file");
  });

  test("a file that others can read, a link, or one that holds no token is refused with what to do", async () => {
    writeFileSync(path(), "secret-token\n", { mode: 0o600 });
    chmodSync(path(), 0o644);
    await expect(loadGatewayToken({ stateDir, env: {} })).rejects.toThrow("chmod 600");
    chmodSync(path(), 0o600);
    writeFileSync(path(), "two words\n");
    await expect(loadGatewayToken({ stateDir, env: {} })).rejects.toThrow("not a token");
    writeFileSync(path(), "\n");
    await expect(loadGatewayToken({ stateDir, env: {} })).rejects.toThrow("empty");
    rmSync(path());
    symlinkSync("/etc/hostname", path());
    await expect(loadGatewayToken({ stateDir, env: {} })).rejects.toThrow("symbolic link");
  });

  test("clients never make one", async () => {
    expect(await findGatewayToken({ stateDir, env: {} })).toBeUndefined();
    expect(() => readFileSync(path())).toThrow();
  });

  test("stands in the link's fragment, which no server sees", () => {
    expect(chatLink("http://127.0.0.1:18789", "a+b/c")).toBe("http://127.0.0.1:18789/#token=a%2Bb%2Fc");
  });

  test.each([
    ["Bearer abc", "abc"],
    ["bearer  abc ", "abc"],
    ["Basic abc", undefined],
    ["Bearer", undefined],
    ["Bearer a b", undefined],
    [undefined, undefined],
  ])("%j carries %j", (header, token) => {
    expect(bearerToken(header)).toBe(token);
  });
});

describe("peers", () => {
  test.each([
    ["10.0.0.7", "10.0.0.7"],
    ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"],
    ["2001:db8::1", "2001:db8:0:0::/64"],
    ["::1", "0:0:0:0::/64"],
  ])("%s is counted as %s", (address, key) => {
    expect(limiterKey(address)).toBe(key);
  });

  test("an IPv4 address in IPv6 clothes is the same address", () => {
    expect(plainAddress("::ffff:10.0.0.7")).toBe("10.0.0.7");
  });

  const rules = { allowedOrigins: ["https://ops.example.org"], allowedHosts: ["box.local"] };

  test.each(["localhost:1", "127.0.0.1", "127.9.9.9:80", "[::1]", "10.0.0.1:80", "box.local:18789", "ops.example.org"])(
    "Host %s is ours",
    (host) => expect(() => checkHost(host, rules)).not.toThrow(),
  );

  test.each([
    undefined,
    "",
    "evil.example",
    "127.0.0.1.evil.example",
    "localhost.evil.example",
    "a@127.0.0.1",
    "127.0.0.1/x",
    "box.local.",
    "[::1].x",
  ])("Host %j is not ours", (host) =>
    expect(() => checkHost(host, rules)).toThrowError(expect.objectContaining({ code: "not-authorized" })),
  );

  test.each([
    ["http://127.0.0.1:18789", true],
    ["https://ops.example.org", true],
    ["http://127.0.0.1:9999", false],
    ["http://127.0.0.1", false],
    ["https://ops.example.org.evil.example", false],
    ["null", false],
    ["", false],
  ])("Origin %s may talk: %s", (origin, allowed) => {
    const check = () => checkOrigin({ host: "127.0.0.1:18789", origin }, rules);
    if (allowed) expect(check).not.toThrow();
    else expect(check).toThrowError(expect.objectContaining({ code: "not-authorized" }));
  });

  test("no Origin is a program, judged by its token", () => {
    expect(() => checkOrigin({ host: "127.0.0.1:18789" }, rules)).not.toThrow();
  });
});
