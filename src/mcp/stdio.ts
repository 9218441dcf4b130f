/** Standard input and output as MCP's transport: one JSON-RPC message per line. */
import type { Readable, Writable } from "node:stream";
import type { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";

/** Resolves when the client has closed its side. Calls at work are cancelled then: nobody reads their answers. */
export async function serveStdio(server: Server, input: Readable, output: Writable): Promise<void> {
  const ended = new Promise<void>((resolve) => {
    input.once("end", resolve);
    input.once("close", resolve);
  });
  await server.connect(new StdioServerTransport(input, output));
  await ended;
  await server.close();
}
