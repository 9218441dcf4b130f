/** Stands where a secret was, in everything that leaves the gateway. */
export const MASK = "•••";
