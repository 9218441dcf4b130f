import type { OpenPlace } from "../place.ts";
import { openDiscord } from "./discord.ts";
import { openSlack, openSlackHttp } from "./slack.ts";
import { openTelegram } from "./telegram.ts";
import { openWeb } from "./web.ts";

/** Where several people meet: `describe.each(PLATFORMS)`. */
export const PLATFORMS = [
  ["slack", openSlack],
  ["slack over HTTP", openSlackHttp],
  ["telegram", openTelegram],
  ["discord", openDiscord],
] as const satisfies readonly (readonly [string, OpenPlace])[];

export const EVERYWHERE = [...PLATFORMS, ["web", openWeb]] as const satisfies readonly (readonly [string, OpenPlace])[];
