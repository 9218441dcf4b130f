import { describe, expect, it } from "vitest";
import { type EndpointFlags, endpointOf, PLAINTEXT_ENV } from "../../src/node-host/endpoint.ts";

const url = (flags: EndpointFlags, env = {}) => {
  try {
    return endpointOf(flags, env).url;
  } catch (error) {
    return (error as Error).message;
  }
};

describe("where a node connects to", () => {
  it.each<[EndpointFlags, string]>([
    [{}, "ws://127.0.0.1:18789/ws/node"],
    [{ host: "localhost", port: 1 }, "ws://localhost:1/ws/node"],
    [{ host: "::1" }, "ws://[::1]:18789/ws/node"],
    [{ host: "[::1]" }, "ws://[::1]:18789/ws/node"],
    [{ host: "192.168.1.20" }, "ws://192.168.1.20:18789/ws/node"],
    [{ host: "10.1.2.3" }, "ws://10.1.2.3:18789/ws/node"],
    [{ host: "172.31.0.1" }, "ws://172.31.0.1:18789/ws/node"],
    [{ host: "169.254.0.9" }, "ws://169.254.0.9:18789/ws/node"],
    [{ host: "100.64.0.1" }, "ws://100.64.0.1:18789/ws/node"],
    [{ host: "fd00::5" }, "ws://[fd00::5]:18789/ws/node"],
    [{ host: "fe80::1" }, "ws://[fe80::1]:18789/ws/node"],
    [{ host: "box.local" }, "ws://box.local:18789/ws/node"],
    [{ host: "gw.example.org", tls: true }, "wss://gw.example.org:18789/ws/node"],
    [{ host: "gw.example.org", port: 443 }, "wss://gw.example.org:443/ws/node"],
    [{ host: "gw.example.org", tlsFingerprint: `sha256:${"AB:".repeat(31)}AB` }, "wss://gw.example.org:18789/ws/node"],
    [{ contextPath: "/gw/" }, "ws://127.0.0.1:18789/gw/ws/node"],
    [{ contextPath: "a//b" }, "ws://127.0.0.1:18789/a/b/ws/node"],
  ])("%j", (flags, expected) => {
    expect(url(flags)).toBe(expected);
  });

  it.each<EndpointFlags>([
    { host: "203.0.113.7" },
    { host: "172.32.0.1" },
    { host: "100.128.0.1" },
    { host: "11.0.0.1" },
    { host: "2001:db8::1" },
    { host: "gw.example.org" },
    { host: "local" },
    { host: "127.0.0.1.example.org" },
    { host: "10.0.0.1.example.org" },
    { host: "gw.example.org", port: 443, tls: false },
  ])("%j is not connected to without encryption, unless told that something else encrypts it", (flags) => {
    expect(url(flags)).toMatch(/^Refusing an unencrypted connection/);
    expect(url(flags, { [PLAINTEXT_ENV]: "1" })).toMatch(/^ws:\/\//);
    expect(url(flags, { [PLAINTEXT_ENV]: "yes" })).toMatch(/^Refusing/);
  });

  it.each<EndpointFlags>([
    { host: "a b" },
    { host: "user@10.0.0.1" },
    { host: "10.0.0.1/x" },
    { host: "" },
    { host: "x", tls: true, tlsFingerprint: "12" },
    { tls: false, tlsFingerprint: "0".repeat(64) },
  ])("%j is refused", (flags) => {
    expect(url(flags)).not.toMatch(/^wss?:/);
  });
});
