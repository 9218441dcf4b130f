/**
 * The product with a Slack workspace, a Discord server and a Telegram group in front of it that need no account: the
 * emulators of the test suite, whose pages play their people. Everything lives in a temporary folder and is gone after.
 */
import type { OpenPlace, Place } from "../conversation/place.ts";
import { openDiscord } from "../conversation/places/discord.ts";
import { openSlack } from "../conversation/places/slack.ts";
import { openTelegram } from "../conversation/places/telegram.ts";
import { type ProductLives, productLives } from "../support/product-lives.ts";

const PLATFORMS = [openSlack, openDiscord, openTelegram] as const satisfies readonly OpenPlace[];

export interface Demo {
  readonly product: ProductLives;
  /** The web chat, with its token. */
  readonly webLink: string;
  readonly places: readonly Place[];
  stop(): Promise<void>;
}

interface PlaceConfig {
  readonly channels: object;
  readonly commands: { readonly ownerAllowFrom: readonly string[] };
}

export async function startDemo(): Promise<Demo> {
  const places: Place[] = [];
  try {
    for (const open of PLATFORMS) places.push(await open({ rates: "published" }));
    for (const place of places) for (const user of [place.owner, place.guest, place.stranger]) place.direct(user);
    const configs = places.map((place) => place.config as PlaceConfig);
    const product = await productLives({
      config: {
        tools: { exec: { mode: "ask" } },
        channels: Object.assign({}, ...configs.map((config) => config.channels)),
        commands: { ownerAllowFrom: configs.flatMap((config) => config.commands.ownerAllowFrom) },
      },
      env: Object.assign({}, ...places.map((place) => place.env)),
    });
    return {
      product,
      places,
      webLink: `${product.url}/#token=${await product.token()}`,
      async stop() {
        await product.terminate();
        await product.dispose();
        await stopAll(places);
      },
    };
  } catch (error) {
    await stopAll(places);
    throw error;
  }
}

async function stopAll(places: readonly Place[]): Promise<void> {
  await Promise.all(places.map((place) => place.stop()));
}

/** What `npm run demo` prints. */
export function invitation({ webLink, places }: Demo): string {
  const rows = places.flatMap(({ name, owner, guest, room, page }) => [
    [`${name}, as Alice`, page?.(owner, room) ?? "", "owns the bot and may approve"],
    [`${name}, as Bram`, page?.(guest, room) ?? "", "may run commands"],
  ]);
  const all = [["web chat", webLink, "the operator"], ...rows];
  const width = Math.max(...all.map(([who]) => (who ?? "").length));
  return [
    "Open these in a browser, two of them side by side:",
    "",
    ...all.map(
      ([who = "", link = "", note = ""]) => `  ${who.padEnd(width)}  ${link}\n  ${"".padEnd(width)}  (${note})`,
    ),
    "",
    "As Bram, type /exec ls -la. As Alice, press Allow once.",
    "Slack, Discord and Telegram are emulated; the commands are real and run in a temporary folder, as you.",
    "Ctrl-C ends it and removes everything.",
  ].join("\n");
}
