/** From the JSON a person or program writes to one tool call. Pure. */
import * as z from "zod";
import { ExecError } from "../core/errors.ts";
import { zodSentence } from "../gateway/error-body.ts";
import { parseJson } from "../gateway/json-text.ts";

export interface CallText {
  readonly tool: string;
  readonly args: Record<string, unknown>;
  readonly agentId?: string;
  readonly sessionKey?: string;
}

const common = {
  tool: z.string().min(1).max(64),
  agentId: z.exactOptional(z.string().min(1).max(64)),
  sessionKey: z.exactOptional(z.string().min(1).max(512)),
};
const nested = z.strictObject({ ...common, args: z.record(z.string(), z.unknown()) });
const flat = z.looseObject(common);

/**
 * Both ways of writing a call: `{"tool": "exec", "args": {"command": "ls"}}` and, as in the documentation,
 * `{"tool": "exec", "command": "ls"}`.
 */
export function parseToolCall(text: string): CallText {
  const value = parseJson(text, "The call");
  const isNested = typeof value === "object" && value !== null && Object.hasOwn(value, "args");
  const parsed = (isNested ? nested : flat).safeParse(value);
  if (!parsed.success) {
    throw new ExecError(
      "invalid-argument",
      `The call is not understood: ${zodSentence(parsed.error)}. Example: {"tool":"exec","command":"ls -la"}`,
    );
  }
  const { tool, agentId, sessionKey, ...rest } = parsed.data;
  return {
    tool,
    args: isNested ? (rest.args as Record<string, unknown>) : rest,
    ...(agentId === undefined ? {} : { agentId }),
    ...(sessionKey === undefined ? {} : { sessionKey }),
  };
}
