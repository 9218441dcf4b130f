/** Who may do what, from most to least trusted (channels.md section 2.4). */
const RANKS = ["owner", "approver", "authorized", "known", "unknown"] as const;
export type Rank = (typeof RANKS)[number];

/** True when `rank` is at least as trusted as `needed`. */
export function atLeast(rank: Rank, needed: Rank): boolean {
  return RANKS.indexOf(rank) <= RANKS.indexOf(needed);
}
