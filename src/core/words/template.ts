/**
 * Sentences with holes, as data: `"Request {slug} has expired."`. English is the pattern: which keys there are and which
 * holes each has is read from it by the type checker, and another language that misses one, or has one too many, does
 * not compile.
 */

/** One wording for each plural category of the language, chosen by the value of `count` (Unicode CLDR, `Intl.PluralRules`). */
export interface Plural {
  readonly one: string;
  /** Only where a language has it and it differs from `other`. */
  readonly few?: string;
  readonly many?: string;
  readonly other: string;
}

export type Template = string | Plural;

export type Sentences = Readonly<Record<string, Template>>;

type HolesIn<S extends string> = S extends `${string}{${infer Name}}${infer Rest}` ? Name | HolesIn<Rest> : never;

/** Names of the values that a sentence needs. */
export type Holes<T> = T extends string
  ? HolesIn<T>
  : T extends { readonly other: infer O extends string }
    ? HolesIn<O> | "count"
    : never;

type SameHoles<T, Pattern> = [Holes<T>] extends [Holes<Pattern>]
  ? [Holes<Pattern>] extends [Holes<T>]
    ? T
    : { readonly "a hole is missing": Exclude<Holes<Pattern>, Holes<T>> }
  : { readonly "no such hole in English": Exclude<Holes<T>, Holes<Pattern>> };

type Checked<T, Pattern> = {
  readonly [K in keyof Pattern]: K extends keyof T ? SameHoles<T[K], Pattern[K]> : Template;
} & {
  readonly [K in Exclude<keyof T, keyof Pattern>]: never;
};

/** `translation<typeof english>()({ … })`: the same keys with the same holes, or a type error at the sentence. */
export function translation<Pattern extends Sentences>() {
  return <const T extends Sentences>(sentences: T & Checked<T, Pattern>): { readonly [K in keyof Pattern]: Template } =>
    sentences;
}

export const HOLE = /\{([A-Za-z]+)\}/g;
