/**
 * Checks calls against the machine-readable Bot API where it is at hand. `reply_markup` picks its union member by key;
 * anything else would drown in noise.
 */
import { loadPlatformSpec } from "../shared/specs.ts";

interface Field {
  readonly types: readonly string[];
  readonly required: boolean;
  readonly limit?: string;
}
interface Spec {
  readonly version: string;
  readonly methods: Readonly<Record<string, { readonly fields?: Readonly<Record<string, Field>> }>>;
  readonly types: Readonly<
    Record<string, { readonly fields?: Readonly<Record<string, Field>>; readonly subtypes?: readonly string[] }>
  >;
}

export type SpecCheck = (kind: "method" | "type", name: string, value: unknown) => readonly string[];

const MARKUP_BY_KEY: Readonly<Record<string, string>> = {
  inline_keyboard: "InlineKeyboardMarkup",
  keyboard: "ReplyKeyboardMarkup",
  remove_keyboard: "ReplyKeyboardRemove",
  force_reply: "ForceReply",
};

/** Text limits hold after entity parsing, so the methods check them; here they would reject correct calls. */
const COUNTED_AFTER_PARSING = new Set(["text", "caption"]);

export function loadSpec(): SpecCheck | undefined {
  const spec = loadPlatformSpec("telegram-bot-api.compact.json") as Spec | undefined;
  if (!spec) return undefined;

  const checkLimit = (value: unknown, limit: string, at: string): string[] => {
    const match = /^(\d+)-(\d+) (characters|bytes)$/.exec(limit);
    if (!match || typeof value !== "string") return [];
    const size = match[3] === "bytes" ? Buffer.byteLength(value) : value.length;
    return size < Number(match[1]) || size > Number(match[2]) ? [`${at}: ${size} ${match[3]}, allowed ${limit}`] : [];
  };

  const checkFields = (fields: Readonly<Record<string, Field>>, value: object, at: string): string[] => {
    const problems: string[] = [];
    for (const [name, field] of Object.entries(fields))
      if (field.required && !(name in value)) problems.push(`${at}.${name}: required`);
    for (const [name, inner] of Object.entries(value)) {
      const field = fields[name];
      if (!field) problems.push(`${at}.${name}: unknown field`);
      else {
        problems.push(...checkTypes(field.types, inner, `${at}.${name}`));
        if (field.limit && !(at.startsWith("method") && COUNTED_AFTER_PARSING.has(name)))
          problems.push(...checkLimit(inner, field.limit, `${at}.${name}`));
      }
    }
    return problems;
  };

  const checkTypes = (types: readonly string[], value: unknown, at: string): string[] => {
    let allowed = types;
    if (value !== null && typeof value === "object" && types.includes("InlineKeyboardMarkup") && types.length > 1) {
      const key = Object.keys(MARKUP_BY_KEY).find((one) => one in value);
      if (!key) return [`${at}: no known kind of reply markup`];
      allowed = [MARKUP_BY_KEY[key] ?? ""];
    }
    const attempts = allowed.map((type) => checkType(type, value, at));
    return attempts.find((problems) => problems.length === 0) ?? attempts[0] ?? [];
  };

  const checkType = (type: string, value: unknown, at: string): string[] => {
    if (type.startsWith("Array of ")) {
      if (!Array.isArray(value)) return [`${at}: not an array`];
      return value.flatMap((one, index) => checkType(type.slice("Array of ".length), one, `${at}[${index}]`));
    }
    switch (type) {
      case "Integer":
        return Number.isSafeInteger(value) ? [] : [`${at}: not an integer`];
      case "Float":
        return typeof value === "number" ? [] : [`${at}: not a number`];
      case "String":
        return typeof value === "string" ? [] : [`${at}: not a string`];
      case "Boolean":
        return typeof value === "boolean" ? [] : [`${at}: not a boolean`];
      case "InputFile":
        return [];
      default: {
        const known = spec.types[type];
        if (!known) return [];
        if (value === null || typeof value !== "object") return [`${at}: not an object of type ${type}`];
        if (known.subtypes) return checkTypes(known.subtypes, value, at);
        return known.fields ? checkFields(known.fields, value, at) : [];
      }
    }
  };

  return (kind, name, value) => {
    const fields = kind === "method" ? spec.methods[name]?.fields : spec.types[name]?.fields;
    if (kind === "method" && !(name in spec.methods)) return [`method ${name}: unknown`];
    if (value === null || typeof value !== "object") return [`${kind} ${name}: no object`];
    return checkFields(fields ?? {}, value, `${kind} ${name}`);
  };
}
