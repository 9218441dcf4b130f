/** One call under a budget: made now, or put off with the time to come back. */
import { AskLater } from "../../core/outbound.ts";
import type { Lane, SendBudget, Urgency } from "./send-budget.ts";

/** The call was not made: its time has not come. */
export class NotYet extends AskLater {
  override readonly name = "NotYet";
  constructor(afterMs: number) {
    super(afterMs, `our own send rate allows this in ${afterMs} ms`);
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
