import type { CommandDefinition } from "./command.ts";

export const whoami: CommandDefinition = {
  name: "whoami",
  aliases: ["id"],
  summary: "Your ids here and what you may do: the first thing to look at when setting up.",
  usage: ["/whoami"],
  options: [],
  rank: "unknown",
  async run({ actor, route, rank, sessionKey, agentId, reply }) {
    const fields = [
      { label: "You", value: actor.display ? `${actor.display} (${actor.id})` : actor.id },
      { label: "Rank", value: rank, note: RANK_NOTES[rank] },
      {
        label: "Channel",
        value: route.accountId === "default" ? route.channel : `${route.channel}/${route.accountId}`,
      },
      { label: "Chat", value: route.chatId },
      ...(route.threadId ? [{ label: "Thread", value: route.threadId }] : []),
    ];
    const known = rank !== "unknown";
    await reply(
      {
        kind: "text",
        tone: "info",
        title: "Who you are here",
        fields: known
          ? [...fields, { label: "Agent", value: agentId }, { label: "Session", value: sessionKey }]
          : fields,
      },
      { private: true },
    );
  },
};

const RANK_NOTES = {
  owner: "may do everything, including changing who else may",
  approver: "may decide requests",
  authorized: "may run commands",
  known: "may talk to the bot",
  unknown: "not paired yet",
} as const;
