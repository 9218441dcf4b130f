import { BullMQAdapter } from "@bull-board/api/bullMQAdapter";
import type { Queue } from "bullmq";

/** A queue as Bull Board shows it. */
export type BoardQueue = BullMQAdapter;

/** Said beside each queue, since Bull Board knows nothing of lanes. */
const DESCRIPTION = "A job that waits for an earlier one of its conversation shows as delayed by ten years.";

/** To look at, not to change: adding or editing a job here would be running a command past every check. */
export function boardQueue(queue: Queue, redact: (text: string) => string): BoardQueue {
  const adapter = new BullMQAdapter(queue, { readOnlyMode: true, allowRetries: false, description: DESCRIPTION });
  const masked = (value: unknown): unknown => {
    const json = JSON.stringify(value);
    return json === undefined ? value : JSON.parse(redact(json));
  };
  for (const field of ["data", "returnValue", "progress"] as const) adapter.setFormatter(field, masked);
  return adapter;
}
