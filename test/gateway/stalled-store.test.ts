/**
 * channels.md section 12, test 4: a state that answers nothing for seconds. What people press is acknowledged at once, since
 * its token dies; what they say is acknowledged only when it is stored, and then done once.
 */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, expect, it } from "vitest";
import type { Place, ShownMessage } from "../conversation/place.ts";
import { PLATFORMS } from "../conversation/places/places.ts";
import { isRequest } from "../conversation/stage.ts";
import { startTestGateway, type TestGateway } from "../support/gateway.ts";
import { type RedisServer, redisAvailable, startRedis } from "../support/redis.ts";
import { requireOrSkip } from "../support/require.ts";
import { eventually } from "../support/state.ts";

const STALL_MS = 5_000;
const WAIT_MS = 40_000;

requireOrSkip("redis-server", redisAvailable)("a Redis that answers nothing for five seconds", () => {
  let redis: RedisServer | undefined;
  let place: Place | undefined;
  let gateway: TestGateway | undefined;
  afterEach(async () => {
    await gateway?.stop();
    await place?.stop();
    await redis?.stop();
    [redis, place, gateway] = [undefined, undefined, undefined];
  });

  it.each(PLATFORMS)(
    "on %s",
    async (_name, open) => {
      redis = await startRedis({ persist: true });
      place = await open({ redeliverMs: [0, 1_000, 3_000, 10_000] });
      gateway = await startTestGateway({
        redisUrl: redis.url,
        env: place.env,
        config: { tools: { exec: { mode: "ask" } }, ...place.config },
      });
      const at = place;
      const { stateDir } = gateway;
      await at.attach(gateway);
      const posted = () => at.posted(at.owner, at.room);
      const requests = (words: string) =>
        posted().filter((one) => one.text.includes(words) && one.text.includes("Asked by"));
      const request = (words: string): Promise<ShownMessage> =>
        eventually(() => requests(words).find((one) => isRequest(one)), WAIT_MS);
      const file = (name: string) => readFile(join(stateDir, "workspace", name), "utf8").catch(() => "");
      const allow = (card: ShownMessage) => at.press(at.owner, card, card.buttons[0] ?? "");

      // Telegram and Discord connect in the background.
      await eventually(async () => {
        await at.say(at.guest, at.room, "@bot exec echo ran >> pressed").catch(() => {});
        return requests("pressed").length > 0;
      }, WAIT_MS);
      const card = await request("pressed");

      const thaw = await redis.pause();
      const frozenAt = performance.now();
      await allow(card);
      const answeredMs = performance.now() - frozenAt;
      const said = at.say(at.guest, at.room, "@bot exec echo ran >> said").catch(() => {});
      await new Promise((resolve) => setTimeout(resolve, Math.max(0, STALL_MS - (performance.now() - frozenAt))));
      thaw();
      await said;
      process.stderr.write(`${at.name}: a press was answered after ${Math.round(answeredMs)} ms of the stall\n`);
      expect(answeredMs).toBeLessThan(3_000);

      // Slack does not send a press again; its person is told to try again.
      await eventually(async () => {
        const open = requests("pressed").find((one) => isRequest(one));
        if (open) await allow(open);
        return (await file("pressed")) !== "";
      }, WAIT_MS);
      const second = await request("said");
      await allow(second);
      await eventually(async () => (await file("said")) !== "", WAIT_MS);
      await eventually(() => requests("said").every((one) => !isRequest(one)), WAIT_MS);
      expect([await file("pressed"), await file("said")]).toEqual(["ran\n", "ran\n"]);
      expect(requests("said")).toHaveLength(1);
      // An event that is not acknowledged in time is what this is about.
      expect(at.violations().filter((one) => !/not acknowledged|never acknowledged/.test(one))).toEqual([]);
    },
    120_000,
  );
});
