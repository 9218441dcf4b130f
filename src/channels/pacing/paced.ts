/** One call under a budget: made now, or put off with the time to come back. */
import type { Lane, SendBudget, Urgency } from "./send-budget.ts";

/** The call was not made: its time has not come. */
export class NotYet extends Error {
  override readonly name = "NotYet";
  readonly afterMs: number;
  constructor(afterMs: number) {
    super(`our own send rate allows this in ${afterMs} ms`);
    this.afterMs = afterMs;
  }
}

/** @throws NotYet when the budget says to wait */
export async function paced<T>(
  budget: SendBudget,
  call: { readonly id: string; readonly lanes: readonly Lane[]; readonly urgency: Urgency },
  work: () => Promise<T>,
): Promise<T> {
  const permit = budget.ask(call.id, call.lanes, call.urgency);
  if (permit.kind === "wait") throw new NotYet(permit.afterMs);
  try {
    return await work();
  } finally {
    permit.done();
  }
}
