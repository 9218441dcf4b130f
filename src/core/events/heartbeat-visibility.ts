/** What a chat sees of heartbeats: `channels.<chat>.heartbeat` (channels.md section 9.2). Pure. */
import type { Config } from "../config/schema.ts";
import type { Route } from "../route.ts";

export interface HeartbeatVisibility {
  /** That there was nothing to report. */
  readonly showOk: boolean;
  /** What there was to report. */
  readonly showAlerts: boolean;
  /** That the agent is at it, where the platform has a sign for that. */
  readonly useIndicator: boolean;
}

const ELSEWHERE: HeartbeatVisibility = { showOk: false, showAlerts: true, useIndicator: true };

export function heartbeatVisibility(config: Config, { channel, accountId }: Route): HeartbeatVisibility {
  return (channel === "web" ? undefined : config.channels[channel]?.accounts[accountId]?.heartbeat) ?? ELSEWHERE;
}

/** A heartbeat of which nothing would be seen is not worth a turn of the model. */
export function isVisible({ showOk, showAlerts, useIndicator }: HeartbeatVisibility): boolean {
  return showOk || showAlerts || useIndicator;
}
