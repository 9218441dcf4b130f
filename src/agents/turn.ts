/**
 * One turn of the model: it answers, calls tools, sees their results, and so on until it has nothing more to call. Each
 * answer is one call of the AI SDK; the tools are dispatched here, one after the other, so that the record says what
 * had been begun before it is begun.
 */
import { generateText, jsonSchema, type LanguageModel, type ModelMessage, type ToolSet, tool } from "ai";
import { timeLimit } from "../core/time-limit.ts";
import type { TurnLimits } from "./settings.ts";
import { bounded, boundedInput, type CallResult, callLabel, inWords, resultPart } from "./tool-results.ts";
import type { ToolDescription } from "./tool-schemas.ts";

export interface ToolCallOfModel {
  /** Its place in the turn, `<step>.<number>`: a provider's own ids may repeat. */
  readonly id: string;
  readonly name: string;
  readonly input: unknown;
}

export interface TurnOptions {
  readonly model: LanguageModel;
  readonly system: string;
  readonly history: readonly ModelMessage[];
  readonly opening: readonly ModelMessage[];
  readonly tools: readonly ToolDescription[];
  readonly limits: TurnLimits;
  /** Aborts the turn and the tool that works. */
  readonly signal: AbortSignal;
  /** Never rejects but when the signal is aborted. */
  readonly call: (call: ToolCallOfModel) => Promise<CallResult>;
  /** Makes what was said durable; `dispatched` names what is about to be handed to a tool. */
  readonly save: (messages: readonly ModelMessage[], dispatched: readonly string[]) => Promise<void>;
  /** What people said meanwhile; `arrived` is called once it is durable here. */
  readonly meanwhile: () => Promise<{
    readonly messages: readonly ModelMessage[];
    readonly arrived: () => Promise<void>;
  }>;
  readonly onUsage?: (tokens: { readonly input: number; readonly output: number }) => void;
}

export type TurnEnd =
  | { readonly kind: "answered"; readonly text: string }
  /** The text is what there was until the limit. */
  | { readonly kind: "cut-short"; readonly by: "length" | "filter" | "steps"; readonly text: string };

/** Rejects with what the SDK or the signal threw; then `save` holds what there was until then. */
export async function runTurn(options: TurnOptions): Promise<TurnEnd> {
  const { limits, signal } = options;
  const messages: ModelMessage[] = [...options.opening];
  const dispatched: string[] = [];
  const tools: ToolSet = Object.fromEntries(
    options.tools.map(({ name, description, schema }) => [
      name,
      tool({ description, inputSchema: jsonSchema(schema) }) as ToolSet[string],
    ]),
  );
  let lastText = "";

  for (let step = 1; step <= limits.maxSteps; step++) {
    signal.throwIfAborted();
    const isLast = step === limits.maxSteps && step > 1;
    const limit = timeLimit(limits.stepTimeoutSec * 1000, signal);
    const answer = await generateText({
      model: options.model,
      system: isLast ? `${options.system}\n\n${LAST_STEP}` : options.system,
      messages:
        options.tools.length > 0 ? [...options.history, ...messages] : inWords([...options.history, ...messages]),
      tools,
      maxOutputTokens: limits.maxOutputTokens,
      maxRetries: limits.maxRetries,
      abortSignal: limit.signal,
    }).finally(limit.done);
    const { inputTokens = 0, outputTokens = 0 } = answer.usage;
    options.onUsage?.({ input: inputTokens, output: outputTokens });
    const calls = answer.toolCalls;
    if (answer.text.trim() !== "") lastText = answer.text;
    const said = assistantMessage(answer.response.messages, limits.maxToolChars);
    if (said) messages.push(said);

    if (calls.length === 0) {
      await options.save(messages, dispatched);
      if (answer.finishReason === "length") return { kind: "cut-short", by: "length", text: lastText };
      if (answer.finishReason === "content-filter") return { kind: "cut-short", by: "filter", text: lastText };
      return { kind: "answered", text: answer.text };
    }

    const results: CallResult[] = [];
    /** What the model gets for these calls as far as they are known, so that no call is ever without a result. */
    const soFar = (rest: string): ModelMessage[] => [
      ...messages,
      {
        role: "tool",
        content: calls.map((call, index) => resultPart(call, results[index] ?? { text: rest, isError: true })),
      },
    ];
    for (const [index, call] of calls.entries()) {
      if (isLast) {
        results.push({ text: "Not run: the turn had no steps left.", isError: true });
        continue;
      }
      if (call.invalid) {
        results.push({ text: invalidCall(call, options.tools), isError: true });
        continue;
      }
      dispatched.push(callLabel(call.toolName, call.input));
      await options.save(soFar(OUTCOME_UNKNOWN), dispatched);
      signal.throwIfAborted();
      const result = await options.call({ id: `${step}.${index}`, name: call.toolName, input: call.input });
      results.push({ text: bounded(result.text, limits.maxToolChars), isError: result.isError });
    }
    messages.splice(0, messages.length, ...soFar(""));
    await options.save(messages, dispatched);
    const heard = isLast ? undefined : await options.meanwhile();
    if (heard === undefined || heard.messages.length === 0) continue;
    messages.push(...heard.messages);
    await options.save(messages, dispatched);
    await heard.arrived();
  }
  return { kind: "cut-short", by: "steps", text: lastText };
}

/** What stands for a result that was not there when the gateway ended, or the turn was stopped. */
const OUTCOME_UNKNOWN =
  "Outcome unknown: the turn ended before a result came. It may have run; look before you run it again.";
const LAST_STEP = "This is the last step of this turn: answer now, without calling a tool.";

/** The SDK's own message of this step, its arguments bounded. Nothing at all is no message. */
function assistantMessage(messages: readonly ModelMessage[], maxChars: number): ModelMessage | undefined {
  const said = messages.find((message) => message.role === "assistant");
  if (said?.role !== "assistant" || typeof said.content === "string") return said;
  return {
    ...said,
    content: said.content.map((part) =>
      part.type === "tool-call" ? { ...part, input: boundedInput(part.input, maxChars) } : part,
    ),
  };
}

function invalidCall(call: { readonly toolName: string }, tools: readonly ToolDescription[]): string {
  const names = tools.map((one) => one.name);
  return names.some((name) => name === call.toolName)
    ? `The arguments of ${call.toolName} are not JSON. Nothing was run. Make the call again with one JSON object.`
    : `There is no tool "${call.toolName.slice(0, 64)}" here. ${names.length > 0 ? `There are: ${names.join(", ")}.` : "There is none."} Nothing was run.`;
}
