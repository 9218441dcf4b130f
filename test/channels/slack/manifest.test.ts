import { describe, expect, test } from "vitest";
import { BOT_SCOPES, slackManifest } from "../../../src/channels/slack/manifest.ts";

const commands = [
  {
    name: "exec",
    summary: "Run a command",
    options: [
      { name: "host", description: "", form: "key", choices: ["auto", "node"] },
      { name: "command", description: "", form: "rest", required: true },
    ],
  },
  { name: "status", summary: "Status", options: [] },
] as const;

describe("slack manifest", () => {
  test("Socket Mode: interactivity on, scopes and events complete, no URL", () => {
    const manifest = slackManifest({ mode: "socket", commands, wrapper: "openclaw" });
    expect(manifest).toMatchObject({
      oauth_config: { scopes: { bot: [...BOT_SCOPES] } },
      settings: {
        interactivity: { is_enabled: true },
        socket_mode_enabled: true,
        event_subscriptions: { bot_events: expect.arrayContaining(["app_mention", "message.im"]) },
      },
    });
    expect(JSON.stringify(manifest)).not.toContain("https://");
  });

  test("reserved names are left to the wrapper, options become a hint", () => {
    const { features } = slackManifest({ mode: "socket", commands, wrapper: "openclaw" }) as {
      features: { slash_commands: { command: string; usage_hint: string }[] };
    };
    expect(features.slash_commands.map((c) => c.command)).toEqual(["/openclaw", "/exec"]);
    expect(features.slash_commands[1]?.usage_hint).toBe("[host=auto|node] <command>");
  });

  test("HTTP: every command and setting names the request URL", () => {
    const url = "https://bot.example.org/slack/events";
    const text = JSON.stringify(slackManifest({ mode: "http", requestUrl: url, commands, wrapper: "openclaw" }));
    expect(text.split(url)).toHaveLength(5);
  });
});
