import { phrase, type Wording } from "../core/words/phrase.ts";
import type { CommandDefinition } from "./command.ts";

export const activation: CommandDefinition = {
  name: "activation",
  summary: phrase("command.activation"),
  usage: ["/activation", "/activation mention", "/activation always"],
  options: [{ name: "when", description: phrase("option.activation.when"), choices: ["mention", "always"] }],
  rank: "owner",
  async run({ args, route, sessionKey, services, reply }) {
    const say = (tone: "info" | "success" | "warning", text: Wording, hint?: Wording) =>
      reply({ kind: "text", tone, text, ...(hint ? { hint } : {}) }, { private: true });
    if (route.chatType === "dm" || route.channel === "web") {
      await say("info", phrase("activation.rooms"));
      return;
    }
    const wanted = args.trim().toLowerCase();
    if (wanted === "") {
      const { activation: set } = await services.sessions.overrides(sessionKey);
      await say(
        "info",
        phrase(set ? `activation.${set}` : "activation.configured"),
        phrase("activation.change", { usage: USAGE }),
      );
      return;
    }
    if (wanted !== "mention" && wanted !== "always") {
      await say("warning", phrase("usage", { usage: USAGE }));
      return;
    }
    await services.sessions.set(sessionKey, { activation: wanted });
    await say("success", phrase(`activation.${wanted}`));
  },
};

const USAGE = "/activation mention|always";
