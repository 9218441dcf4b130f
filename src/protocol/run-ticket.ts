/**
 * The ticket of a prepared run. The node makes one when it has looked at a command, signed with its device key; the
 * gateway keeps it with the approval and hands it back to run. So a decision is worth exactly one run of exactly one
 * thing on exactly one device, also after the node was restarted meanwhile. Does no I/O.
 */
import type { KeyObject } from "node:crypto";
import { z } from "zod";
import { isSignedBy, signText } from "./device-auth.ts";

const claimsSchema = z.strictObject({
  v: z.literal(1),
  device: z.string().max(64),
  gateway: z.string().max(128),
  run: z.string().max(128),
  agent: z.string().max(64),
  session: z.string().max(512),
  /** Binding hashes it is good for: of what was shown, and of what the fallback would run. */
  bindings: z.array(z.string().max(64)).min(1).max(2),
  /** Milliseconds since the epoch, on the node's clock. */
  expires: z.number(),
});

export type TicketClaims = z.output<typeof claimsSchema>;

/** So that a signature over a ticket can never be one over a connect. */
const PURPOSE = "openclaw-run-ticket";
export const MAX_TICKET_CHARS = 4_096;

export function issueTicket(claims: TicketClaims, privateKey: KeyObject): string {
  const body = Buffer.from(JSON.stringify(claims)).toString("base64url");
  return `${body}.${signText(`${PURPOSE}|${body}`, privateKey)}`;
}

/** Undefined when it was not made by the holder of that key. Expiry is for the caller to look at. */
export function readTicket(ticket: string, publicKey: KeyObject): TicketClaims | undefined {
  if (ticket.length > MAX_TICKET_CHARS) return undefined;
  const [body = "", signature = "", ...more] = ticket.split(".");
  if (more.length > 0 || !isSignedBy(`${PURPOSE}|${body}`, signature, publicKey)) return undefined;
  try {
    return claimsSchema.safeParse(JSON.parse(Buffer.from(body, "base64url").toString("utf8"))).data;
  } catch {
    return undefined;
  }
}
