/**
 * The tools of a gateway for outside agents, over the Model Context Protocol: the same three tools, the same policy, the
 * same approvals. Nothing here decides or runs; what a call gives is what the gateway answered. There is no tool that
 * answers an approval, so an agent can ask and never decide.
 */
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import {
  CallToolRequestSchema,
  type CallToolResult,
  ListToolsRequestSchema,
  McpError,
  ErrorCode as McpErrorCode,
  type Tool,
} from "@modelcontextprotocol/sdk/types.js";
import { ExecError } from "../core/errors.ts";

/** What the gateway lists: `exec`, `process`, `apply_patch`, as far as its tool policy lets them. */
export interface OfferedTool {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the arguments. */
  readonly schema: Readonly<Record<string, unknown>>;
}

export interface AnsweredCall {
  readonly content: readonly { readonly type: "text"; readonly text: string }[];
  readonly details: Readonly<Record<string, unknown>>;
}

/** The gateway as this room sees it. Both reject with an `ExecError` whose message says what to do. */
export interface ToolGateway {
  list(signal: AbortSignal): Promise<readonly OfferedTool[]>;
  /** An aborted signal ends a command that is still in the foreground, as a caller that hangs up does. */
  call(name: string, args: Readonly<Record<string, unknown>>, signal: AbortSignal): Promise<AnsweredCall>;
}

const INSTRUCTIONS = `Commands run on the gateway's machine, under its policy. A person may have to allow one first: the answer is then approval-pending, with the id they see. Never start such a command again: process list shows it once it was allowed, and an answer never comes by itself. What takes longer than the yield window goes on in the background: look at it with process poll, which waits up to its timeout.`;

/** Hints for clients that ask before they call: every tool but reading ones can change the machine. */
const ANNOTATIONS: Readonly<Record<string, Tool["annotations"]>> = {
  exec: { title: "Run a command", destructiveHint: true, openWorldHint: true },
  process: { title: "Background sessions", destructiveHint: true, openWorldHint: false },
  apply_patch: { title: "Edit files", destructiveHint: true, openWorldHint: false },
};

export function createMcpServer({
  gateway,
  version,
}: {
  readonly gateway: ToolGateway;
  readonly version: string;
}): Server {
  const server = new Server(
    { name: "openclaw-exec", title: "openclaw-exec", version },
    { capabilities: { tools: {} }, instructions: INSTRUCTIONS },
  );
  server.setRequestHandler(ListToolsRequestSchema, async (_request, { signal }) => {
    try {
      return { tools: (await gateway.list(signal)).map(toolOf) };
    } catch (error) {
      // A list can not carry a failure inside, as a result can.
      if (error instanceof ExecError) throw new McpError(McpErrorCode.InternalError, error.message);
      throw error;
    }
  });
  server.setRequestHandler(CallToolRequestSchema, async ({ params }, { signal }): Promise<CallToolResult> => {
    try {
      return resultOf(await gateway.call(params.name, params.arguments ?? {}, signal));
    } catch (error) {
      // A refusal is for the model to read, not a fault of the protocol.
      if (!(error instanceof ExecError)) throw error;
      return {
        isError: true,
        content: [{ type: "text", text: error.message }],
        structuredContent: { status: "failed", code: error.code, error: error.message, ...error.details },
      };
    }
  });
  return server;
}

function toolOf({ name, description, schema }: OfferedTool): Tool {
  const annotations = ANNOTATIONS[name];
  return {
    name,
    description,
    inputSchema: { ...schema, type: "object" } as Tool["inputSchema"],
    ...(annotations === undefined ? {} : { annotations }),
  };
}

function resultOf({ content, details }: AnsweredCall): CallToolResult {
  return {
    content: content.map(({ text }) => ({ type: "text", text })),
    structuredContent: { ...details },
    ...(details.status === "failed" ? { isError: true } : {}),
  };
}
