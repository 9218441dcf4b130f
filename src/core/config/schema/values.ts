/** The scalar kinds that configuration keys are made of, and how a group of keys gets its defaults. */
import * as z from "zod";

export type Shape = Record<string, z.ZodType>;

type Filled<S extends Shape, D> = {
  [K in keyof S]: S[K] extends z.ZodPrefault ? S[K] : K extends keyof D ? z.ZodDefault<S[K]> : z.ZodExactOptional<S[K]>;
};

/**
 * A group of keys. A key named in `defaults` and a `section` are always present in the result, any other may be
 * absent, and a key that the shape does not name is refused. The same shape without defaults is what an agent may
 * override.
 */
export function group<S extends Shape, const D extends { [K in keyof S]?: z.output<S[K]> }>(
  shape: S,
  defaults: D,
): z.ZodObject<Filled<S, D>, z.core.$strict> {
  const filled: Record<string, z.ZodType> = {};
  for (const [key, schema] of Object.entries(shape)) {
    if (schema instanceof z.ZodPrefault) filled[key] = schema;
    else if (Object.hasOwn(defaults, key)) {
      const value = structuredClone(Reflect.get(defaults, key));
      // Noted as well, for documentation: see `jsonSchema()`.
      filled[key] = otherwise(schema.default(value), value);
    } else filled[key] = z.exactOptional(schema);
  }
  return z.strictObject(filled) as unknown as z.ZodObject<Filled<S, D>, z.core.$strict>;
}

/**
 * A group whose keys may all be absent because a wider layer or code fills them in. `defaults` is only noted for the
 * documentation; whoever merges the layers applies the same table.
 */
export function overridable<S extends Shape>(shape: S, defaults: { readonly [K in keyof S]?: z.output<S[K]> } = {}) {
  const noted: Record<string, z.ZodType> = {};
  for (const [key, schema] of Object.entries(shape)) {
    noted[key] = Object.hasOwn(defaults, key) ? otherwise(schema, Reflect.get(defaults, key)) : schema;
  }
  return group(noted as S, {});
}

/** A nested group that is there, with its defaults, even when the file does not name it. */
export function section<T extends z.ZodType<unknown, object>>(schema: T): z.ZodPrefault<T> {
  return schema.prefault({} as never);
}

export const text = (about: string) => z.string().trim().min(1).describe(about);

export const flag = (about: string) => z.boolean().describe(about);

export const count = (about: string, min = 0, max: number = Number.MAX_SAFE_INTEGER) =>
  z.int().min(min).max(max).describe(about);

export const list = (about: string) => z.array(z.string().trim().min(1)).describe(about);

/** Parts of session keys, or regular expressions between slashes: `/slack:channel:C[0-9]+$/`. */
export const sessionFilter = z
  .array(
    z
      .string()
      .trim()
      .min(1)
      .max(200)
      .refine((filter) => isSessionFilter(filter), { error: "not a valid regular expression between the slashes" }),
  )
  .describe("Only requests whose session key contains one of these, or fits a `/regular expression/`.");

function isSessionFilter(filter: string): boolean {
  const expression = /^\/(.+)\/$/.exec(filter)?.[1];
  if (expression === undefined) return true;
  try {
    return new RegExp(expression, "u").source.length > 0;
  } catch {
    return false;
  }
}

/** A directory or file name. Relative ones are refused: they would depend on where the gateway was started. */
export const path = (about: string) =>
  z
    .string()
    .trim()
    .regex(/^(\/|~$|~\/|[A-Za-z]:[\\/])/, { error: "expected an absolute path, or one that starts with ~/" })
    .meta({ description: about, path: true });

/** `literal`, `env:NAME` or `file:/path`; resolved by `secrets.ts`, never shown again. */
export const secret = (about: string) => z.string().trim().min(1).meta({ description: about, secret: true });

/** The key has a default that something else than the schema fills in (an environment variable, a wider layer). */
export function otherwise<T extends z.ZodType>(schema: T, value: unknown): T {
  return schema.meta({ ...z.globalRegistry.get(schema), default: value }) as T;
}

/** The same for a default that is not one fixed value: said in words, for the documentation. */
export function otherwiseInWords<T extends z.ZodType>(schema: T, words: string): T {
  return schema.meta({ ...z.globalRegistry.get(schema), defaultInWords: words }) as T;
}

/**
 * A platform id. Numbers are accepted where they are exact; a Discord id written without quotes has already lost its
 * last digits when it is read, so it is refused instead of matching somebody else.
 */
const exactNumber = z.int({
  error: (issue) =>
    issue.code === "too_big" || issue.code === "too_small"
      ? "write this id in quotes: as a number it loses its last digits"
      : undefined,
});
const id = z.union([z.string().trim().min(1), exactNumber]).transform(String);

export const ids = (about: string) => z.array(id).describe(about);
export const oneId = (about: string) => id.describe(about);

export const CHANNELS = ["web", "slack", "discord", "telegram"] as const;

/** People by channel; in the second, `*` stands for every channel. */
export const idsByChannel = (about: string) => z.partialRecord(z.enum(CHANNELS), ids("Ids.")).describe(about);
export const idsByChannelOrAll = (about: string) =>
  z.partialRecord(z.enum([...CHANNELS, "*"]), ids("Ids.")).describe(about);

const DURATION = /^(\d+)(ms|s|m|h|d)$/;
const UNIT_MS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

export const duration = (about: string) =>
  z.string().trim().regex(DURATION, { error: 'expected a duration such as "30m", "1h" or "0m"' }).describe(about);

/** Milliseconds of a duration that `duration()` accepted. */
export function durationMs(value: string): number {
  const [, amount, unit] = DURATION.exec(value.trim()) ?? [];
  return Number(amount ?? 0) * UNIT_MS[(unit ?? "ms") as keyof typeof UNIT_MS];
}

export const url = (about: string) =>
  z.url({ protocol: /^https?$/, error: "expected an http or https address" }).describe(about);

export const agentId = (about: string) =>
  z
    .string()
    .trim()
    .regex(/^[a-z0-9][a-z0-9_-]{0,63}$/i, {
      error: "an agent id is 1 to 64 letters, digits, `-` or `_`, and starts with a letter or digit",
    })
    .describe(about);

export const accountId = z.string().regex(/^[a-z0-9][a-z0-9_-]{0,63}$/i, {
  error: "an account name is 1 to 64 letters, digits, `-` or `_`, and starts with a letter or digit",
});
