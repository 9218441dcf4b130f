import { phrase, type Wording } from "../core/words/phrase.ts";
import type { CommandDefinition } from "./command.ts";

export const activation: CommandDefinition = {
  name: "activation",
  summary: phrase("command.activation"),
  usage: ["/activation", "/activation mention", "/activation always"],
  options: [{ name: "when", description: phrase("option.activation.when"), choices: ["mention", "always"] }],
  rank: "owner",
  async run({ args, route, sessionKey, services, reply, offer }) {
    const say = (tone: "info" | "success", text: Wording) => reply({ kind: "text", tone, text }, { private: true });
    if (route.chatType === "dm" || route.channel === "web") {
      await say("info", phrase("activation.rooms"));
      return;
    }
    const wanted = args.trim().toLowerCase();
    if (wanted !== "mention" && wanted !== "always") {
      const { activation: set } = await services.sessions.overrides(sessionKey);
      await offer({
        title: phrase("activation.which"),
        text: phrase(set ? `activation.${set}` : "activation.configured"),
        form: USAGE,
        choices: (["mention", "always"] as const).map((args) => ({ label: args, args })),
      });
      return;
    }
    await services.sessions.set(sessionKey, { activation: wanted });
    await say("success", phrase(`activation.${wanted}`));
  },
};

const USAGE = "/activation mention|always";
