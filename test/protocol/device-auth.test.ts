import { generateKeyPairSync } from "node:crypto";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  deviceIdOf,
  isSignedBy,
  MAX_SIGNATURE_AGE_MS,
  publicKeyOf,
  rawPublicKey,
  refuseDevice,
  type SignedConnect,
  signatureText,
  signText,
} from "../../src/protocol/device-auth.ts";
import { issueTicket, readTicket, type TicketClaims } from "../../src/protocol/run-ticket.ts";

const { privateKey, publicKey } = generateKeyPairSync("ed25519");
const raw = rawPublicKey(privateKey);

const part = fc.stringMatching(/^[A-Za-z0-9._-]{0,24}$/);
const connects: fc.Arbitrary<SignedConnect> = fc.record({
  deviceId: fc.stringMatching(/^[0-9a-f]{64}$/),
  clientId: part,
  mode: part,
  role: part,
  scopes: fc.array(fc.stringMatching(/^[a-z.]{1,12}$/), { maxLength: 3 }),
  signedAtMs: fc.nat(),
  token: part,
  nonce: part,
  platform: fc.stringMatching(/^[a-z0-9]{0,8}$/),
  deviceFamily: fc.stringMatching(/^[a-z0-9]{0,8}$/),
});

describe("the line a device signs", () => {
  it("is the documented one", () => {
    const text = signatureText({
      deviceId: "d".repeat(64),
      clientId: "node-host",
      mode: "node",
      role: "node",
      scopes: ["a", "b"],
      signedAtMs: 17,
      token: "t",
      nonce: "n",
      platform: "Linux",
      deviceFamily: "X64",
    });
    expect(text).toBe(`v3|${"d".repeat(64)}|node-host|node|node|a,b|17|t|n|linux|x64`);
  });

  it("is another one for every other connect", () => {
    fc.assert(
      fc.property(connects, connects, (one, other) => {
        const same = JSON.stringify(one) === JSON.stringify(other);
        expect(signatureText(one) === signatureText(other)).toBe(same);
      }),
    );
  });

  it("takes no part that could be read as two", () => {
    fc.assert(
      fc.property(
        connects,
        fc.constantFrom("|", "\n", "\r", "\0"),
        fc.constantFrom("clientId", "token", "nonce", "platform"),
        (connect, mark, key) => {
          expect(() => signatureText({ ...connect, [key]: `a${mark}b` })).toThrow(RangeError);
        },
      ),
    );
    expect(() => signatureText({ ...fc.sample(connects, 1)[0], scopes: ["a,b"] } as SignedConnect)).toThrow(RangeError);
  });

  it("holds for its signature and for no other text, key or spelling", () => {
    fc.assert(
      fc.property(fc.string(), fc.nat(511), (text, bit) => {
        const signature = signText(text, privateKey);
        expect(isSignedBy(text, signature, publicKey)).toBe(true);
        expect(isSignedBy(`${text}x`, signature, publicKey)).toBe(false);
        const bytes = Buffer.from(signature, "base64url");
        const at = bit >> 3;
        bytes[at] = (bytes[at] ?? 0) ^ (1 << (bit & 7));
        expect(isSignedBy(text, bytes.toString("base64url"), publicKey)).toBe(false);
        expect(isSignedBy(text, `${signature}=`, publicKey)).toBe(false);
      }),
      { numRuns: 60 },
    );
  });
});

describe("a presented device", () => {
  const challenge = { nonce: "nonce-0123456789", ts: 1_000_000 };
  const about = {
    clientId: "node-host",
    mode: "node",
    role: "node",
    scopes: [],
    signedAtMs: challenge.ts,
    token: "",
    platform: "linux",
    deviceFamily: "x64",
  };
  const device = (signed: Partial<SignedConnect> = {}) => ({
    id: deviceIdOf(raw),
    publicKey: raw.toString("base64url"),
    nonce: challenge.nonce,
    signature: signText(
      signatureText({ ...about, deviceId: deviceIdOf(raw), nonce: challenge.nonce, ...signed }),
      privateKey,
    ),
  });

  it("is accepted within the time there is, and not after", () => {
    expect(refuseDevice(device(), about, challenge, challenge.ts)).toBeUndefined();
    expect(refuseDevice(device(), about, challenge, challenge.ts + MAX_SIGNATURE_AGE_MS)).toBeUndefined();
    expect(refuseDevice(device(), about, challenge, challenge.ts + MAX_SIGNATURE_AGE_MS + 1)).toBe(
      "DEVICE_AUTH_SIGNATURE_EXPIRED",
    );
  });

  it("has a key of 32 bytes in one spelling", () => {
    const encoded = raw.toString("base64url");
    expect(publicKeyOf(encoded)).toBeDefined();
    for (const bad of ["", encoded.slice(1), `${encoded}A`, `${encoded}=`, raw.toString("hex")]) {
      expect(publicKeyOf(bad)).toBeUndefined();
    }
  });
});

describe("a run's ticket", () => {
  const claims: TicketClaims = {
    ...{ v: 1, device: "d", gateway: "g", run: "r", agent: "a", session: "s" },
    bindings: ["0".repeat(64)],
    expires: 5,
  };

  it("is read back by the key that made it, and by no other", () => {
    const ticket = issueTicket(claims, privateKey);
    expect(readTicket(ticket, publicKey)).toEqual(claims);
    expect(readTicket(ticket, generateKeyPairSync("ed25519").publicKey)).toBeUndefined();
  });

  it("is worth nothing when any character of it is another, and nothing else breaks on what is no ticket", () => {
    const ticket = issueTicket(claims, privateKey);
    fc.assert(
      fc.property(fc.nat(ticket.length - 1), fc.constantFrom("A", "b", "_", ".", "é"), (at, char) => {
        fc.pre(ticket[at] !== char);
        expect(readTicket(ticket.slice(0, at) + char + ticket.slice(at + 1), publicKey)).toBeUndefined();
      }),
    );
    fc.assert(
      fc.property(fc.string(), (text) => {
        expect(readTicket(text, publicKey)).toBeUndefined();
      }),
    );
  });

  it("is not a signed connect, and a signed connect is no ticket", () => {
    const body = Buffer.from(JSON.stringify(claims)).toString("base64url");
    expect(readTicket(`${body}.${signText(body, privateKey)}`, publicKey)).toBeUndefined();
  });
});
