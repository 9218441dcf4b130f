import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { ExecConfig } from "../../../src/core/config/schema.ts";
import { type AnnouncementsOptions, createAnnouncements } from "../../../src/core/events/announcements.ts";
import { createSystemEvents, type SystemEvents } from "../../../src/core/events/system-events.ts";
import { manualClock, openTestState, type TestState } from "../../support/state.ts";
import { endedRun } from "./ended-run.ts";

const SESSION = "agent:main:main";
const ENDED = endedRun({ tail: "made", totalChars: 4, backgrounded: true });

/** A run without a card and without an approval reaches none of these. */
function unreached<T extends object>(what: string): T {
  return new Proxy({} as T, {
    get() {
      throw new Error(`${what} is not asked for an agent's run`);
    },
  });
}

describe("the end of an agent's run and a poll that shows it (wake-poll-consumes)", () => {
  let state: TestState;
  let events: SystemEvents;
  const wakes: string[] = [];
  beforeEach(async () => {
    state = await openTestState(manualClock());
    events = createSystemEvents(state.store);
    wakes.length = 0;
  });
  afterEach(() => state.dispose());

  function announcements(more: Pick<AnnouncementsOptions, "endSeen"> & { readonly events?: SystemEvents }) {
    return createAnnouncements({
      outputFile: async () => undefined,
      clock: manualClock(),
      approvals: unreached("approvals"),
      deliveries: unreached("deliveries"),
      events,
      wake: async (_target, reason) => {
        wakes.push(reason);
      },
      wakeOnDenial: () => false,
      execConfig: () => ({ notifyOnExit: true, notifyOnExitEmptySuccess: false }) as ExecConfig,
      approvalTargets: () => ({ cards: [] }),
      responsible: () => [],
      operatorRoute: { channel: "web", accountId: "default", chatType: "dm", chatId: "main" },
      onError: (error) => {
        throw error;
      },
      ...more,
    });
  }

  it("nobody has looked: one event and one wake, also when it is handed on twice", async () => {
    const told = announcements({ endSeen: () => "no" });
    await told.finished(ENDED);
    await told.finished(ENDED);
    expect(await events.pending(SESSION)).toMatchObject([{ text: "Exec completed (quiet-ot, code 0) :: made" }]);
    expect(new Set(wakes)).toEqual(new Set(["exec-event"]));
  });

  it("handed on again after a turn has taken it: nobody is told twice", async () => {
    const told = announcements({ endSeen: () => "no" });
    await told.finished({ ...ENDED, endedAtMs: 5_000 });
    await events.remove(SESSION, "exec:quiet-otter");
    await told.finished({ ...ENDED, endedAtMs: 5_000 });
    expect(await events.pending(SESSION)).toEqual([]);
  });

  it.each([
    [{ notifyOnExit: false, notifyOnExitEmptySuccess: false }, ENDED, 0],
    [{ notifyOnExit: true, notifyOnExitEmptySuccess: true }, { ...ENDED, tail: "" }, 1],
    [{ notifyOnExit: true, notifyOnExitEmptySuccess: false }, { ...ENDED, tail: "" }, 0],
  ])("what was configured when it started counts: %j", async (notify, ended, count) => {
    await announcements({ endSeen: () => "no" }).finished({ ...ended, notify });
    expect(await events.pending(SESSION)).toHaveLength(count);
  });

  it("polled while the end was being recorded: no event and no wake", async () => {
    await announcements({ endSeen: () => "observed" }).finished(ENDED);
    await announcements({ endSeen: () => "no" }).finished({ ...ENDED, observed: true });
    expect(await events.pending(SESSION)).toEqual([]);
    expect(wakes).toEqual([]);
  });

  it("polled while the event was being written: it is taken back, and nobody is woken", async () => {
    let polled = false;
    const written: SystemEvents = {
      ...events,
      async add(sessionKey, event) {
        // The poll's own removal comes before there is anything to remove.
        polled = true;
        await events.remove(sessionKey, event.contextKey);
        await events.add(sessionKey, event);
      },
    };
    await announcements({ endSeen: () => (polled ? "acknowledged" : "no"), events: written }).finished(ENDED);
    expect(await events.pending(SESSION)).toEqual([]);
    expect(wakes).toEqual([]);
  });
});
