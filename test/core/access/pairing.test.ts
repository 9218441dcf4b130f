import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { CODE_TTL_MS, createPairing, type Pairing, type PairingRequest } from "../../../src/core/access/pairing.ts";
import type { JobSpec, Queue } from "../../../src/core/events/queue.ts";
import type { Actor, Route } from "../../../src/core/route.ts";
import { openState } from "../../../src/core/store/open-state.ts";
import type { Store } from "../../../src/core/store/store.ts";
import { redisAvailable, startRedis } from "../../support/redis.ts";
import { requireOrSkip } from "../../support/require.ts";
import { eventually, type ManualClock, manualClock, openTestState, type TestState } from "../../support/state.ts";

const owner = (id: string): Actor => ({ kind: "person", channel: "slack", accountId: "default", id, display: id });
const sam: Actor = { kind: "person", channel: "slack", accountId: "default", id: "U0SAM", display: "sam" };
const dm: Route = { channel: "slack", accountId: "default", chatType: "dm", chatId: "D0SAM" };
const ownersDm: Route = { channel: "slack", accountId: "default", chatType: "dm", chatId: "U0ALICE" };

let clock: ManualClock;
let state: TestState;
let settled: PairingRequest[];

beforeEach(async () => {
  clock = manualClock();
  state = await openTestState(clock);
  settled = [];
});
afterEach(() => state.dispose());

function open(queue: Queue = state.queue, store: Store = state.store): Pairing {
  return createPairing({
    ...{ store, queue, clock },
    newId: () => crypto.randomUUID(),
    askers: () => [ownersDm],
    onDecided: async () => {},
  });
}

async function start(pairing: Pairing): Promise<void> {
  await pairing.start(async (request) => {
    settled.push(request);
  });
}

async function ask(pairing: Pairing, askedBy?: string): Promise<PairingRequest> {
  const asked = await pairing.request(sam, dm, askedBy);
  if (asked.kind !== "created") throw new Error(asked.kind);
  return asked.request;
}

/** Twenty owners answer in every way there is, at one or more gateways: one of them decides. */
async function race(gateways: readonly [Pairing, ...Pairing[]]): Promise<void> {
  for (const one of gateways) await start(one);
  const [pairing] = gateways;
  const { id, code } = await ask(pairing);
  const answers = await Promise.allSettled(
    Array.from({ length: 20 }, (_, at) => {
      const decision = at % 2 === 0 ? "approve" : "dismiss";
      const by = owner(`U0OWNER${at}`);
      const gateway = gateways[at % gateways.length] ?? pairing;
      return at % 3 === 0 ? gateway.decide(code, decision, by) : gateway.answer(id, decision, by);
    }),
  );
  const applied = answers.filter((one) => one.status === "fulfilled" && one.value.applied);
  expect(applied).toHaveLength(1);
  await eventually(() => settled.length === 1);
  const { status, decidedBy } = settled[0] as PairingRequest;
  for (const one of answers) {
    if (one.status === "fulfilled") expect(one.value.request).toMatchObject({ status, decidedBy });
    else expect(one.reason).toMatchObject({ code: "approval-already-decided" });
  }
  expect(await pairing.isPaired("slack", "default", sam.id)).toBe(status === "approved");
  expect(await pairing.list()).toEqual([]);
}

describe("a pairing request", () => {
  it("is decided once by twenty answers at the same time, and all learn the same", () => race([open()]));

  it("expires after an hour by itself, and an answer after that grants nothing", async () => {
    const pairing = open();
    await start(pairing);
    const { id } = await ask(pairing);
    clock.advance(CODE_TTL_MS);
    await expect(pairing.answer(id, "approve", owner("U0ALICE"))).rejects.toMatchObject({ code: "approval-expired" });
    expect(await pairing.isPaired("slack", "default", sam.id)).toBe(false);
    await eventually(() => settled.some((request) => request.status === "expired"));
    expect(await ask(pairing)).toMatchObject({ status: "pending" });
  });

  it("expires also while nobody is there: the next start says so", async () => {
    const before = open();
    await ask(before);
    clock.advance(CODE_TTL_MS + 1);
    await start(open());
    await eventually(() => settled.some((request) => request.status === "expired"));
  });

  it("can be asked again after it was dismissed, with a new code", async () => {
    const pairing = open();
    const first = await ask(pairing);
    await pairing.answer(first.id, "dismiss", owner("U0ALICE"));
    const second = await ask(pairing);
    expect([second.id, second.code]).not.toContain(first.id);
    await expect(pairing.answer(first.id, "approve", owner("U0ALICE"))).rejects.toThrow(/dismissed by U0ALICE/);
    expect(await pairing.isPaired("slack", "default", sam.id)).toBe(false);
  });

  it("answers the message that asked as new when it comes again after a kill, and no other", async () => {
    const pairing = open();
    const first = await ask(pairing, "event-1");
    expect(await pairing.request(sam, dm, "event-1")).toEqual({ kind: "created", request: first });
    expect(await pairing.request(sam, dm, "event-2")).toEqual({ kind: "known", request: first });
  });

  it("keeps a decision over a kill right after it was stored", async () => {
    const killed = new Error("killed");
    const pairing = open({
      ...state.queue,
      add: async <T>(spec: JobSpec<T>) => {
        if (spec.name === "pairing-settled") throw killed;
        return state.queue.add(spec);
      },
    } as Queue);
    const { id } = await ask(pairing);
    await expect(pairing.answer(id, "approve", owner("U0ALICE"))).rejects.toBe(killed);
    const next = open();
    await start(next);
    await eventually(() => settled.length === 1);
    expect(settled).toMatchObject([{ id, status: "approved", decidedBy: { id: "U0ALICE" } }]);
    expect(await next.isPaired("slack", "default", sam.id)).toBe(true);
  });

  it("is not known by another id, and five wrong codes close approving, the right one then too", async () => {
    const pairing = open();
    const { code } = await ask(pairing);
    await expect(pairing.answer(crypto.randomUUID(), "approve", owner("U0ALICE"))).rejects.toMatchObject({
      code: "not-found",
    });
    for (let turn = 0; turn < 5; turn++)
      await expect(pairing.decide("WRONG234", "approve", owner("U0ALICE"))).rejects.toMatchObject({
        code: "not-found",
      });
    await expect(pairing.decide(code, "approve", owner("U0ALICE"))).rejects.toMatchObject({ code: "rate-limited" });
  });
});

requireOrSkip("redis-server", redisAvailable)("a pairing request on Redis", () => {
  it("is decided once by twenty answers at two gateways, and told once", async () => {
    const redis = await startRedis();
    const gateway = () =>
      openState({ stateDir: state.stateDir, clock, newId: () => crypto.randomUUID(), redisUrl: redis.url });
    const states = [await gateway(), await gateway()] as const;
    try {
      const [first, second] = states.map(({ store, queue }) => open(queue, store));
      await race([first as Pairing, second as Pairing]);
      expect(settled).toHaveLength(1);
    } finally {
      for (const one of states) await one.close({ drainMs: 500 });
      await redis.stop();
    }
  });
});
