import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { newestWithin, Transcripts, type TurnRecord, TurnTaken } from "../../src/agents/transcript.ts";
import { manualClock, openTestState, type TestState } from "../support/state.ts";

const KEY = "agent:main:slack:channel:C1";
const turn = (seq: number, epoch = 1, more: Partial<TurnRecord> = {}): TurnRecord => ({
  seq,
  id: `${KEY}/${epoch}.${seq}`,
  epoch,
  agentId: "main",
  state: "running",
  trigger: "message",
  startedAtMs: seq,
  starts: 1,
  routes: [],
  messages: [{ role: "user", content: `message ${seq}` }],
  took: { items: [], events: [] },
  opening: 1,
  dispatched: [],
  tasks: [],
  ...more,
});

let state: TestState;
let transcripts: Transcripts;
beforeEach(async () => {
  state = await openTestState(manualClock());
  transcripts = new Transcripts(state.store);
});
afterEach(() => state.dispose());

async function happen(): Promise<TurnRecord> {
  const { value, version } = await transcripts.begin(KEY, turn);
  await transcripts.save(KEY, version, { ...value, state: "done" });
  await transcripts.end(KEY, value.seq, true);
  return value;
}
const seqs = async (turns: number, chars = 10_000) =>
  (await transcripts.history(KEY, { turns, chars })).map((one) => one.seq);

describe("what a session remembers", () => {
  it("the newest whole turns within both bounds; the others are deleted", async () => {
    for (let n = 0; n < 5; n++) await happen();
    expect(await seqs(3)).toEqual([3, 4, 5]);
    expect(await seqs(10)).toEqual([3, 4, 5]);
    const one = JSON.stringify(turn(1).messages).length;
    expect(await seqs(10, one * 2)).toEqual([4, 5]);
    expect(await seqs(0)).toEqual([]);
  });

  it("nothing from before it was forgotten, also of a turn that was going on then", async () => {
    await happen();
    const going = await transcripts.begin(KEY, turn);
    expect(await transcripts.forget(KEY)).toBe(true);
    await transcripts.save(KEY, going.version, { ...going.value, state: "done" });
    await transcripts.end(KEY, going.value.seq, true);
    expect(await seqs(10)).toEqual([]);
    const next = await happen();
    expect(next).toMatchObject({ seq: 3, epoch: 2 });
    expect(await seqs(10)).toEqual([3]);
  });

  it("a session's turns only, although another's name begins with its own", async () => {
    await happen();
    const { value, version } = await transcripts.begin(`${KEY}:thread:1`, turn);
    await transcripts.save(`${KEY}:thread:1`, version, { ...value, state: "done" });
    await transcripts.end(`${KEY}:thread:1`, 1, true);
    expect(await seqs(10)).toEqual([1]);
    expect(await transcripts.runningSessions()).toEqual([]);
  });

  it("a turn that another gateway has taken over is not written any more", async () => {
    const { value, version } = await transcripts.begin(KEY, turn);
    const found = await transcripts.running(KEY);
    if (!found) throw new Error("it is not running");
    await transcripts.save(KEY, found.version, { ...value, starts: 2 });
    await expect(transcripts.save(KEY, version, value)).rejects.toBeInstanceOf(TurnTaken);
  });

  it("a turn larger than everything allowed is left out, and so is what came before it", () => {
    const huge = turn(2, 1, { messages: [{ role: "user", content: "x".repeat(9_000) }] });
    expect(newestWithin([turn(1), huge, turn(3)], { turns: 10, chars: 1_000 }).map((one) => one.seq)).toEqual([3]);
  });
});
