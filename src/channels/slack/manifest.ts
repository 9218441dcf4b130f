/** The app manifest for `openclaw-exec channels slack-manifest`. docs.slack.dev/reference/app-manifest */

import type { Language } from "../../core/words/languages.ts";
import { inLanguage } from "../../core/words/say.ts";
import type { NativeCommand, NativeOption } from "../adapter-deps.ts";

/** Where Slack posts in HTTP mode: one path for events, interactivity and slash commands. */
export const DEFAULT_PATH = "/slack/events";
/** The slash command that takes any other as its text. */
export const DEFAULT_WRAPPER = "openclaw";

/** Everything the adapter calls; fewer scopes and a part of it does not work. */
export const BOT_SCOPES = [
  "app_mentions:read",
  "channels:history",
  "channels:read",
  "chat:write",
  "commands",
  "files:write",
  "groups:history",
  "groups:read",
  "im:history",
  "im:read",
  "im:write",
  "mpim:history",
  "mpim:read",
  "reactions:write",
  "usergroups:read",
  "users:read",
] as const;

const BOT_EVENTS = ["app_mention", "message.channels", "message.groups", "message.im", "message.mpim"] as const;

/** Slack keeps these for itself: they are reachable through the wrapper only. slack.com/help/articles/201259356 */
const RESERVED = new Set([
  "apps",
  "archive",
  "away",
  "call",
  "collapse",
  "dnd",
  "expand",
  "feed",
  "help",
  "invite",
  "join",
  "leave",
  "me",
  "msg",
  "dm",
  "mute",
  "open",
  "part",
  "remind",
  "remove",
  "rename",
  "search",
  "shortcuts",
  "shrug",
  "star",
  "status",
  "topic",
  "who",
]);

/** An app has at most 25 slash commands. */
const MAX_COMMANDS = 25;
const MAX_DESCRIPTION = 2000;
const MAX_HINT = 1000;
const MAX_NAME = 35;

export interface ManifestOptions {
  /** Name of the app and of its bot user. */
  readonly name?: string;
  readonly mode: "socket" | "http";
  /** Public URL of the request listener; needed in HTTP mode. */
  readonly requestUrl?: string;
  /** Which commands become slash commands of their own; all others are reached through the wrapper. */
  readonly commands: readonly NativeCommand[];
  /** `false`: there is none. */
  readonly wrapper: string | false;
  /** Slack has one text for everybody. */
  readonly language?: Language;
}

export function slackManifest(options: ManifestOptions): Record<string, unknown> {
  const name = (options.name ?? "openclaw").slice(0, MAX_NAME);
  const url = options.mode === "http" ? { url: options.requestUrl ?? `https://YOUR-HOST${DEFAULT_PATH}` } : {};
  const natives = options.commands.filter((command) => !RESERVED.has(command.name) && command.name !== options.wrapper);
  const wrapper = {
    name: options.wrapper || "",
    summary: `Any command: /${options.wrapper} exec ls`,
    hint: "exec <command> | approve <id> <decision> | status | help",
  };
  const commands = [
    ...(options.wrapper === false ? [] : [wrapper]),
    ...natives.map((command) => ({
      name: command.name,
      summary: inLanguage(command.summary, options.language ?? "en"),
      hint: hintOf(command.options),
    })),
  ];
  return {
    display_information: { name, description: "Run shell commands under a policy, with approval buttons." },
    features: {
      app_home: { home_tab_enabled: false, messages_tab_enabled: true, messages_tab_read_only_enabled: false },
      bot_user: { display_name: name, always_online: false },
      slash_commands: commands.slice(0, MAX_COMMANDS).map((command) => ({
        command: `/${command.name}`,
        description: command.summary.slice(0, MAX_DESCRIPTION),
        ...(command.hint === "" ? {} : { usage_hint: command.hint.slice(0, MAX_HINT) }),
        // The text must arrive as typed: escaped channels and users would change a command.
        should_escape: false,
        ...url,
      })),
    },
    oauth_config: { scopes: { bot: [...BOT_SCOPES] } },
    settings: {
      event_subscriptions: {
        bot_events: [...BOT_EVENTS],
        ...(options.mode === "http" ? { request_url: url.url } : {}),
      },
      interactivity: { is_enabled: true, ...(options.mode === "http" ? { request_url: url.url } : {}) },
      org_deploy_enabled: false,
      socket_mode_enabled: options.mode === "socket",
      token_rotation_enabled: false,
    },
  };
}

function hintOf(options: readonly NativeOption[]): string {
  return options
    .map((option) => {
      const value = option.choices === undefined ? `<${option.name}>` : option.choices.join("|");
      const text = option.form === "key" ? `${option.name}=${value}` : value;
      return option.required === true ? text : `[${text}]`;
    })
    .join(" ");
}
