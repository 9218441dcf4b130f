import { ExecError } from "../errors.ts";

/** Largest stored value, in UTF-16 units of its JSON. State holds references and bounded tails, not whole outputs. */
const MAX_VALUE_LENGTH = 4 * 1024 * 1024;

/** JSON text of a value. Throws `invalid-argument` for what JSON can not hold, `payload-too-large` beyond the limit. */
export function encodeValue(what: string, value: unknown): string {
  let text: string | undefined;
  try {
    text = JSON.stringify(value);
  } catch (error) {
    throw new ExecError("invalid-argument", `${what} can not be written as JSON: ${(error as Error).message}`);
  }
  if (text === undefined) throw new ExecError("invalid-argument", `${what} can not be written as JSON.`);
  if (text.length > MAX_VALUE_LENGTH) {
    throw new ExecError(
      "payload-too-large",
      `${what} is ${text.length} characters of JSON; at most ${MAX_VALUE_LENGTH} can be stored.`,
    );
  }
  return text;
}
