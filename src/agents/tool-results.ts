/** What of a tool call and its result the model keeps in sight: bounded, and honest about what was left out. Pure. */
import type { ModelMessage, ToolResultPart } from "ai";

/** Text with its middle left out, never cut in half of a character. */
export function bounded(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  const mark = `\n[… ${text.length - maxChars} characters left out …]\n`;
  const room = Math.max(0, maxChars - mark.length);
  const head = Math.ceil(room / 2);
  return `${whole(text.slice(0, head))}${mark}${wholeEnd(text.slice(text.length - (room - head)))}`;
}

const whole = (text: string) => text.replace(/[\uD800-\uDBFF]$/u, "");
const wholeEnd = (text: string) => text.replace(/^[\uDC00-\uDFFF]/u, "");

/** Arguments as they are kept: a patch of a megabyte is not told again with every step. */
export function boundedInput(input: unknown, maxChars: number): unknown {
  if (JSON.stringify(input)?.length <= maxChars) return input;
  if (typeof input !== "object" || input === null) return {};
  return Object.fromEntries(
    Object.entries(input).map(([name, value]) => {
      const text = typeof value === "string" ? value : JSON.stringify(value);
      const kept = bounded(text ?? "", Math.floor(maxChars / 2));
      return [name, kept === text && typeof value !== "string" ? value : kept];
    }),
  );
}

export interface CallResult {
  readonly text: string;
  readonly isError: boolean;
}

export function resultPart(
  call: { readonly toolCallId: string; readonly toolName: string },
  { text, isError }: CallResult,
): ToolResultPart {
  return {
    type: "tool-result",
    toolCallId: call.toolCallId,
    toolName: call.toolName,
    output: { type: isError ? "error-text" : "text", value: text.trim() === "" ? "(nothing)" : text },
  };
}

/**
 * The same conversation for a model that has no tools (any more): providers refuse calls in a history without the tools
 * they belong to, so calls and results become words.
 */
export function inWords(messages: readonly ModelMessage[]): ModelMessage[] {
  return messages.map((message): ModelMessage => {
    if (message.role === "tool") {
      const results = message.content.flatMap((part) =>
        part.type === "tool-result" ? [`[system: ${part.toolName} gave]\n${outputText(part)}`] : [],
      );
      return { role: "user", content: results.join("\n\n") || "[system: no result]" };
    }
    if (message.role !== "assistant" || typeof message.content === "string") return message;
    const words = message.content.flatMap((part) => {
      if (part.type === "text") return [part.text];
      return part.type === "tool-call" ? [`[called ${callLabel(part.toolName, part.input)}]`] : [];
    });
    return { role: "assistant", content: words.join("\n") || "[nothing]" };
  });
}

function outputText({ output }: ToolResultPart): string {
  return output.type === "text" || output.type === "error-text" ? output.value : "(nothing)";
}

/** What people read of a call: `exec npm test`, `process poll quiet-ot`, `apply_patch`. */
export function callLabel(toolName: string, input: unknown): string {
  const { command, action, sessionId } = (input ?? {}) as Readonly<Record<string, unknown>>;
  const words = [command, action, sessionId].filter((one): one is string => typeof one === "string");
  const line = [toolName, ...words].join(" ").replace(/\s+/g, " ").trim();
  return line.length > MAX_LABEL_CHARS ? `${line.slice(0, MAX_LABEL_CHARS - 1)}…` : line;
}

const MAX_LABEL_CHARS = 120;
