import type { CommandDefinition } from "./command.ts";

export const activation: CommandDefinition = {
  name: "activation",
  summary: "In this room, answer every message or only those that mention the bot.",
  usage: ["/activation", "/activation mention", "/activation always"],
  options: [{ name: "when", description: "When to answer here", choices: ["mention", "always"] }],
  rank: "owner",
  async run({ args, route, sessionKey, services, reply }) {
    const say = (tone: "info" | "success" | "warning", text: string, hint?: string) =>
      reply({ kind: "text", tone, text, ...(hint ? { hint } : {}) }, { private: true });
    if (route.chatType === "dm" || route.channel === "web") {
      await say("info", "Here every message is for the bot; /activation is for rooms.");
      return;
    }
    const wanted = args.trim().toLowerCase();
    if (wanted === "") {
      const { activation: set } = await services.sessions.overrides(sessionKey);
      await say(
        "info",
        set ? SAYS[set] : "This room follows the configuration (requireMention).",
        `${USAGE} changes it.`,
      );
      return;
    }
    if (wanted !== "mention" && wanted !== "always") {
      await say("warning", `Usage: ${USAGE}`);
      return;
    }
    await services.sessions.set(sessionKey, { activation: wanted });
    await say("success", SAYS[wanted]);
  },
};

const USAGE = "/activation mention|always";
const SAYS = {
  mention: "In this room I answer only when I am addressed.",
  always: "In this room I answer every message.",
} as const;
