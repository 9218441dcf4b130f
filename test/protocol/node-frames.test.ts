import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { NodeRunEnd, RunOrder, RunReport } from "../../src/core/hosts/node/types.ts";
import { phrase } from "../../src/core/words/phrase.ts";
import {
  fromNode,
  MAX_OUTPUT_PIECE_BYTES,
  orderFrame,
  orderOf,
  parsePrepared,
  reportOf,
  reportText,
  toNode,
} from "../../src/protocol/node-frames.ts";

const runId = fc.uuid();
const seq = fc.nat();
const orders: fc.Arbitrary<RunOrder> = fc.oneof(
  fc.record({
    kind: fc.constant("input" as const),
    runId,
    id: seq,
    data: fc.uint8Array({ maxLength: 2_000 }).map((bytes) => Buffer.from(bytes).toString("base64")),
    end: fc.boolean(),
  }),
  fc.record({
    kind: fc.constant("resize" as const),
    runId,
    cols: fc.integer({ min: 1 }),
    rows: fc.integer({ min: 1 }),
  }),
  fc.record({
    kind: fc.constant("stop" as const),
    runId,
    reason: fc.constantFrom("manual-cancel" as const, "overall-timeout" as const, "shutdown" as const),
  }),
  fc.record({ kind: fc.constantFrom("ack" as const, "resume" as const), runId, seq }),
  fc.record({ kind: fc.constant("settled" as const), runId }),
);

const END: NodeRunEnd = {
  reason: "exit",
  exitCode: 0,
  exitSignal: null,
  timedOut: false,
  durationMs: 12.5,
  notes: ["plain", phrase("note.leftRunning", { count: 2 })],
  lastSeq: 3,
  tail: "the end\n",
};
const reports: fc.Arbitrary<RunReport> = fc.oneof(
  fc.record({
    kind: fc.constant("output" as const),
    runId,
    seq: fc.integer({ min: 1, max: 2 ** 40 }),
    stream: fc.constantFrom("stdout" as const, "stderr" as const),
    data: fc.uint8Array({ maxLength: 4_096 }).map((bytes) => Buffer.from(bytes)),
  }),
  fc.record({ kind: fc.constant("input-taken" as const), runId, id: seq, queued: seq, writable: fc.boolean() }),
  fc.record({ kind: fc.constant("ended" as const), runId, end: fc.constant(END) }),
);

describe("frames of a node", () => {
  it("orders and reports come out as they went in, byte for byte", () => {
    fc.assert(
      fc.property(orders, (order) => {
        expect(orderOf(toNode.parse(JSON.parse(JSON.stringify(orderFrame(order)))))).toEqual(order);
      }),
    );
    fc.assert(
      fc.property(reports, (report) => {
        expect(reportOf(fromNode.parse(JSON.parse(reportText(report))))).toEqual(report);
      }),
    );
  });

  it("anything else is refused, never read as something near", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(fromNode.safeParse(value).success).toBe(false);
        expect(toNode.safeParse(value).success).toBe(false);
      }),
    );
    const output = (payload: object) =>
      fromNode.safeParse({ type: "event", event: "node.run.output", payload }).success;
    const good = { runId: "r", seq: 1, stream: "stdout", data: "aGk=" };
    expect(output(good)).toBe(true);
    for (const bad of [
      { seq: 0 },
      { seq: 1.5 },
      { seq: -1 },
      { stream: "stdin" },
      { data: "not base64!" },
      { data: Buffer.alloc(MAX_OUTPUT_PIECE_BYTES + 16).toString("base64") },
      { runId: "" },
      { runId: "x".repeat(200) },
    ]) {
      expect(output({ ...good, ...bad }), JSON.stringify(bad).slice(0, 60)).toBe(false);
    }
  });

  it("a note holds no more than two levels of phrases, and the end of an output no control characters", () => {
    const nested = (depth: number): unknown =>
      depth === 0 ? "x" : { phrase: "k", values: { v: nested(depth - 1) }, text: "t" };
    const ended = (end: object) =>
      fromNode.safeParse({ type: "event", event: "node.run.ended", payload: { runId: "r", end: { ...END, ...end } } });
    expect(ended({ notes: [nested(3)] }).success).toBe(true);
    expect(ended({ notes: [nested(4)] }).success).toBe(false);
    const shown = ended({ tail: "a\u001b[2Jb\u202ec\r\n\td" });
    expect(shown.success && shown.data.event === "node.run.ended" && shown.data.payload.end.tail).toBe("a[2Jbc\n\td");
  });

  it("a decision has only reasons, answers and layers there are", () => {
    const hash = "a".repeat(64);
    const decision = {
      kind: "ask",
      plan: { kind: "verbatim", text: "x" },
      binding: { hash, cwd: { path: "/", dev: 1, ino: 1 }, files: [] },
      segments: [],
      reasons: [{ code: "ask-always" }],
      offered: ["allow-once", "deny"],
      alwaysStores: [],
      reviewable: false,
      explicitOnly: false,
    };
    const prepared = { cwd: "/", decision, security: "full", ask: "always", askFallback: "deny", ticket: "t" };
    expect(parsePrepared(prepared)).toEqual(prepared);
    for (const bad of [
      { reasons: [{ code: "toString" }] },
      { reasons: [{ code: "made-up" }] },
      { offered: ["allow-forever"] },
      { kind: "deny", layer: "root" },
      { plan: { kind: "argv", file: "/bin/sh" } },
    ]) {
      expect(() => parsePrepared({ ...prepared, decision: { ...decision, ...bad } })).toThrow();
    }
  });
});
