/** The SDK's log lines into ours: warnings and errors only, with anything that looks like a token masked. */
import { type Logger, LogLevel } from "@slack/bolt";
import type { ChannelLog } from "../adapter-deps.ts";
import type { Redactor } from "../text/redact.ts";

export function boltLogger(log: ChannelLog, redactor: Redactor): Logger {
  const line = (parts: readonly unknown[]): string => redactor.redact(parts.map(String).join(" ")).text;
  return {
    debug: () => {},
    info: () => {},
    warn: (...parts) => log.warn({ from: "slack-sdk" }, line(parts)),
    error: (...parts) => log.error({ from: "slack-sdk" }, line(parts)),
    setLevel: () => {},
    getLevel: () => LogLevel.WARN,
    setName: () => {},
  };
}
