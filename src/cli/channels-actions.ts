/** What `channels` does. */
import { DEFAULT_PATH, DEFAULT_WRAPPER, slackManifest } from "../channels/slack/manifest.ts";
import { COMMANDS } from "../commands/registry.ts";
import { loadConfig, renderProblems } from "../core/config/load.ts";
import type { SlackAccountConfig } from "../core/config/schema.ts";
import { nativeCommands } from "../gateway/native-commands.ts";
import type { ChannelReport } from "../protocol/frames.ts";
import { BUTTONS_WHERE } from "./buttons-where.ts";
import { type Cli, EXIT } from "./io.ts";
import { withGateway } from "./with-gateway.ts";

export async function status(cli: Cli, flags: { json?: boolean }): Promise<number> {
  const { channels } = await withGateway(cli, {}, (client) => client.request("channels.status", {}));
  if (flags.json) {
    cli.out(JSON.stringify(channels, null, 2));
    return EXIT.ok;
  }
  for (const channel of channels) {
    const name = channel.accountId === "default" ? channel.channel : `${channel.channel}/${channel.accountId}`;
    cli.out(`${name.padEnd(20)} ${channel.state}${channel.detail ? `: ${channel.detail}` : ""}`);
    if (channel.channel === "web") continue;
    const approvers = channel.approvers.length > 0 ? channel.approvers.join(", ") : "nobody (cards go to the web chat)";
    cli.out(`${"".padEnd(20)} approvers: ${approvers}; buttons: ${buttonsOf(channel)}`);
  }
  if (channels.every((channel) => channel.channel === "web")) {
    cli.out("No chat is connected. Add a block under `channels` to the configuration; see docs/channels.md.");
  }
  return channels.some((channel) => channel.state === "failed") ? EXIT.failed : EXIT.ok;
}

function buttonsOf({ buttons, inlineButtons }: ChannelReport): string {
  if (!buttons) return "no";
  return inlineButtons === undefined ? "yes" : BUTTONS_WHERE[inlineButtons];
}

export interface ManifestFlags {
  readonly name?: string;
  readonly http?: string;
  readonly account?: string;
}

/** The app, and with it its tokens, is made from the manifest: that they are missing yet is no fault. */
const UNMADE_TOKENS = {
  SLACK_BOT_TOKEN: "xoxb-not-made-yet",
  SLACK_APP_TOKEN: "xapp-not-made-yet",
  SLACK_SIGNING_SECRET: "not-made-yet",
};

/** The manifest for the account as it is configured; without a configuration, for Socket Mode. */
export async function manifest(cli: Cli, flags: ManifestFlags): Promise<number> {
  const loaded = await loadConfig({ env: { ...UNMADE_TOKENS, ...cli.env }, workingDir: cli.cwd });
  if (!loaded.ok) {
    cli.err(renderProblems(loaded.file.path, loaded.problems));
    return EXIT.failed;
  }
  const { channels, commands, gateway } = loaded.config;
  const account = flags.account ?? "default";
  const slack = channels.slack?.accounts[account];
  if (flags.account !== undefined && !slack) {
    const known = Object.keys(channels.slack?.accounts ?? {}).join(", ") || "none";
    cli.err(`There is no Slack account "${account}" in the configuration; there is ${known}.`);
    return EXIT.usage;
  }
  const path = slack?.webhookPath ?? DEFAULT_PATH;
  const requestUrl = flags.http ?? (slack?.mode === "http" ? publicAddress(gateway.publicUrl, path) : undefined);
  const mode = requestUrl === undefined ? "socket" : "http";
  if (requestUrl !== undefined && !/^https:\/\/[^\s/]+\/\S*$/.test(requestUrl)) {
    cli.err(`Slack posts to https addresses only, such as https://your.host${path}; this is ${requestUrl}.`);
    return EXIT.usage;
  }
  if (requestUrl !== undefined && !requestUrl.endsWith(path)) {
    cli.err(
      `The gateway listens for Slack on ${path} (channels.slack.webhookPath): what answers ${requestUrl} has to forward there.`,
    );
  }
  const made = slackManifest({
    mode,
    wrapper: slack?.slashCommand.enabled === false ? false : (slack?.slashCommand.name ?? DEFAULT_WRAPPER),
    commands: registers(slack, commands.native) ? nativeCommands(COMMANDS, commands.bash) : [],
    ...(loaded.ok ? { language: slack?.locale ?? loaded.config.messages.locale } : {}),
    ...(flags.name === undefined ? {} : { name: flags.name }),
    ...(requestUrl === undefined ? {} : { requestUrl }),
  });
  cli.out(JSON.stringify(made, null, 2));
  return EXIT.ok;
}

function registers(slack: SlackAccountConfig | undefined, native: boolean | "auto"): boolean {
  return (slack?.commands.native ?? native) !== false;
}

function publicAddress(publicUrl: string | undefined, path: string): string {
  return `${(publicUrl ?? "https://YOUR-HOST").replace(/\/$/, "")}${path}`;
}
