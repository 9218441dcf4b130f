import { setImmediate as turn } from "node:timers/promises";
import type { Store } from "../../../src/core/store/store.ts";

/**
 * A real store behind a wire: each call takes a few turns of the event loop to get there and back, as with Redis, so
 * that calls made at the same time overtake each other. `seed` makes a run repeatable.
 */
export function slowStore(store: Store, seed: number): Store {
  let state = seed >>> 0;
  const turns = async () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    // Half of all ways take no time, the others up to eight turns.
    for (let left = Math.max(0, (state >>> 28) - 7); left > 0; left -= 1) await turn();
  };
  return new Proxy(store, {
    get(target, name, receiver) {
      const member = Reflect.get(target, name, receiver);
      if (typeof member !== "function") return member;
      return async (...args: unknown[]) => {
        await turns();
        const result = await member.apply(target, args);
        await turns();
        return result;
      };
    },
  });
}
