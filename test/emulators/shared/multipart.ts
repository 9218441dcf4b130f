/**
 * RFC 7578 as servers really take it: clients differ in blanks and quotes (grammY sends `filename=log.txt` bare), and
 * Node's own parser refuses them.
 */
export interface MultipartPart {
  readonly name: string;
  readonly filename: string | undefined;
  readonly contentType: string;
  readonly bytes: Buffer;
}

const CRLF = "\r\n";

/** @throws Error when the body has no boundary or ends too early. */
export function parseMultipart(body: Buffer, contentType: string): MultipartPart[] {
  const boundary = /boundary=(?:"([^"]+)"|([^;\s]+))/i.exec(contentType);
  const mark = boundary?.[1] ?? boundary?.[2];
  if (mark === undefined) throw new Error("multipart body without a boundary");
  const delimiter = Buffer.from(`--${mark}`);
  const parts: MultipartPart[] = [];
  let at = body.indexOf(delimiter);
  while (at >= 0) {
    const start = at + delimiter.length;
    if (body.subarray(start, start + 2).toString("latin1") === "--") return parts;
    const next = body.indexOf(Buffer.concat([Buffer.from(CRLF), delimiter]), start);
    if (next < 0) throw new Error("multipart body ends inside a part");
    const part = parsePart(body.subarray(start + CRLF.length, next));
    if (part) parts.push(part);
    at = next + CRLF.length;
  }
  return parts;
}

function parsePart(raw: Buffer): MultipartPart | undefined {
  const split = raw.indexOf(`${CRLF}${CRLF}`);
  if (split < 0) return undefined;
  const headers = new Map(
    raw
      .subarray(0, split)
      .toString("utf8")
      .split(CRLF)
      .map((line) => {
        const colon = line.indexOf(":");
        return [line.slice(0, colon).trim().toLowerCase(), line.slice(colon + 1).trim()] as const;
      }),
  );
  const disposition = headers.get("content-disposition") ?? "";
  const name = parameter(disposition, "name");
  if (name === undefined) return undefined;
  return {
    name,
    filename: parameter(disposition, "filename"),
    contentType: headers.get("content-type") ?? "text/plain",
    bytes: Buffer.from(raw.subarray(split + 2 * CRLF.length)),
  };
}

function parameter(header: string, name: string): string | undefined {
  const found = new RegExp(`(?:^|;)\\s*${name}=(?:"((?:[^"\\\\]|\\\\.)*)"|([^;]*))`, "i").exec(header);
  return found?.[1] ?? found?.[2]?.trim();
}
