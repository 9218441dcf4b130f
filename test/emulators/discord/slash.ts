/** What Discord's own client does with a slash command before it sends it: options by name, types, required ones. */
import type { CommandBody } from "./validate.ts";

export type OptionValue = string | number | boolean;

interface Option {
  readonly name: string;
  readonly type: number;
  readonly required?: boolean;
  readonly choices?: readonly { readonly name: string; readonly value: OptionValue }[];
}

const OPTION = { string: 3, integer: 4, boolean: 5, number: 10 } as const;

/** `host:node command:npm test` by the names the command knows; text without a name goes to the first option. */
export function optionsFromText(command: CommandBody, text: string): Record<string, OptionValue> {
  const options = (command.options ?? []) as readonly Option[];
  const names = options.map((one) => one.name).join("|");
  const typed = text.trim();
  if (typed === "" || names === "") return {};
  const pattern = new RegExp(`(?:^|\\s)(${names}):`, "g");
  const marks = [...typed.matchAll(pattern)];
  const lead = typed.slice(0, marks[0]?.index ?? typed.length).trim();
  const found: Record<string, OptionValue> = {};
  const main = options.find((one) => one.name === "command") ?? options.find((one) => one.required) ?? options[0];
  if (lead !== "" && main) found[main.name] = lead;
  for (const [index, mark] of marks.entries()) {
    const name = mark[1] ?? "";
    const start = mark.index + mark[0].length;
    const value = typed.slice(start, marks[index + 1]?.index ?? typed.length).trim();
    found[name] = coerce(options.find((one) => one.name === name)?.type, value);
  }
  return found;
}

function coerce(type: number | undefined, value: string): OptionValue {
  if (type === OPTION.integer || type === OPTION.number) return Number(value);
  if (type === OPTION.boolean) return value === "true" || value === "True";
  return value;
}

/** @throws Error with what Discord's client would show. */
export function checkedOptions(command: CommandBody, given: Readonly<Record<string, OptionValue>>) {
  const options = (command.options ?? []) as readonly Option[];
  for (const name of Object.keys(given))
    if (!options.some((one) => one.name === name)) throw new Error(`/${command.name} has no option "${name}"`);
  return options.flatMap((option) => {
    const value = given[option.name];
    if (value === undefined) {
      if (option.required) throw new Error(`The option "${option.name}" is required`);
      return [];
    }
    if (option.choices?.length && !option.choices.some((one) => one.value === value))
      throw new Error(`"${value}" is not one of the choices of "${option.name}"`);
    return [{ name: option.name, type: option.type, value }];
  });
}
