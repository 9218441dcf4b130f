/** The built product with sandboxed sessions, killed and ended: what runs in there goes with it, and people are told. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, it } from "vitest";
import { describeWithBwrap } from "../core/hosts/sandbox/support.ts";
import { type ProductLives, productLives } from "../support/product-lives.ts";
import { eventually } from "../support/state.ts";

let product: ProductLives | undefined;
afterEach(async () => {
  await product?.dispose();
  product = undefined;
});

function alive(mark: string): number {
  return readdirSync("/proc").filter((pid) => {
    if (!/^\d+$/.test(pid) || Number(pid) === process.pid) return false;
    try {
      return readFileSync(`/proc/${pid}/cmdline`, "latin1").includes(mark);
    } catch {
      return false;
    }
  }).length;
}

const files = (): string[] => {
  const root = join(product?.stateDir ?? "", "sandboxes");
  if (!existsSync(root)) return [];
  return readdirSync(root)
    .filter((name) => !name.startsWith("."))
    .flatMap((name) => readdirSync(join(root, name, "workspace")));
};

describeWithBwrap("a gateway with a sandboxed command", () => {
  it("kill -9: nothing of it lives on, the card says so after the restart, and its files are still there", async () => {
    product = await productLives({
      config: { tools: { exec: { mode: "ask" } }, agents: { defaults: { sandbox: { mode: "all" } } } },
    });
    const before = await product.person();
    const mark = `mark${Math.random().toString(36).slice(2)}`;
    const command = `trap '' TERM; echo ran >> ran; sleep 300; echo ${mark}`;
    await before.say(`/exec ${command}`);
    const shown = await before.see("run", (card) => card.command === command && card.state === "running");
    await eventually(() => files().includes("ran"), 20_000);
    await product.kill();
    await before.leave();
    await eventually(() => alive(mark) === 0);
    await product.start();
    const after = await product.person();
    const lost = await after.see("run", (card) => card.runId === shown.runId && card.state === "finished");
    expect(lost).toMatchObject({ outcome: "lost" });
    await after.say("/exec cat ran");
    expect(await after.ended("cat ran")).toMatchObject({ outcome: "completed", tail: "ran\n" });
  });

  it("SIGTERM: the command may clean up, and the gateway is gone within its time", async () => {
    product = await productLives({ config: { agents: { defaults: { sandbox: { mode: "all" } } } } });
    const person = await product.person();
    const mark = `mark${Math.random().toString(36).slice(2)}`;
    const command = `trap 'echo ${mark} > cleaned; exit' TERM; touch up; sleep 300 & wait`;
    await person.say(`/exec ${command}`);
    await eventually(() => files().includes("up"), 20_000);
    expect(await product.terminate()).toBe(0);
    expect(files().sort()).toEqual(["cleaned", "up"]);
    expect(alive(mark)).toBe(0);
  });
});
