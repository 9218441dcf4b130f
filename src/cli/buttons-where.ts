import type { ChannelReport } from "../protocol/frames.ts";

const KEY = "channels.telegram.capabilities.inlineButtons";

/** Where an account shows buttons, and what says so when that is not everywhere. */
export const BUTTONS_WHERE: Readonly<Record<NonNullable<ChannelReport["inlineButtons"]>, string>> = {
  all: "yes",
  allowlist: "yes",
  dm: `in direct messages only (${KEY})`,
  group: `in groups only (${KEY})`,
  off: `no, decisions are typed (${KEY})`,
};
