/**
 * The gateway token: whoever holds it may run commands here. It comes from `gateway.auth.token`, from
 * `OPENCLAW_GATEWAY_TOKEN`, or is made at the first start and kept in the state directory.
 */
import { randomBytes } from "node:crypto";
import { constants } from "node:fs";
import { link, mkdir, open, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { ExecError } from "../core/errors.ts";

export const TOKEN_FILE = "gateway-token";
const TOKEN_ENV = "OPENCLAW_GATEWAY_TOKEN";
const TOKEN_BYTES = 32;
/** Below this a token can be guessed by a patient stranger; such a token is good for loopback only. */
export const SHORT_TOKEN_CHARS = 16;
/** From here on guessing is hopeless, whatever the rate. */
export const UNGUESSABLE_TOKEN_CHARS = 32;
/** Printable ASCII without spaces: what fits into a header unchanged. */
const TOKEN_SHAPE = /^[\x21-\x7e]{1,512}$/;

export interface GatewayToken {
  readonly token: string;
  readonly from: "config" | "environment" | "file";
  /** True when this call made it: the one time its link is printed unasked. */
  readonly created: boolean;
}

export interface TokenSources {
  readonly stateDir: string;
  /** `gateway.auth.token`, its secret reference already resolved. */
  readonly configured?: string | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
}

export async function loadGatewayToken(sources: TokenSources): Promise<GatewayToken> {
  const given = await findGatewayToken(sources);
  if (given) return { ...given, created: false };
  return createTokenFile(sources.stateDir);
}

/** Like `loadGatewayToken` but never makes one: for clients. */
export async function findGatewayToken(sources: TokenSources): Promise<Omit<GatewayToken, "created"> | undefined> {
  if (sources.configured !== undefined) {
    return { token: checked(sources.configured, "gateway.auth.token"), from: "config" };
  }
  const fromEnv = sources.env[TOKEN_ENV];
  if (fromEnv) return { token: checked(fromEnv, TOKEN_ENV), from: "environment" };
  const path = join(sources.stateDir, TOKEN_FILE);
  const token = await readTokenFile(path);
  return token === undefined ? undefined : { token, from: "file" };
}

/** The token in a file that only its owner may read; `undefined` when there is none. */
export async function readTokenFile(path: string): Promise<string | undefined> {
  let file: Awaited<ReturnType<typeof open>>;
  try {
    file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code === "ENOENT") return undefined;
    if (code === "ELOOP") {
      throw new ExecError("invalid-argument", `${path} is a symbolic link. A token file must be a plain file.`);
    }
    throw error;
  }
  try {
    const { mode } = await file.stat();
    if ((mode & 0o077) !== 0 && process.platform !== "win32") {
      throw new ExecError("invalid-argument", `Others can read ${path}. Make it private: chmod 600 ${path}`);
    }
    return checked((await file.readFile("utf8")).trim(), path);
  } finally {
    await file.close();
  }
}

async function createTokenFile(stateDir: string): Promise<GatewayToken> {
  await mkdir(stateDir, { recursive: true, mode: 0o700 });
  const path = join(stateDir, TOKEN_FILE);
  const token = randomBytes(TOKEN_BYTES).toString("base64url");
  const draft = `${path}.${process.pid}.${randomBytes(4).toString("hex")}`;
  await writeFile(draft, `${token}\n`, { mode: 0o600, flag: "wx" });
  try {
    // A link appears whole or not at all, and never over a token that another process made meanwhile.
    await link(draft, path);
    return { token, from: "file", created: true };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    const existing = await readTokenFile(path);
    if (existing === undefined) throw error;
    return { token: existing, from: "file", created: false };
  } finally {
    await rm(draft, { force: true });
  }
}

function checked(token: string, source: string): string {
  if (TOKEN_SHAPE.test(token)) return token;
  throw new ExecError(
    "invalid-argument",
    token === ""
      ? `${source} is empty. Remove it and a token is made at the next start, or put one in.`
      : `${source} is not a token: 1 to 512 printable ASCII characters without spaces.`,
  );
}

/** The link that opens the web chat. The fragment never leaves the browser, so no proxy or log sees the token. */
export function chatLink(url: string, token: string): string {
  return `${url}/#token=${encodeURIComponent(token)}`;
}
