/** What is remembered of a message: where it is, which version of it shows, and what is in doubt. */
import type { MessageRef, Steps } from "../outbound.ts";
import { type Route, routeKey } from "../route.ts";

export interface MessageRecord {
  readonly ref?: MessageRef;
  readonly version: number;
  /** The version whose sending was begun and whose outcome is not known. */
  readonly inDoubt?: number;
  /** What of that version is there for certain. */
  readonly steps?: Steps["done"];
  /** The version with which the card came down as a message of its own; what stood above shows that it did. */
  readonly cameDown?: number;
}

export function messageKey(entity: string, route: Route): string {
  return `${entity}@${routeKey(route)}`;
}

/** Idempotency of an entity's message: the one that came down is another than the one it left behind. */
export function keyOf(recordKey: string, known: MessageRecord | undefined): string {
  return known?.cameDown === undefined ? recordKey : `${recordKey}#${known.cameDown}`;
}

/** It may be there, and nobody can be asked whether it is. */
export function isDoubted(known: MessageRecord | undefined, sender: { readonly reconcile?: unknown }): boolean {
  return known !== undefined && !known.ref && known.inDoubt !== undefined && !sender.reconcile;
}

export function cameDownOf(known: MessageRecord | undefined): Pick<MessageRecord, "cameDown"> {
  return known?.cameDown === undefined ? {} : { cameDown: known.cameDown };
}
