/**
 * What Slack refuses in blocks and views. Limits: docs.slack.dev/reference/block-kit. The shape itself is checked by the
 * schema generated from Slack's own types, when the platform specs are there.
 */
import { Ajv, type ValidateFunction } from "ajv";
import { loadPlatformSpec } from "../shared/specs.ts";

type Json = Record<string, unknown>;

export const MAX_BLOCKS = 50;
export const MAX_VIEW_BLOCKS = 100;
/** Reported by users as `msg_blocks_too_long` (bolt-js 2509); not documented. */
export const MAX_MESSAGE_TEXT_IN_BLOCKS = 13_200;

const KNOWN = new Set([
  "actions",
  "context",
  "divider",
  "file",
  "header",
  "image",
  "input",
  "rich_text",
  "section",
  "video",
  "markdown",
]);

class Schemas {
  private readonly compiled = new Map<string, ValidateFunction | undefined>();

  compile(name: string): void {
    if (this.compiled.has(name)) return;
    const schema = loadPlatformSpec(`generated/${name}.json`) as object | undefined;
    this.compiled.set(name, schema === undefined ? undefined : new Ajv({ strict: false }).compile(schema));
  }

  /** Error texts of the generated schema `name`; none when the specs are absent. */
  check(name: string, value: unknown): string[] {
    this.compile(name);
    const validate = this.compiled.get(name);
    if (validate === undefined || validate(value)) return [];
    return (validate.errors ?? []).slice(0, 3).map((error) => `${name}${error.instancePath} ${error.message ?? ""}`);
  }
}

/** Compiling a schema takes a second; one set serves every emulator of the process. */
const schemas = new Schemas();

const NAMES = ["SlackBlocks", "SlackView", "SlackSlash", "SlackBlockButton"] as const;

/** Ahead of time: a trigger lives three seconds, and they are the app's. */
export function compileSchemas(): void {
  for (const name of NAMES) schemas.compile(name);
}

export function checkSchema(name: (typeof NAMES)[number], value: unknown): string[] {
  return schemas.check(name, value);
}

export function checkBlocks(blocks: unknown, max = MAX_BLOCKS): string[] {
  if (!Array.isArray(blocks)) return ["blocks must be an array"];
  const problems: string[] = [];
  if (blocks.length > max) problems.push(`no more than ${max} items allowed [json-pointer:/blocks]`);
  const blockIds = new Set<string>();
  const actionIds = new Set<string>();
  blocks.forEach((block, index) => {
    const add = (text: string): void => void problems.push(`${text} [json-pointer:/blocks/${index}]`);
    const json = block as Json;
    if (!KNOWN.has(String(json.type))) {
      add(`unsupported type: ${String(json.type)}`);
      return;
    }
    const blockId = json.block_id as string | undefined;
    if (blockId !== undefined) {
      if (blockId.length > 255) add("block_id longer than 255 characters");
      if (blockIds.has(blockId)) add(`block_id "${blockId}" already exists`);
      blockIds.add(blockId);
    }
    checkBlock(json, add, actionIds);
  });
  return [...problems, ...checkSchema("SlackBlocks", blocks)];
}

function checkBlock(block: Json, add: (text: string) => void, actionIds: Set<string>): void {
  const elements = (block.elements ?? []) as Json[];
  switch (block.type) {
    case "header":
      checkText(block.text, 150, add, "header", "plain_text");
      break;
    case "section": {
      const fields = (block.fields ?? []) as Json[];
      if (block.text === undefined && fields.length === 0) add("section needs text or fields");
      if (block.text !== undefined) checkText(block.text, 3000, add, "section");
      if (fields.length > 10) add("no more than 10 fields allowed");
      for (const field of fields) checkText(field, 2000, add, "field");
      break;
    }
    case "context":
      if (elements.length === 0 || elements.length > 10) add("context takes 1 to 10 elements");
      for (const element of elements) checkText(element, 3000, add, "context element");
      break;
    case "actions":
      if (elements.length === 0 || elements.length > 25) add("actions takes 1 to 25 elements");
      for (const element of elements) checkElement(element, add, actionIds);
      break;
    case "rich_text":
      if (elements.length === 0) add("rich_text needs elements");
      for (const element of elements) checkRich(element, add);
      break;
    case "input":
      checkText(block.label, 2000, add, "label", "plain_text");
      break;
  }
}

