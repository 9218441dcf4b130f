import type { CommandDefinition } from "./command.ts";

export const fresh: CommandDefinition = {
  name: "new",
  aliases: ["reset"],
  summary: "The agent forgets this conversation and begins anew.",
  usage: ["/new"],
  options: [],
  rank: "authorized",
  async run({ sessionKey, services, reply }) {
    const forgot = await services.forgetConversation(sessionKey);
    await reply({
      kind: "text",
      tone: "info",
      text: forgot ? "Forgotten. The agent begins anew here." : "There was nothing to forget here.",
      hint: "What runs goes on, and what /exec has set here stays.",
    });
  },
};
