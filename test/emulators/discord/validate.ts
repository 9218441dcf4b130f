/**
 * What Discord refuses although its OpenAPI document (and the builders of client libraries) let it pass: text
 * budgets, component trees, duplicate custom ids, command names. Answers are form errors of code 50035.
 */
import type { APIApplicationCommandOption, APIMessageTopLevelComponent } from "discord.js";

export interface FormProblem {
  /** Dotted, as in the `errors` tree: `components.0.components.2.label`. */
  readonly path: string;
  readonly code: string;
  readonly message: string;
}

export const FLAG_EPHEMERAL = 1 << 6;
export const FLAG_LOADING = 1 << 7;
export const FLAG_COMPONENTS_V2 = 1 << 15;

const MAX_CONTENT = 2000;
const MAX_V2_TEXT = 4000;
const MAX_V2_COMPONENTS = 40;
const MAX_ROWS = 5;
const MAX_BUTTONS = 5;
const MAX_CUSTOM_ID = 100;
const MAX_SELECT_OPTIONS = 25;
const MAX_OPTION = 100;
const MAX_PLACEHOLDER = 150;
const MAX_LABEL = 80;
const MAX_FILES = 10;
const COMMAND_NAME = /^[-_'\p{L}\p{N}\p{sc=Deva}\p{sc=Thai}]{1,32}$/u;
const MAX_COMMAND_TEXT = 4000;
const SUB_COMMAND_TYPES = new Set([1, 2]);

type Node = Record<string, unknown> & { readonly type?: number };

const length = (path: string, max: number, text: string, min = 0): FormProblem[] =>
  text.length >= min && text.length <= max
    ? []
    : [{ path, code: "BASE_TYPE_BAD_LENGTH", message: `Must be between ${min} and ${max} in length.` }];

/** The type numbers that may stand inside a container; top level has the same plus the container itself. */
const IN_CONTAINER = new Set([1, 9, 10, 12, 13, 14]);

interface Tally {
  components: number;
  text: number;
  readonly ids: Set<string>;
}

function componentProblems(node: Node, path: string, tally: Tally, files: ReadonlySet<string>): FormProblem[] {
  tally.components += 1;
  const problems: FormProblem[] = [];
  const children = Array.isArray(node.components) ? (node.components as Node[]) : [];
  const customId = node.custom_id;
  if (typeof customId === "string") {
    problems.push(...length(`${path}.custom_id`, MAX_CUSTOM_ID, customId, 1));
    if (tally.ids.has(customId))
      problems.push({
        path: `${path}.custom_id`,
        code: "COMPONENT_CUSTOM_ID_DUPLICATED",
        message: "Component custom id cannot be duplicated",
      });
    tally.ids.add(customId);
  }
  switch (node.type) {
    case 1: {
      const buttons = children.filter((one) => one.type === 2).length;
      if (
        children.length === 0 ||
        children.length > MAX_BUTTONS ||
        (buttons !== children.length && children.length > 1)
      )
        problems.push({
          path: `${path}.components`,
          code: "BASE_TYPE_BAD_LENGTH",
          message: `Must be between 1 and ${MAX_BUTTONS} in length.`,
        });
      break;
    }
    case 2: {
      const style = Number(node.style);
      const label = typeof node.label === "string" ? node.label : "";
      if (label === "" && !node.emoji)
        problems.push({
          path,
          code: "BUTTON_COMPONENT_LABEL_OR_EMOJI_REQUIRED",
          message: "A label or emoji is required",
        });
      problems.push(...length(`${path}.label`, MAX_LABEL, label));
      if (style === 5 ? typeof node.url !== "string" : typeof customId !== "string")
        problems.push({
          path: style === 5 ? `${path}.url` : `${path}.custom_id`,
          code: "BASE_TYPE_REQUIRED",
          message: "This field is required",
        });
      break;
    }
    case 3: {
      const options = (node.options ?? []) as { label?: string; value?: string; description?: string }[];
      if (options.length < 1 || options.length > MAX_SELECT_OPTIONS)
        problems.push({
          path: `${path}.options`,
          code: "BASE_TYPE_BAD_LENGTH",
          message: `Must be between 1 and ${MAX_SELECT_OPTIONS} in length.`,
        });
      const values = new Set(options.map(({ value }) => value));
      if (values.size !== options.length)
        problems.push({
          path: `${path}.options`,
          code: "SELECT_COMPONENT_OPTION_VALUE_DUPLICATED",
          message: "The specified option value is already used",
        });
      problems.push(...length(`${path}.placeholder`, MAX_PLACEHOLDER, String(node.placeholder ?? "")));
      for (const [index, option] of options.entries()) {
        problems.push(...length(`${path}.options.${index}.label`, MAX_OPTION, option.label ?? "", 1));
        problems.push(...length(`${path}.options.${index}.value`, MAX_OPTION, option.value ?? "", 1));
        problems.push(...length(`${path}.options.${index}.description`, MAX_OPTION, option.description ?? ""));
      }
      break;
    }
    case 10: {
      const content = typeof node.content === "string" ? node.content : "";
      tally.text += content.length;
      problems.push(...length(`${path}.content`, MAX_V2_TEXT, content, 1));
      break;
    }
    case 13: {
      const url = (node.file as { url?: string } | undefined)?.url ?? "";
      if (!files.has(url.replace("attachment://", "")))
        problems.push({
          path: `${path}.file`,
          code: "UNFURLED_MEDIA_ITEM_REFERENCED_ATTACHMENT_NOT_FOUND",
          message: `The referenced attachment was not found: ${url}`,
        });
      break;
    }
    case 17: {
      const colour = node.accent_color;
      if (colour !== undefined && colour !== null && !(Number(colour) >= 0 && Number(colour) <= 0xffffff))
        problems.push({
          path: `${path}.accent_color`,
          code: "NUMBER_TYPE_MAX",
          message: "int value should be less than or equal to 16777215.",
        });
      if (children.length === 0)
        problems.push({
          path: `${path}.components`,
          code: "BASE_TYPE_BAD_LENGTH",
          message: "Must be 1 or more in length.",
        });
      for (const [index, child] of children.entries())
        if (!IN_CONTAINER.has(child.type ?? 0))
          problems.push({
            path: `${path}.components.${index}.type`,
            code: "UNION_TYPE_CHOICES",
            message: `Value of field "type" must be one of (1, 9, 10, 12, 13, 14).`,
          });
      break;
    }
    default:
      break;
  }
  for (const [index, child] of children.entries())
    problems.push(...componentProblems(child, `${path}.components.${index}`, tally, files));
  return problems;
}

export interface MessageBody {
  readonly content?: string | null;
  readonly embeds?: readonly unknown[] | null;
  readonly components?: readonly APIMessageTopLevelComponent[] | null;
  readonly flags?: number | null;
  readonly attachments?: readonly unknown[] | null;
}

/** `existing`: the message an edit changes. */
export function messageProblems(
  body: MessageBody,
  files: readonly string[],
  existing?: { readonly v2: boolean; readonly attachments: readonly string[] },
): FormProblem[] {
  const problems: FormProblem[] = [];
  const v2 = ((body.flags ?? 0) & FLAG_COMPONENTS_V2) !== 0 || existing?.v2 === true;
  const components = (body.components ?? []) as unknown as Node[];
  const known = new Set([...files, ...(existing?.attachments ?? [])]);
  const tally: Tally = { components: 0, text: 0, ids: new Set() };
  if (files.length > MAX_FILES)
    problems.push({
      path: "attachments",
      code: "BASE_TYPE_MAX_LENGTH",
      message: `Must be ${MAX_FILES} or fewer in length.`,
    });
  problems.push(...length("content", MAX_CONTENT, body.content ?? ""));
  if (v2) {
    for (const field of ["content", "embeds", "poll", "sticker_ids"] as const) {
      const value = (body as Record<string, unknown>)[field];
      if (value !== undefined && value !== null && value !== "" && !(Array.isArray(value) && value.length === 0))
        problems.push({
          path: field,
          code: "MESSAGE_CANNOT_USE_LEGACY_FIELDS_WITH_COMPONENTS_V2",
          message: `The "${field}" field cannot be used when using MessageFlags.IS_COMPONENTS_V2`,
        });
    }
  } else if (components.length > MAX_ROWS)
    problems.push({
      path: "components",
      code: "BASE_TYPE_BAD_LENGTH",
      message: `Must be between 1 and ${MAX_ROWS} in length.`,
    });
  for (const [index, node] of components.entries()) {
    const allowed = v2 ? IN_CONTAINER.has(node.type ?? 0) || node.type === 17 : node.type === 1;
    if (!allowed)
      problems.push({
        path: `components.${index}.type`,
        code: "UNION_TYPE_CHOICES",
        message: v2 ? `Unknown component type ${node.type}` : `Value of field "type" must be one of (1,).`,
      });
    problems.push(...componentProblems(node, `components.${index}`, tally, known));
  }
  if (v2 && tally.components > MAX_V2_COMPONENTS)
    problems.push({
      path: "components",
      code: "COMPONENT_MAX_TOTAL_COMPONENTS_EXCEEDED",
      message: `The maximum number of total components is ${MAX_V2_COMPONENTS}, got ${tally.components}`,
    });
  if (v2 && tally.text > MAX_V2_TEXT)
    problems.push({
      path: "components",
      code: "COMPONENT_DISPLAYABLE_TEXT_SIZE_EXCEEDED",
      message: `The total amount of displayable text exceeds ${MAX_V2_TEXT}`,
    });
  return problems;
}

/** Nothing to show: error 50006 on the platform. */
export function isEmptyMessage(body: MessageBody, files: readonly string[]): boolean {
  return (
    !body.content && (body.embeds?.length ?? 0) === 0 && (body.components?.length ?? 0) === 0 && files.length === 0
  );
}

export function modalProblems(data: Record<string, unknown>): FormProblem[] {
  const problems = [
    ...length("data.title", 45, String(data.title ?? ""), 1),
    ...length("data.custom_id", MAX_CUSTOM_ID, String(data.custom_id ?? ""), 1),
  ];
  const rows = Array.isArray(data.components) ? (data.components as Node[]) : [];
  if (rows.length < 1 || rows.length > 5)
    problems.push({
      path: "data.components",
      code: "BASE_TYPE_BAD_LENGTH",
      message: "Must be between 1 and 5 in length.",
    });
  for (const [index, row] of rows.entries()) {
    const label = row.type === 18 ? String(row.label ?? "") : undefined;
    const input = row.type === 18 ? (row.component as Node) : ((row.components as Node[] | undefined)?.[0] ?? {});
    if (label !== undefined) problems.push(...length(`data.components.${index}.label`, 45, label, 1));
    else problems.push(...length(`data.components.${index}.components.0.label`, 45, String(input.label ?? ""), 1));
    problems.push(...length(`data.components.${index}.custom_id`, MAX_CUSTOM_ID, String(input.custom_id ?? ""), 1));
  }
  return problems;
}

export interface CommandBody {
  readonly name: string;
  readonly description?: string;
  readonly type?: number;
  readonly options?: readonly APIApplicationCommandOption[];
}

export function commandProblems(commands: readonly CommandBody[]): FormProblem[] {
  const problems: FormProblem[] = [];
  if (commands.length > 100)
    problems.push({
      path: "",
      code: "APPLICATION_COMMANDS_MAX",
      message: "Maximum number of application commands reached (100)",
    });
  const names = new Set<string>();
  for (const [index, command] of commands.entries()) {
    const at = `${index}`;
    problems.push(...namedProblems(command, at), ...optionProblems(command.options ?? [], `${at}.options`));
    if (names.has(command.name))
      problems.push({
        path: at,
        code: "APPLICATION_COMMANDS_DUPLICATE_NAME",
        message: "Application command names must be unique",
      });
    names.add(command.name);
    if (textSize(command) > MAX_COMMAND_TEXT)
      problems.push({
        path: at,
        code: "APPLICATION_COMMAND_TOO_LARGE",
        message: `Command exceeds maximum size (${MAX_COMMAND_TEXT})`,
      });
  }
  return problems;
}

function namedProblems(one: { name: string; description?: string; type?: number }, path: string): FormProblem[] {
  const validName = COMMAND_NAME.test(one.name) && one.name === one.name.toLowerCase();
  return [
    ...(validName
      ? []
      : [{ path: `${path}.name`, code: "APPLICATION_COMMAND_INVALID_NAME", message: "Command name is invalid" }]),
    ...length(`${path}.description`, 100, one.description ?? "", 1),
  ];
}

function optionProblems(options: readonly APIApplicationCommandOption[], path: string): FormProblem[] {
  const problems: FormProblem[] = [];
  if (options.length > 25)
    problems.push({ path, code: "BASE_TYPE_MAX_LENGTH", message: "Must be 25 or fewer in length." });
  let optional = false;
  for (const [index, option] of options.entries()) {
    const at = `${path}.${index}`;
    problems.push(...namedProblems(option, at));
    if (SUB_COMMAND_TYPES.has(option.type)) {
      problems.push(
        ...optionProblems((option as { options?: APIApplicationCommandOption[] }).options ?? [], `${at}.options`),
      );
      continue;
    }
    if (option.required === true && optional)
      problems.push({
        path: at,
        code: "APPLICATION_COMMAND_OPTIONS_REQUIRED_INVALID",
        message: "Required options must be placed before non-required options",
      });
    if (option.required !== true) optional = true;
    const choices = "choices" in option ? (option.choices ?? []) : [];
    if (choices.length > 25)
      problems.push({ path: `${at}.choices`, code: "BASE_TYPE_MAX_LENGTH", message: "Must be 25 or fewer in length." });
    for (const [number, choice] of choices.entries())
      problems.push(...length(`${at}.choices.${number}.name`, 100, choice.name, 1));
    if (choices.length > 0 && "autocomplete" in option && option.autocomplete === true)
      problems.push({
        path: `${at}.autocomplete`,
        code: "APPLICATION_COMMAND_OPTIONS_AUTOCOMPLETE_CHOICES",
        message: "Autocomplete can not be used with choices",
      });
  }
  return problems;
}

function textSize(command: CommandBody): number {
  const ofOptions = (options: readonly APIApplicationCommandOption[]): number =>
    options.reduce((sum, option) => {
      const choices = "choices" in option ? (option.choices ?? []) : [];
      const inner = "options" in option ? ofOptions((option.options ?? []) as APIApplicationCommandOption[]) : 0;
      const values = choices.reduce((total, one) => total + one.name.length + String(one.value).length, 0);
      return sum + option.name.length + option.description.length + values + inner;
    }, 0);
  return command.name.length + (command.description?.length ?? 0) + ofOptions(command.options ?? []);
}

/** The nested `errors` tree of a 50035 answer. */
export function errorTree(problems: readonly FormProblem[]): Record<string, unknown> {
  const root: Record<string, unknown> = {};
  for (const { path, code, message } of problems) {
    let node = root;
    for (const part of path.split(".").filter((one) => one !== "")) {
      node[part] ??= {};
      node = node[part] as Record<string, unknown>;
    }
    node._errors ??= [];
    (node._errors as unknown[]).push({ code, message });
  }
  return root;
}
