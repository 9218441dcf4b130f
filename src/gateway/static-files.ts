/**
 * The built web page, held in memory: it is small, and a path from outside is only ever a key of a map, never part
 * of a file name.
 */
import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { extname, join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";

/** Beside this file's folder both in `src/` and in `dist/`. */
export const BUILT_PAGE = fileURLToPath(new URL("../../dist/web", import.meta.url));

const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
  ".png": "image/png",
  ".ico": "image/x-icon",
  ".json": "application/json; charset=utf-8",
  ".webmanifest": "application/manifest+json; charset=utf-8",
  ".txt": "text/plain; charset=utf-8",
  ".woff2": "font/woff2",
};

/** Vite puts a hash of the content into these names. */
const HASHED = /^\/assets\/.+-[\w-]{8,}\.\w+$/;
const COMPRESSIBLE = /^(?:text\/|application\/|image\/svg)/;
/** Good compression at a cost that is paid once per file and start. */
const BROTLI_QUALITY = 9;

export type Encoding = "br" | "gzip" | "identity";

export interface StaticFile {
  readonly contentType: string;
  /** Strong, of the uncompressed bytes. */
  readonly etag: string;
  readonly cacheControl: string;
  readonly compressible: boolean;
  body(encoding: Encoding): Promise<Uint8Array<ArrayBuffer>>;
}

export class StaticFiles {
  readonly #files: ReadonlyMap<string, StaticFile>;

  private constructor(files: ReadonlyMap<string, StaticFile>) {
    this.#files = files;
  }

  /** An absent folder gives no files: the gateway works without its page. */
  static async load(directory: string): Promise<StaticFiles> {
    const files = new Map<string, StaticFile>();
    for (const path of await filesUnder(directory)) {
      const url = `/${relative(directory, path).split(sep).join("/")}`;
      files.set(url, staticFile(url, new Uint8Array(await readFile(path))));
    }
    return new StaticFiles(files);
  }

  get empty(): boolean {
    return this.#files.size === 0;
  }

  get(path: string): StaticFile | undefined {
    return this.#files.get(path === "/" ? "/index.html" : path);
  }
}

async function filesUnder(directory: string): Promise<string[]> {
  try {
    const entries = await readdir(directory, { withFileTypes: true, recursive: true });
    return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  }
}

function staticFile(url: string, bytes: Uint8Array<ArrayBuffer>): StaticFile {
  const contentType = TYPES[extname(url)] ?? "application/octet-stream";
  const compressed = new Map<Encoding, Promise<Uint8Array<ArrayBuffer>>>();
  return {
    contentType,
    etag: `"${createHash("sha256").update(bytes).digest("base64url").slice(0, 22)}"`,
    cacheControl: HASHED.test(url) ? "public, max-age=31536000, immutable" : "no-cache",
    compressible: COMPRESSIBLE.test(contentType),
    body(encoding) {
      const known = compressed.get(encoding);
      if (known) return known;
      const made = compress(encoding, bytes);
      compressed.set(encoding, made);
      return made;
    },
  };
}

async function compress(encoding: Encoding, bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>> {
  switch (encoding) {
    case "br":
      return new Uint8Array(
        await promisify(brotliCompress)(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY } }),
      );
    case "gzip":
      return new Uint8Array(await promisify(gzip)(bytes, { level: 9 }));
    case "identity":
      return bytes;
  }
}
