/** Where the gateway is, and whether a connection to it may go unencrypted. Pure. */
import { isIP } from "node:net";
import { ExecError } from "../core/errors.ts";
import { NODE_PATH } from "../protocol/frames.ts";

export const DEFAULT_PORT = 18_789;
/** Lets plain connections go to any address: where another layer (a VPN, a tunnel) encrypts them. */
export const PLAINTEXT_ENV = "OPENCLAW_NODE_ALLOW_PLAINTEXT";

export interface EndpointFlags {
  readonly host?: string;
  readonly port?: number;
  readonly contextPath?: string;
  readonly tls?: boolean;
  readonly tlsFingerprint?: string;
}

export interface Endpoint {
  /** `ws://127.0.0.1:18789/ws/node` */
  readonly url: string;
  readonly tls: boolean;
  /** The other end is this machine. */
  readonly loopback: boolean;
  /** SHA-256 of the certificate, 64 hex digits in lower case. */
  readonly fingerprint?: string;
}

/** @throws ExecError `invalid-argument` */
export function endpointOf(flags: EndpointFlags, env: Readonly<Record<string, string | undefined>>): Endpoint {
  const host = (flags.host ?? "127.0.0.1").replace(/^\[|\]$/g, "");
  const port = flags.port ?? DEFAULT_PORT;
  const tls = flags.tls ?? (flags.tlsFingerprint !== undefined || port === 443);
  if (!(isIP(host) !== 0 || /^[A-Za-z0-9]([A-Za-z0-9._-]{0,252}[A-Za-z0-9])?$/.test(host))) {
    throw new ExecError("invalid-argument", `${JSON.stringify(host)} is not a host name or an IP address.`);
  }
  if (!tls && flags.tlsFingerprint !== undefined) {
    throw new ExecError("invalid-argument", "--tls-fingerprint needs --tls.");
  }
  if (!tls && !mayBePlain(host) && env[PLAINTEXT_ENV] !== "1") {
    throw new ExecError(
      "invalid-argument",
      `Refusing an unencrypted connection to ${host}. Use --tls, a private IP address, or an SSH tunnel to ` +
        `127.0.0.1; ${PLAINTEXT_ENV}=1 allows it where something else encrypts it.`,
    );
  }
  const path = `/${flags.contextPath ?? ""}`.replace(/\/+/g, "/").replace(/\/$/, "");
  const shown = isIP(host) === 6 ? `[${host}]` : host;
  return {
    url: `${tls ? "wss" : "ws"}://${shown}:${port}${path}${NODE_PATH}`,
    tls,
    loopback: isLoopback(host),
    ...(flags.tlsFingerprint === undefined ? {} : { fingerprint: fingerprintOf(flags.tlsFingerprint) }),
  };
}

function fingerprintOf(text: string): string {
  const hex = text
    .replace(/^sha256:/i, "")
    .replaceAll(":", "")
    .toLowerCase();
  if (/^[0-9a-f]{64}$/.test(hex)) return hex;
  throw new ExecError("invalid-argument", "--tls-fingerprint is the SHA-256 of the certificate: 64 hex digits.");
}

function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || (isIP(host) === 4 && host.startsWith("127."));
}

/** Loopback, private and link-local addresses as literals, and names of the local link. Other names are anybody's. */
function mayBePlain(host: string): boolean {
  if (isLoopback(host) || host.toLowerCase().endsWith(".local")) return true;
  if (isIP(host) === 6) return /^(?:f[cd][0-9a-f]{2}|fe[89ab][0-9a-f]):/i.test(host);
  if (isIP(host) !== 4) return false;
  const [a = 0, b = 0] = host.split(".").map(Number);
  if (a === 10 || (a === 192 && b === 168) || (a === 169 && b === 254)) return true;
  // 100.64.0.0/10 is what Tailscale gives out: encrypted by it.
  return (a === 172 && b >= 16 && b < 32) || (a === 100 && b >= 64 && b < 128);
}
