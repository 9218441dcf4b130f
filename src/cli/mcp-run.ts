/** Serves MCP on standard input and output until the client closes it; each call goes to the gateway that runs then. */
import { Writable } from "node:stream";
import * as z from "zod";
import { type ErrorCode, ExecError } from "../core/errors.ts";
import { createMcpServer, type OfferedTool, type ToolGateway } from "../mcp/server.ts";
import { serveStdio } from "../mcp/stdio.ts";
import { findGateway } from "./client.ts";
import { type Cli, EXIT } from "./io.ts";
import type { McpFlags } from "./mcp.ts";
import { version } from "./version.ts";

const failure = z.object({
  ok: z.literal(false),
  error: z.object({
    code: z.string(),
    message: z.string(),
    details: z.exactOptional(z.record(z.string(), z.unknown())),
  }),
});
const called = z.discriminatedUnion("ok", [
  z.object({
    ok: z.literal(true),
    result: z.object({
      content: z.array(z.object({ type: z.literal("text"), text: z.string() })),
      details: z.record(z.string(), z.unknown()),
    }),
  }),
  failure,
]);
const listed = z.discriminatedUnion("ok", [
  z.object({
    ok: z.literal(true),
    tools: z.array(z.object({ name: z.string(), description: z.string(), schema: z.record(z.string(), z.unknown()) })),
  }),
  failure,
]);

export async function runMcp(cli: Cli, flags: McpFlags): Promise<number> {
  const server = createMcpServer({ gateway: overHttp(cli, flags), version: version() });
  server.onerror = (error) => cli.err(`MCP: ${error.message}`);
  await serveStdio(server, cli.stdin, linesTo(cli));
  return EXIT.ok;
}

/** Found anew for each call, so that a gateway that was restarted elsewhere is found again. */
function overHttp(cli: Cli, flags: McpFlags): ToolGateway {
  async function ask<T>(path: string, init: RequestInit, answer: z.ZodType<T>): Promise<T> {
    const { url, token } = await findGateway(cli, flags);
    const headers = {
      ...(init.body === undefined ? {} : { "content-type": "application/json" }),
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    };
    let body: unknown;
    try {
      body = await (await fetch(`${url}${path}`, { ...init, headers })).json();
    } catch (error) {
      if (init.signal?.aborted) throw error;
      throw unreachable(url, error);
    }
    const parsed = answer.safeParse(body);
    if (parsed.success) return parsed.data;
    throw new ExecError("gateway-unreachable", `What answers at ${url} is not a gateway of this version.`);
  }

  const agent: Record<string, string> = flags.agent === undefined ? {} : { agentId: flags.agent };
  return {
    async list(signal): Promise<readonly OfferedTool[]> {
      const answer = await ask(`/tools/list?${new URLSearchParams(agent)}`, { signal }, listed);
      return answer.ok ? answer.tools : refuse(answer.error);
    },
    async call(tool, args, signal) {
      const session = flags.session === undefined ? {} : { sessionKey: flags.session };
      const body = JSON.stringify({ tool, args, ...agent, ...session });
      const answer = await ask("/tools/invoke", { method: "POST", body, signal }, called);
      return answer.ok ? answer.result : refuse(answer.error);
    },
  };
}

function unreachable(url: string, error: unknown): ExecError {
  const code = (error as { cause?: { code?: unknown } } | undefined)?.cause?.code;
  return new ExecError(
    "gateway-unreachable",
    code === "ECONNREFUSED" || code === "ENOTFOUND"
      ? `No gateway answers at ${url}. Nothing was run. Start it with: openclaw-exec gateway`
      : `The gateway at ${url} did not answer. Whether the call reached it is not known: look with process list before repeating it.`,
  );
}

function refuse(error: z.output<typeof failure>["error"]): never {
  throw new ExecError(error.code as ErrorCode, error.message, error.details);
}

/** Standard output belongs to the protocol: one message, one line. */
function linesTo(cli: Cli): Writable {
  let partial = "";
  return new Writable({
    decodeStrings: false,
    write(chunk: Buffer | string, _encoding, done) {
      const lines = (partial + chunk.toString()).split("\n");
      partial = lines.pop() ?? "";
      for (const line of lines) cli.out(line);
      done();
    },
  });
}
