/** What `channels` does. */
import { DEFAULT_WRAPPER, slackManifest } from "../channels/slack/manifest.ts";
import { COMMANDS } from "../commands/registry.ts";
import { loadConfig } from "../core/config/load.ts";
import { nativeCommands } from "../gateway/native-commands.ts";
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
    cli.out(`${"".padEnd(20)} approvers: ${approvers}; buttons: ${channel.buttons ? "yes" : "no"}`);
  }
  if (channels.every((channel) => channel.channel === "web")) {
    cli.out("No chat is connected. Add a block under `channels` to the configuration; see docs/channels.md.");
  }
  return channels.some((channel) => channel.state === "failed") ? EXIT.failed : EXIT.ok;
}

export async function manifest(cli: Cli, flags: { name?: string; http?: string }): Promise<number> {
  const loaded = await loadConfig({ env: cli.env, workingDir: cli.cwd });
  const slack = loaded.ok ? loaded.config.channels.slack?.accounts.default : undefined;
  const made = slackManifest({
    mode: flags.http === undefined ? "socket" : "http",
    wrapper: slack?.slashCommand.name ?? DEFAULT_WRAPPER,
    commands: nativeCommands(COMMANDS, loaded.ok && loaded.config.commands.bash),
    ...(flags.name === undefined ? {} : { name: flags.name }),
    ...(flags.http === undefined ? {} : { requestUrl: flags.http }),
  });
  cli.out(JSON.stringify(made, null, 2));
  return EXIT.ok;
}
