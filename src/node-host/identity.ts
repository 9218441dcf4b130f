/** Who this node is: an Ed25519 key that never leaves the machine, and what the gateways it is paired with gave it. */
import { createPrivateKey, generateKeyPairSync, type KeyObject } from "node:crypto";
import { join } from "node:path";
import { z } from "zod";
import { ExecError } from "../core/errors.ts";
import { deviceIdOf, rawPublicKey } from "../protocol/device-auth.ts";
import { createPrivate, privateFolder, readPrivate, writePrivate } from "./private-file.ts";

export const NODE_FOLDER = "node";
const KEY_FILE = "device-key.pem";
const TOKENS_FILE = "device-tokens.json";

export interface NodeIdentity {
  readonly folder: string;
  readonly deviceId: string;
  readonly privateKey: KeyObject;
  /** base64url of the raw key. */
  readonly publicKey: string;
}

/** Makes the key when there is none. @throws ExecError when its file can not be trusted. */
export function loadIdentity(stateDir: string, uniqueId: string): NodeIdentity {
  const folder = privateFolder(join(stateDir, NODE_FOLDER));
  const path = join(folder, KEY_FILE);
  const privateKey = readKey(path) ?? makeKey(path, uniqueId);
  const raw = rawPublicKey(privateKey);
  return { folder, privateKey, deviceId: deviceIdOf(raw), publicKey: raw.toString("base64url") };
}

function readKey(path: string): KeyObject | undefined {
  const pem = readPrivate(path);
  if (pem === undefined) return undefined;
  try {
    const key = createPrivateKey(pem);
    if (key.asymmetricKeyType === "ed25519") return key;
  } catch {
    // Said below.
  }
  throw new ExecError(
    "invalid-argument",
    `${path} is not an Ed25519 key. Move it away and the node gets a new identity, which has to be paired anew.`,
  );
}

function makeKey(path: string, uniqueId: string): KeyObject {
  const { privateKey } = generateKeyPairSync("ed25519");
  createPrivate(path, privateKey.export({ type: "pkcs8", format: "pem" }).toString(), uniqueId);
  // Another process may have been quicker: its key counts.
  return readKey(path) ?? privateKey;
}

const tokensSchema = z.record(z.string(), z.string());

/** Device tokens by the address of the gateway. */
export class DeviceTokens {
  readonly #path: string;
  readonly #newId: () => string;

  constructor(folder: string, newId: () => string) {
    this.#path = join(folder, TOKENS_FILE);
    this.#newId = newId;
  }

  get(endpoint: string): string | undefined {
    return this.#all()[endpoint];
  }

  set(endpoint: string, token: string): void {
    writePrivate(this.#path, `${JSON.stringify({ ...this.#all(), [endpoint]: token })}\n`, this.#newId());
  }

  #all(): Readonly<Record<string, string>> {
    const text = readPrivate(this.#path);
    if (text === undefined) return {};
    try {
      return tokensSchema.parse(JSON.parse(text));
    } catch {
      // Without them it has to be paired again, which an owner sees.
      return {};
    }
  }
}
