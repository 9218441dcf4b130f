/**
 * What Discord refuses although the client library's builders do not notice: rows and components counted over the whole
 * message, its text added up, custom ids used twice. Found here, it is an error with a name instead of a lost card.
 */
import { type APIMessageTopLevelComponent, ComponentType } from "discord.js";
import { MAX_BUTTONS_PER_ROW, MAX_COMPONENTS, MAX_CUSTOM_ID, MAX_LABEL, MAX_V2_TEXT } from "./limits.ts";

interface Node {
  readonly type: ComponentType;
  readonly components?: readonly Node[];
  readonly content?: string;
  readonly custom_id?: string;
  readonly label?: string;
}

/** Problems in words; none for a message Discord takes. */
export function componentProblems(components: readonly APIMessageTopLevelComponent[]): string[] {
  const problems: string[] = [];
  const ids = new Set<string>();
  let count = 0;
  let text = 0;
  const walk = (node: Node): void => {
    count += 1;
    if (node.type === ComponentType.TextDisplay) {
      text += node.content?.length ?? 0;
      if (!node.content) problems.push("a text without text");
    }
    if (node.type === ComponentType.ActionRow) {
      const buttons = node.components?.length ?? 0;
      if (buttons < 1 || buttons > MAX_BUTTONS_PER_ROW) problems.push(`a row of ${buttons} buttons`);
    }
    if (node.type === ComponentType.Container && !node.components?.length) problems.push("an empty container");
    if (node.custom_id !== undefined) {
      if (node.custom_id.length < 1 || node.custom_id.length > MAX_CUSTOM_ID)
        problems.push(`a custom id of ${node.custom_id.length} characters`);
      if (ids.has(node.custom_id)) problems.push(`the custom id ${node.custom_id} twice`);
      ids.add(node.custom_id);
    }
    if (node.label !== undefined && (node.label.length < 1 || node.label.length > MAX_LABEL))
      problems.push(`a label of ${node.label.length} characters`);
    for (const inner of node.components ?? []) walk(inner);
  };
  for (const node of components) walk(node as unknown as Node);
  if (components.length === 0) problems.push("nothing to show");
  if (count > MAX_COMPONENTS) problems.push(`${count} components, at most ${MAX_COMPONENTS}`);
  if (text > MAX_V2_TEXT) problems.push(`${text} characters of text, at most ${MAX_V2_TEXT}`);
  return problems;
}
