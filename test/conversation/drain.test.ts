/** A gateway that is told to stop while people go on: what they say and decide then counts, in the next life. */
import { describe, expect, it } from "vitest";
import { eventually } from "../support/state.ts";
import { PLATFORMS } from "./places/places.ts";
import { stage, WAIT_MS } from "./stage.ts";

describe.each(PLATFORMS)("while the gateway is stopping, on %s", (name, open) => {
  const on = stage(open);

  // Slack over HTTP has nobody to post to any more; it comes again by itself.
  it.skipIf(name === "slack over HTTP")(
    "a command and a decision are kept for the next start, and each runs once",
    async () => {
      const { place, gateway } = on;
      const holds = on.freshFile("holds");
      const decided = on.freshFile("decided");
      const said = on.freshFile("said");
      await place.command(place.owner, place.room, `/exec echo run >> ${decided}`);
      const card = await on.request(place.room, decided);
      await place.say(place.owner, place.room, "@bot exec security=full ask=off");
      await on.shows(place.room, ["Set for this conversation", /ask\W+off/]);
      // It does not go when it is asked to, so the stop takes its time.
      await place.command(place.owner, place.room, `/exec trap '' TERM; touch ${holds}; while :; do sleep 0.1; done`);
      await eventually(async () => (await on.workspaceFile(holds)) !== undefined, WAIT_MS);

      const stopped = gateway.gateway.stop({ drainMs: 3_000, reason: "told to stop" });
      await on.press(card, "once");
      await place.command(place.owner, place.room, `/exec echo run >> ${said}`);
      await stopped;
      expect(await on.workspaceFile(decided)).toBeUndefined();
      expect(await on.workspaceFile(said)).toBeUndefined();

      await on.start();
      await eventually(async () => (await on.workspaceFile(said)) !== undefined, WAIT_MS);
      await eventually(async () => (await on.workspaceFile(decided)) !== undefined, WAIT_MS);
      await on.shows(place.room, [said, /exit code 0/]);
      await on.shows(place.room, [decided, /exit code 0/]);
      expect(await on.workspaceFile(said)).toBe("run\n");
      expect(await on.workspaceFile(decided)).toBe("run\n");
      expect(place.screen(place.owner, place.room)).not.toMatch(/gateway is stopping/i);
    },
    60_000,
  );
});
