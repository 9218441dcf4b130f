/**
 * How a node proves which device it is (hosts.md section 3): an Ed25519 key, and a signature over one line of text with
 * the gateway's nonce in it. Shared by both ends, so that they can not read the line differently. Does no I/O.
 */
import { createHash, createPublicKey, type KeyObject, sign, verify } from "node:crypto";

/** First part of the signed line; another line is another version. */
const SIGNATURE_VERSION = "v3";
export const MAX_SIGNATURE_AGE_MS = 120_000;
const RAW_KEY_BYTES = 32;
const SIGNATURE_BYTES = 64;
/** What no part of the line may hold, or two lines could be read as one another. */
const UNFIT = /[|\r\n\0]/;

export type DeviceAuthCode =
  | "DEVICE_AUTH_NONCE_REQUIRED"
  | "DEVICE_AUTH_NONCE_MISMATCH"
  | "DEVICE_AUTH_SIGNATURE_INVALID"
  | "DEVICE_AUTH_SIGNATURE_EXPIRED"
  | "DEVICE_AUTH_DEVICE_ID_MISMATCH"
  | "DEVICE_AUTH_PUBLIC_KEY_INVALID";

/** Everything a connect is signed over. */
export interface SignedConnect {
  readonly deviceId: string;
  readonly clientId: string;
  readonly mode: string;
  readonly role: string;
  readonly scopes: readonly string[];
  /** Milliseconds since the epoch: the `ts` of the challenge, so that only the gateway's clock counts. */
  readonly signedAtMs: number;
  /** Whatever is presented to be let in: device token, gateway token or setup code. Empty: none. */
  readonly token: string;
  readonly nonce: string;
  readonly platform: string;
  readonly deviceFamily: string;
}

/** @throws RangeError when a part holds what separates the parts. */
export function signatureText(connect: SignedConnect): string {
  const parts = [
    SIGNATURE_VERSION,
    connect.deviceId,
    connect.clientId,
    connect.mode,
    connect.role,
    connect.scopes.join(","),
    String(connect.signedAtMs),
    connect.token,
    connect.nonce,
    connect.platform.toLowerCase(),
    connect.deviceFamily.toLowerCase(),
  ];
  if (connect.scopes.some((scope) => scope.includes(",")) || parts.some((part) => UNFIT.test(part))) {
    throw new RangeError("A part of a signed connect holds a separator.");
  }
  return parts.join("|");
}

/** SHA-256 (hex) of the raw 32 bytes of the public key. */
export function deviceIdOf(rawPublicKey: Uint8Array): string {
  return createHash("sha256").update(rawPublicKey).digest("hex");
}

/** The raw 32 bytes of an Ed25519 key, private or public. */
export function rawPublicKey(key: KeyObject): Buffer {
  const { x } = (key.type === "private" ? createPublicKey(key) : key).export({ format: "jwk" });
  return Buffer.from(x ?? "", "base64url");
}

/** Undefined when `encoded` (base64url of 32 bytes) is no such key. */
export function publicKeyOf(encoded: string): KeyObject | undefined {
  if (!/^[A-Za-z0-9_-]{43}$/.test(encoded) || Buffer.from(encoded, "base64url").length !== RAW_KEY_BYTES) {
    return undefined;
  }
  try {
    return createPublicKey({ key: { kty: "OKP", crv: "Ed25519", x: encoded }, format: "jwk" });
  } catch {
    return undefined;
  }
}

/** base64url. */
export function signText(text: string, privateKey: KeyObject): string {
  return sign(null, Buffer.from(text), privateKey).toString("base64url");
}

export function isSignedBy(text: string, signature: string, publicKey: KeyObject): boolean {
  const bytes = Buffer.from(signature, "base64url");
  // Base64 has several spellings of the same bytes; only one is ours.
  if (bytes.length !== SIGNATURE_BYTES || bytes.toString("base64url") !== signature) return false;
  return verify(null, Buffer.from(text), publicKey, bytes);
}

export interface PresentedDevice {
  readonly id: string;
  /** base64url of the raw key. */
  readonly publicKey: string;
  readonly signature: string;
  readonly nonce: string;
}

/** Undefined: it is this device. `challenge`: what this socket was asked; `now` on the same clock as its `ts`. */
export function refuseDevice(
  device: PresentedDevice,
  connect: Omit<SignedConnect, "deviceId" | "nonce">,
  challenge: { readonly nonce: string; readonly ts: number },
  now: number,
): DeviceAuthCode | undefined {
  if (device.nonce === "") return "DEVICE_AUTH_NONCE_REQUIRED";
  if (device.nonce !== challenge.nonce) return "DEVICE_AUTH_NONCE_MISMATCH";
  const key = publicKeyOf(device.publicKey);
  if (!key) return "DEVICE_AUTH_PUBLIC_KEY_INVALID";
  if (deviceIdOf(rawPublicKey(key)) !== device.id) return "DEVICE_AUTH_DEVICE_ID_MISMATCH";
  if (connect.signedAtMs !== challenge.ts || now - challenge.ts > MAX_SIGNATURE_AGE_MS) {
    return "DEVICE_AUTH_SIGNATURE_EXPIRED";
  }
  try {
    const text = signatureText({ ...connect, deviceId: device.id, nonce: device.nonce });
    return isSignedBy(text, device.signature, key) ? undefined : "DEVICE_AUTH_SIGNATURE_INVALID";
  } catch {
    return "DEVICE_AUTH_SIGNATURE_INVALID";
  }
}
