import { stripVTControlCharacters } from "node:util";
import { describe, expect, test } from "vitest";
import { bindAddress } from "../../src/gateway/bind.ts";
import { atEndOfTurn, createLogger } from "../../src/gateway/logging.ts";

function logged(pretty: boolean, level = "info") {
  const lines: string[] = [];
  const logger = createLogger({ level, pretty, destination: { write: (line) => void lines.push(line) } });
  return { logger, lines };
}

describe("the log", () => {
  test("is one JSON object a line, with the level as a word", () => {
    const { logger, lines } = logged(false);
    logger.info({ port: 18789 }, "listening");
    expect(JSON.parse(lines[0] as string)).toEqual({
      level: "info",
      time: expect.stringMatching(/^\d{4}-.*Z$/),
      port: 18789,
      msg: "listening",
    });
  });

  test.each(["token", "authorization", "password", "secret", "apiKey", "cookie"])("masks %s at both levels", (name) => {
    const { logger, lines } = logged(false);
    logger.info({ [name]: "hunter2", request: { [name]: "hunter2" } }, "x");
    expect(lines[0]).not.toContain("hunter2");
    expect(lines[0]).toContain("[masked]");
  });

  test("says what an error says, not what a library hung on it", () => {
    const { logger, lines } = logged(false);
    const cause = Object.assign(new Error("refused"), { code: "ECONNREFUSED", args: ["hunter2"] });
    const error = Object.assign(new Error("outer", { cause }), { command: { name: "auth", args: ["hunter2"] } });
    logger.error({ err: error }, "failed");
    expect(JSON.parse(lines[0] as string)).toMatchObject({
      err: { type: "Error", message: "outer", stack: expect.any(String), cause: { code: "ECONNREFUSED" } },
    });
    expect(lines[0]).not.toContain("hunter2");
  });

  test("is a short line for people, with the stack of an error below", () => {
    const { logger, lines } = logged(true);
    logger.warn({ address: "10.0.0.7", words: "two words" }, "refused");
    expect(stripVTControlCharacters(lines[0] as string)).toMatch(
      /^\d\d:\d\d:\d\d warn {2}refused address=10\.0\.0\.7 words="two words"\n$/,
    );
    logger.error({ err: new Error("broken") }, "failed");
    expect(lines[1]).toMatch(/Error: broken\n\s+at /);
  });

  test("is written once a turn, in order, and what waits is written when asked to", async () => {
    const written: string[] = [];
    const log = atEndOfTurn((text) => written.push(text));
    for (const line of ["1\n", "2\n"]) log.write(line);
    expect(written).toEqual([]);
    await new Promise((resolve) => setImmediate(resolve));
    log.write("3\n");
    log.flush();
    await new Promise((resolve) => setImmediate(resolve));
    expect(written).toEqual(["1\n2\n", "3\n"]);
  });

  test("leaves out what is below its level", () => {
    const { logger, lines } = logged(false, "warn");
    logger.info("x");
    expect(lines).toEqual([]);
  });
});

describe("gateway.bind", () => {
  const address = (family: "IPv4" | "IPv6", value: string) => ({
    address: value,
    family,
    netmask: "",
    mac: "",
    internal: false,
    cidr: null,
    ...(family === "IPv6" ? { scopeid: 0 } : {}),
  });
  const interfaces = {
    eth0: [address("IPv4", "192.168.1.5")],
    tailscale0: [address("IPv6", "fd7a::1"), address("IPv4", "100.101.102.103")],
  } as Parameters<typeof bindAddress>[1];

  test.each([
    ["loopback", "127.0.0.1"],
    ["auto", "127.0.0.1"],
    ["lan", "0.0.0.0"],
    ["tailnet", "100.101.102.103"],
  ] as const)("%s is %s", (bind, expected) => expect(bindAddress({ bind }, interfaces)).toBe(expected));

  test("custom is the given address", () => {
    expect(bindAddress({ bind: "custom", host: "192.168.1.5" }, interfaces)).toBe("192.168.1.5");
  });

  test("tailnet without Tailscale is refused, never widened", () => {
    expect(() => bindAddress({ bind: "tailnet" }, { eth0: interfaces?.eth0 })).toThrowError(
      expect.objectContaining({ code: "bind-refused" }),
    );
  });
});
