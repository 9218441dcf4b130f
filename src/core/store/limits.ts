import { ExecError } from "../errors.ts";

/** How many records or entries one `list` or `read` gives when the caller does not say. */
const DEFAULT_LIMIT = 1000;

/** The most one call gives: a page, so that nobody loads a whole history at once. */
const MAX_LIMIT = 10_000;

export function pageSize(limit: number | undefined): number {
  if (limit === undefined) return DEFAULT_LIMIT;
  if (!Number.isInteger(limit) || limit < 0) {
    throw new ExecError("invalid-argument", `limit must be a whole number from 0 to ${MAX_LIMIT}, not ${limit}.`);
  }
  return Math.min(limit, MAX_LIMIT);
}

export function ttlOf(options: { readonly ttlMs?: number } | undefined): number | undefined {
  const ttlMs = options?.ttlMs;
  if (ttlMs === undefined) return undefined;
  if (!Number.isFinite(ttlMs) || ttlMs <= 0) {
    throw new ExecError("invalid-argument", `ttlMs must be a number of milliseconds above 0, not ${ttlMs}.`);
  }
  return Math.ceil(ttlMs);
}

export function maxLengthOf(options: { readonly maxLength?: number } | undefined): number | undefined {
  const maxLength = options?.maxLength;
  if (maxLength === undefined) return undefined;
  if (!Number.isInteger(maxLength) || maxLength < 1) {
    throw new ExecError("invalid-argument", `maxLength must be a whole number of at least 1, not ${maxLength}.`);
  }
  return maxLength;
}
