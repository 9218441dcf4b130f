import { phrase } from "../core/words/phrase.ts";
import type { CommandDefinition } from "./command.ts";

export const whoami: CommandDefinition = {
  name: "whoami",
  aliases: ["id"],
  summary: phrase("command.whoami"),
  usage: ["/whoami"],
  options: [],
  rank: "unknown",
  async run({ actor, route, rank, sessionKey, agentId, reply }) {
    const fields = [
      { label: phrase("whoami.you"), value: actor.display ? `${actor.display} (${actor.id})` : actor.id },
      { label: phrase("whoami.rank"), value: rank, note: phrase(`rank.${rank}`) },
      {
        label: phrase("whoami.channel"),
        value: route.accountId === "default" ? route.channel : `${route.channel}/${route.accountId}`,
      },
      { label: phrase("whoami.chat"), value: route.chatId },
      ...(route.threadId ? [{ label: phrase("whoami.thread"), value: route.threadId }] : []),
    ];
    const known = rank !== "unknown";
    await reply(
      {
        kind: "text",
        tone: "info",
        title: phrase("whoami.title"),
        fields: known
          ? [
              ...fields,
              { label: phrase("whoami.agent"), value: agentId },
              { label: phrase("whoami.session"), value: sessionKey },
            ]
          : fields,
      },
      { private: true },
    );
  },
};
