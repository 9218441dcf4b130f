/** Requests and replies as the emulators see them. */
import type { IncomingMessage, ServerResponse } from "node:http";
import { parseMultipart } from "./multipart.ts";

export interface UploadedPart {
  readonly field: string;
  readonly filename: string;
  readonly contentType: string;
  readonly bytes: Buffer;
}

export interface EmulatorRequest {
  readonly method: string;
  /** Without query, still percent-encoded as the client sent it. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingMessage["headers"];
  readonly raw: Buffer;
  /** JSON value, or an object of form fields; `undefined` without a body. */
  readonly body: unknown;
  readonly parts: readonly UploadedPart[];
  /** Aborted when the client goes away: a long poll must let go. */
  readonly signal: AbortSignal;
}

export interface EmulatorReply {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  readonly json?: unknown;
  /** Sent as it is. */
  readonly body?: string | Buffer;
}

export const MAX_BODY_BYTES = 64 * 1024 * 1024;

export async function readRequest(request: IncomingMessage, response: ServerResponse): Promise<EmulatorRequest> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request) {
    size += (chunk as Buffer).length;
    if (size > MAX_BODY_BYTES) throw new Error("request body is larger than the emulator takes");
    chunks.push(chunk as Buffer);
  }
  const raw = Buffer.concat(chunks);
  const target = new URL(request.url ?? "/", "http://emulator");
  const gone = new AbortController();
  response.once("close", () => gone.abort());
  const path = (request.url ?? "/").split("?", 1)[0] ?? "/";
  const { body, parts } = parseBody(raw, request.headers["content-type"] ?? "");
  return {
    method: request.method ?? "GET",
    path,
    query: target.searchParams,
    headers: request.headers,
    raw,
    body,
    parts,
    signal: gone.signal,
  };
}

function parseBody(raw: Buffer, type: string): { body: unknown; parts: UploadedPart[] } {
  if (raw.length === 0) return { body: undefined, parts: [] };
  if (type.startsWith("application/json")) {
    try {
      return { body: JSON.parse(raw.toString("utf8")), parts: [] };
    } catch {
      return { body: undefined, parts: [] };
    }
  }
  if (type.startsWith("application/x-www-form-urlencoded")) {
    return { body: Object.fromEntries(new URLSearchParams(raw.toString("utf8"))), parts: [] };
  }
  if (!type.startsWith("multipart/form-data")) return { body: undefined, parts: [] };
  const fields: Record<string, string> = {};
  const parts: UploadedPart[] = [];
  for (const { name, filename, contentType, bytes } of parseMultipart(raw, type)) {
    if (filename === undefined) fields[name] = bytes.toString("utf8");
    else parts.push({ field: name, filename, contentType, bytes });
  }
  return { body: fields, parts };
}

export function writeReply(response: ServerResponse, reply: EmulatorReply): void {
  const payload = reply.json === undefined ? reply.body : JSON.stringify(reply.json);
  const headers: Record<string, string> = { ...reply.headers };
  // A 204 that names a JSON body makes discord.js parse nothing and fail.
  if (reply.json !== undefined) headers["content-type"] ??= "application/json; charset=utf-8";
  response.writeHead(reply.status, headers);
  response.end(payload);
}
