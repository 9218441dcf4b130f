/** The newest version of each card that waits here, so that older ones need not be shown on the way to it. */
import type { UnspokenCard } from "../cards.ts";

/** Versions that are remembered; without one, a card is shown in all its states. */
const MAX_NEWEST = 10_000;

export class NewestVersions {
  readonly #newest = new Map<string, { readonly version: number; readonly isOpen: boolean }>();

  /** `isHeard`: it makes a sound that a later version does not make, unless that is the end of the matter. */
  superseded(recordKey: string, version: number, isHeard: boolean): boolean {
    const latest = this.#newest.get(recordKey);
    if (latest?.version === version) this.#newest.delete(recordKey);
    return latest !== undefined && latest.version > version && !(isHeard && latest.isOpen);
  }

  remember(recordKey: string, version: number, card: UnspokenCard): void {
    if ((this.#newest.get(recordKey)?.version ?? 0) >= version) return;
    this.#newest.delete(recordKey);
    this.#newest.set(recordKey, { version, isOpen: card.kind === "approval" && card.state === "pending" });
    const oldest = this.#newest.keys().next().value;
    if (this.#newest.size > MAX_NEWEST && oldest !== undefined) this.#newest.delete(oldest);
  }
}