function checkRich(element: Json, add: (text: string) => void): void {
  const children = (element.elements ?? []) as Json[];
  if (!String(element.type).startsWith("rich_text_")) add(`unsupported rich text element: ${String(element.type)}`);
  if (children.length === 0) add(`${String(element.type)} needs elements`);
  for (const child of children) {
    if (String(child.type).startsWith("rich_text_")) checkRich(child, add);
    else if (child.type === "text" && String(child.text ?? "").length === 0) add("must be more than 0 characters");
  }
}

function checkElement(element: Json, add: (text: string) => void, actionIds: Set<string>): void {
  const actionId = element.action_id as string | undefined;
  if (actionId !== undefined) {
    if (actionId.length > 255) add("action_id longer than 255 characters");
    if (actionIds.has(actionId)) add(`action_id "${actionId}" already exists for another element`);
    actionIds.add(actionId);
  }
  if (element.type === "overflow" || element.type === "static_select") checkMenu(element, add);
  if (element.type !== "button") return;
  checkText(element.text, 75, add, "button", "plain_text");
  if (String(element.value ?? "").length > 2000) add("button value longer than 2000 characters");
  if (String(element.url ?? "").length > 3000) add("button url longer than 3000 characters");
  if (element.style !== undefined && element.style !== "primary" && element.style !== "danger") {
    add(`style must be primary or danger, not ${String(element.style)}`);
  }
  const confirm = element.confirm as Json | undefined;
  if (confirm === undefined) return;
  checkText(confirm.title, 100, add, "confirm title", "plain_text");
  checkText(confirm.text, 300, add, "confirm text");
  checkText(confirm.confirm, 30, add, "confirm button", "plain_text");
  checkText(confirm.deny, 30, add, "deny button", "plain_text");
}

/** block-elements/overflow-menu-element and select-menu-element#static_select, composition-objects/option-object */
function checkMenu(element: Json, add: (text: string) => void): void {
  const options = (element.options ?? []) as Json[];
  const isOverflow = element.type === "overflow";
  const [least, most] = isOverflow ? [2, 5] : [1, 100];
  if (options.length < least || options.length > most) add(`${String(element.type)} takes ${least} to ${most} options`);
  if (!isOverflow && element.placeholder !== undefined)
    checkText(element.placeholder, 150, add, "placeholder", "plain_text");
  for (const option of options) {
    checkText(option.text, 75, add, "option", "plain_text");
    if (option.description !== undefined) checkText(option.description, 75, add, "option description", "plain_text");
    const value = String(option.value ?? "");
    if (value.length === 0 || value.length > 150) add("option value takes 1 to 150 characters");
  }
  const values = options.map(({ value }) => value);
  if (new Set(values).size < values.length) add("option values must be unique");
}

function checkText(value: unknown, max: number, add: (text: string) => void, what: string, type?: string): void {
  const object = value as Json | undefined;
  const text = object?.text;
  if (typeof text !== "string" || text.length === 0) {
    add(`${what}: text must be more than 0 characters`);
    return;
  }
  if (type !== undefined && object?.type !== type) add(`${what}: must be ${type}`);
  if (text.length > max) add(`${what}: must be less than ${max + 1} characters`);
}

/** All text in blocks together, as Slack's undocumented message limit counts it. */
export function textInBlocks(value: unknown): number {
  if (Array.isArray(value)) return value.reduce<number>((sum, item) => sum + textInBlocks(item), 0);
  if (typeof value !== "object" || value === null) return 0;
  return Object.entries(value).reduce(
    (sum, [key, item]) => sum + (key === "text" && typeof item === "string" ? item.length : textInBlocks(item)),
    0,
  );
}

export function checkView(view: unknown): string[] {
  const json = (view ?? {}) as Json;
  const problems: string[] = [];
  const add = (text: string): void => void problems.push(`${text} [json-pointer:/view]`);
  if (json.type !== "modal" && json.type !== "home") add(`unsupported view type: ${String(json.type)}`);
  if (json.type === "modal") checkText(json.title, 24, add, "title", "plain_text");
  if (json.submit !== undefined) checkText(json.submit, 24, add, "submit", "plain_text");
  if (json.close !== undefined) checkText(json.close, 24, add, "close", "plain_text");
  if (String(json.callback_id ?? "").length > 255) add("callback_id longer than 255 characters");
  if (String(json.private_metadata ?? "").length > 3000) add("private_metadata longer than 3000 characters");
  const inputs = ((json.blocks ?? []) as Json[]).filter((block) => block.type === "input");
  if (inputs.length > 0 && json.submit === undefined && json.type === "modal") add("a modal with inputs needs submit");
  return [...problems, ...checkBlocks(json.blocks ?? [], MAX_VIEW_BLOCKS), ...checkSchema("SlackView", view)];
}
