/** What docs/operations.md says of backups: a copied state directory is the whole gateway. */
import { cp, mkdtemp, readdir, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { type ProductLives, productLives } from "../support/product-lives.ts";
import { eventually } from "../support/state.ts";

const ASK = { tools: { exec: { mode: "ask" } } };
let product: ProductLives | undefined;
let copy: string | undefined;

afterEach(async () => {
  await product?.dispose();
  if (copy) await rm(copy, { recursive: true, force: true });
});

describe("a copy of the state directory", () => {
  it.each([
    ["made while the gateway was stopped", "stopped"],
    ["made of what a crash left, as a snapshot of the disk is", "killed"],
  ])("%s brings back rules, requests, jobs, history and the audit trail", async (_, how) => {
    product = await productLives({ config: ASK });
    const before = await product.person();
    await before.say("/exec echo kept");
    await before.decide(await before.request("echo kept"), "allow-always");
    await before.ended("echo kept");
    await before.say("/exec echo waiting");
    const waiting = await before.request("echo waiting");
    await before.call("cron.add", { every: "1h", command: "true", name: "hourly" });
    const { head } = await before.call("audit.read", { limit: 1 });
    if (how === "stopped") await product.terminate();
    else await product.kill();

    const { stateDir } = product;
    copy = await mkdtemp(join(tmpdir(), "openclaw-exec-backup-"));
    await cp(stateDir, copy, { recursive: true, preserveTimestamps: true });
    for (const name of await readdir(stateDir)) await rm(join(stateDir, name), { recursive: true });
    await cp(copy, stateDir, { recursive: true, preserveTimestamps: true });
    await product.start();

    const after = await product.person();
    await after.see("approval", (card) => card.approvalId === waiting.approvalId && card.state === "pending");
    expect(after.screen().some((card) => card.kind === "said" && card.text === "/exec echo kept")).toBe(true);
    expect((await after.call("cron.list", {})).jobs).toMatchObject([{ name: "hourly" }]);
    await after.say("/exec echo kept");
    await eventually(
      () => after.screen().filter((card) => card.kind === "run" && card.command === "echo kept").length === 2,
    );
    const page = await after.call("audit.read", { after: (head?.seq ?? 0) - 1, limit: 1 });
    expect(page.entries[0]?.seq).toBe(head?.seq);
    expect((await stat(join(stateDir, "gateway-token"))).mode & 0o777).toBe(0o600);
  });
});
