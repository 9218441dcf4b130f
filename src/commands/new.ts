import { phrase } from "../core/words/phrase.ts";
import type { CommandDefinition } from "./command.ts";

export const fresh: CommandDefinition = {
  name: "new",
  aliases: ["reset"],
  summary: phrase("command.new"),
  usage: ["/new"],
  options: [],
  rank: "authorized",
  async run({ sessionKey, services, reply }) {
    const forgot = await services.forgetConversation(sessionKey);
    await reply({
      kind: "text",
      tone: "info",
      text: phrase(forgot ? "new.forgotten" : "new.nothing"),
      hint: phrase("new.hint"),
    });
  },
};
