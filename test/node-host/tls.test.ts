/** An encrypted connection: exactly the pinned certificate is trusted, whatever it says of itself. */
import { createHash, X509Certificate } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { type AddressInfo, connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createServer } from "node:tls";
import { afterEach, expect, it } from "vitest";
import { endpointOf } from "../../src/node-host/endpoint.ts";
import { startTestGateway } from "../support/gateway.ts";
import { connected, startTestNode } from "../support/node.ts";
import { makeCertificate, opensslAvailable } from "../support/redis.ts";
import { requireOrSkip } from "../support/require.ts";
import { eventually } from "../support/state.ts";

const parts: { stop(): Promise<void> }[] = [];
afterEach(async () => {
  for (const part of parts.splice(0).reverse()) await part.stop();
});

/** Ends the encryption in front of the gateway, as a proxy does. */
async function proxy(port: number): Promise<{ readonly port: number; readonly fingerprint: string }> {
  const dir = mkdtempSync(join(tmpdir(), "openclaw-exec-tls-"));
  const [key, cert] = [join(dir, "key.pem"), join(dir, "cert.pem")];
  makeCertificate({ key, cert });
  const pem = readFileSync(cert);
  const server = createServer({ key: readFileSync(key), cert: pem }, (socket) => {
    const inside = connect(port, "127.0.0.1");
    socket.pipe(inside).pipe(socket);
    for (const one of [socket, inside]) one.on("error", () => {});
    socket.on("close", () => inside.destroy());
    inside.on("close", () => socket.destroy());
  });
  server.on("tlsClientError", () => {});
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  parts.push({
    async stop() {
      server.close();
      rmSync(dir, { recursive: true, force: true });
    },
  });
  const fingerprint = createHash("sha256").update(new X509Certificate(pem).raw).digest("hex");
  return { port: (server.address() as AddressInfo).port, fingerprint };
}

requireOrSkip("openssl", opensslAvailable)("a node that connects with TLS", () => {
  it("trusts the pinned certificate, no other, and without a pin none that nobody vouches for", async () => {
    const gateway = await startTestGateway({ config: { tools: { exec: { mode: "full" } } } });
    parts.push(gateway);
    const { port, fingerprint } = await proxy(Number(new URL(gateway.url).port));
    const node = await startTestNode(gateway, {
      endpoint: endpointOf({ host: "127.0.0.1", port, tlsFingerprint: fingerprint.match(/../g)?.join(":") ?? "" }, {}),
    });
    parts.push(node);
    await connected(node);
    const answer = await gateway.tool("exec", { command: "echo encrypted", host: "node" });
    expect(JSON.stringify(answer.body)).toContain("encrypted");

    const wrong = await startTestNode(gateway, {
      endpoint: endpointOf({ host: "127.0.0.1", port, tlsFingerprint: "0".repeat(64) }, {}),
    });
    parts.push(wrong);
    expect(await wrong.over).toMatchObject({
      code: "unauthorized",
      message: expect.stringContaining("not the pinned one"),
    });

    const plain = await startTestNode(gateway, { endpoint: endpointOf({ host: "127.0.0.1", port, tls: true }, {}) });
    parts.push(plain);
    await eventually(() => plain.lines.some((line) => /SELF_SIGNED/.test(line)));
    const person = await gateway.person();
    expect((await person.call("nodes.list", {})).nodes).toHaveLength(1);
  });
});
