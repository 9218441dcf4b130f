/**
 * Killed when the platform has a file and its answer is still on the way: once on Slack, which can be asked, and on Discord,
 * which knows the message; on Telegram, which can not say, at most once more, and then it says that it may be a repeat.
 */
import { afterEach, beforeAll, describe, expect, it } from "vitest";
import type { OpenPlace, Place } from "../conversation/place.ts";
import { openDiscord } from "../conversation/places/discord.ts";
import { openSlack } from "../conversation/places/slack.ts";
import { openTelegram } from "../conversation/places/telegram.ts";
import { ensureBuilt } from "../support/product.ts";
import { type ProductLives, productLives } from "../support/product-lives.ts";
import { eventually } from "../support/state.ts";

const WAIT_MS = 40_000;
const HELD_MS = 20_000;
const LINES = 20_000;

let place: Place | undefined;
let product: ProductLives | undefined;

beforeAll(ensureBuilt, 180_000);

afterEach(async () => {
  await product?.dispose();
  await place?.stop();
  product = undefined;
  place = undefined;
});

async function killedAfterUpload(open: OpenPlace) {
  const there = await open();
  place = there;
  const lives = await productLives({ config: { tools: { exec: { mode: "full" } }, ...there.config }, env: there.env });
  product = lives;
  there.holdUpload(HELD_MS);
  const chat = there.direct(there.owner);
  const files = () => there.posted(there.owner, chat).filter((one) => one.files.length > 0);
  await there.command(there.owner, chat, `/exec seq ${LINES}`);
  await eventually(() => files().length === 1, WAIT_MS);
  await lives.kill();
  await lives.start();
  // What comes after it in the same conversation shows that it is settled.
  await there.command(there.owner, chat, "/exec echo after-$((40+2))");
  await eventually(() => there.posted(there.owner, chat).some((one) => one.text.includes("after-42")), WAIT_MS);
  const person = await lives.person("status");
  expect((await person.call("deliveries.list", {})).total).toBe(0);
  return { files: files(), posted: there.posted(there.owner, chat) };
}

describe("a file that was uploaded when the gateway was killed", () => {
  it.each([
    ["Slack", openSlack],
    ["Discord", openDiscord],
  ])(
    "is there once on %s",
    async (_name, open) => {
      const { files, posted } = await killedAfterUpload(open);
      expect(files.map((one) => one.files[0]?.text.trimEnd().split("\n").length)).toEqual([LINES]);
      expect(posted.filter((one) => one.text.includes("Full log of"))).toHaveLength(1);
    },
    120_000,
  );

  it("comes at most once more on Telegram, alone, and says that it may be a repeat", async () => {
    const { files, posted } = await killedAfterUpload(openTelegram);
    expect(files).toHaveLength(2);
    expect(files[0]?.text).not.toContain("may be a repeat");
    expect(files[1]?.text).toContain("This may be a repeat");
    expect(posted.filter((one) => one.text.includes("Full log of"))).toHaveLength(1);
    expect(place?.violations()).toEqual([]);
  }, 120_000);
});
