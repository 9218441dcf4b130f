/** Where a request comes from, and whether its `Host` and `Origin` are ours. Pure. */
import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import { isIP, isIPv6 } from "node:net";
import { ExecError } from "../core/errors.ts";

export interface Peer {
  /** Address of the other end of the socket, IPv4-mapped IPv6 shown as IPv4. */
  readonly address: string;
  /** The socket ends on this machine and nothing says that it was passed on for somebody else. */
  readonly local: boolean;
  /** Something says that it was passed on for somebody else, so the address is not the client's. */
  readonly forwarded: boolean;
}

/** Headers by which a proxy says that the socket's address is not the client's (hosts.md section 3). */
const FORWARDING = /^(?:forwarded|x-forwarded-.+|x-real-ip|cf-connecting-ip|true-client-ip)$/;

export function peerOf(request: IncomingMessage): Peer {
  const address = plainAddress(request.socket.remoteAddress ?? "");
  const forwarded = Object.keys(request.headers).some((name) => FORWARDING.test(name));
  return { address, local: isLoopback(address) && !forwarded, forwarded };
}

export function plainAddress(address: string): string {
  return address.toLowerCase().startsWith("::ffff:") ? address.slice("::ffff:".length) : address;
}

export function isLoopback(host: string): boolean {
  const name = host.toLowerCase().replace(/^\[|\]$/g, "");
  return name === "localhost" || name === "::1" || (isIP(name) === 4 && name.startsWith("127."));
}

/** One key per customer of a network: a whole /64 belongs to one IPv6 user. */
export function limiterKey(address: string): string {
  if (!isIPv6(address)) return address;
  const [head = "", tail = ""] = address.split("::");
  const left = head === "" ? [] : head.split(":");
  const right = tail === "" ? [] : tail.split(":");
  const zeros = address.includes("::") ? Array<string>(Math.max(0, 8 - left.length - right.length)).fill("0") : [];
  return `${[...left, ...zeros, ...right].slice(0, 4).join(":")}::/64`;
}

export interface SiteRules {
  readonly allowedOrigins: readonly string[];
  /** Host names besides loopback and IP literals. */
  readonly allowedHosts: readonly string[];
}

const HOST_SHAPE = /^(?:\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::\d{1,5})?$/i;

/**
 * A page on a foreign name can make a browser talk to a local port by pointing that name at 127.0.0.1 (DNS
 * rebinding); the `Host` header then still holds the foreign name. An IP literal can not be rebound.
 */
export function checkHost(host: string | undefined, rules: SiteRules): void {
  const name = host && HOST_SHAPE.test(host) ? host.replace(/:\d+$/, "").toLowerCase() : undefined;
  if (name !== undefined) {
    if (isLoopback(name) || isIP(name.replace(/^\[|\]$/g, "")) !== 0) return;
    if (rules.allowedHosts.some((allowed) => allowed.toLowerCase() === name)) return;
    if (rules.allowedOrigins.some((origin) => originHost(origin) === name)) return;
  }
  throw new ExecError(
    "not-authorized",
    `The gateway does not answer under the name ${JSON.stringify(host ?? "")}. ` +
      "Use its IP address or localhost, or add the address to gateway.allowedOrigins.",
  );
}

/** A browser names the page it acts for; programs send no `Origin` and are judged by their token alone. */
export function checkOrigin(headers: IncomingHttpHeaders, rules: SiteRules): void {
  const { origin } = headers;
  if (origin === undefined) return;
  if (rules.allowedOrigins.some((allowed) => allowed.toLowerCase().replace(/\/$/, "") === origin.toLowerCase())) return;
  if (URL.canParse(origin) && new URL(origin).host === (headers.host ?? "").toLowerCase().replace(/:80$/, "")) return;
  throw new ExecError(
    "not-authorized",
    `The page ${JSON.stringify(origin)} may not use this gateway. Add it to gateway.allowedOrigins if it should.`,
  );
}

function originHost(origin: string): string | undefined {
  return URL.canParse(origin) ? new URL(origin).hostname.toLowerCase() : undefined;
}
