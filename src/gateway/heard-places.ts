/**
 * Where an account was spoken to lately, so that after a restart, or on another gateway, what was said meanwhile is found
 * (channels.md section 7). One record per account: a handful of ids, written whole.
 */
import type { HeardPlace, HeardPlaces } from "../channels/adapter-deps.ts";
import type { Access } from "../core/access/access.ts";
import type { ChannelId } from "../core/route.ts";
import type { Store } from "../core/store/store.ts";
import type { AccessGroups } from "./access-groups.ts";

const NS = "heard-places";
/** A room that was silent for longer is not read after a restart. */
export const HEARD_TTL_MS = 7 * 24 * 3_600_000;

export interface HeardPlacesOptions {
  readonly store: Store;
  readonly access: Pick<Access, "listens">;
  readonly accessGroups: Pick<AccessGroups, "found">;
  readonly channel: ChannelId;
  readonly accountId: string;
}

export function heardPlaces({ store, access, accessGroups, channel, accountId }: HeardPlacesOptions): HeardPlaces {
  const key = `${channel}:${accountId}`;
  return {
    listens: async (actor, route) => access.listens(await accessGroups.found(actor), route),
    load: async () => (await store.get<readonly HeardPlace[]>(NS, key))?.value ?? [],
    keep: async (places) => void (await store.put(NS, key, places, { ttlMs: HEARD_TTL_MS })),
  };
}
