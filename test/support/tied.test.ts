import { expect, it } from "vitest";
import { isAlive } from "../core/process/support.ts";
import { startChild } from "./child.ts";
import { eventually } from "./state.ts";

it.runIf(process.platform === "linux")("what a test started is gone when the test process is killed", async () => {
  const child = startChild("tied-child.ts");
  const pid = Number(await child.line((line) => /^\d+$/.test(line)));
  expect(isAlive(pid)).toBe(true);
  await child.kill();
  await eventually(() => !isAlive(pid), 20_000);
});
