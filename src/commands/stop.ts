import { atLeast } from "../core/access/rank.ts";
import { type Phrase, phrase, type Value } from "../core/words/phrase.ts";
import type { CommandDefinition } from "./command.ts";

export const stop: CommandDefinition = {
  name: "stop",
  summary: phrase("command.stop"),
  usage: ["/stop", "/stop all"],
  options: [{ name: "scope", description: phrase("option.stop.scope"), choices: ["run", "all"] }],
  rank: "authorized",
  async run({ args, rank, sessionKey, services, reply }) {
    const all = args.toLowerCase() === "all";
    if (args !== "" && args.toLowerCase() !== "run" && !all) {
      await reply({ kind: "text", tone: "warning", text: phrase("stop.usage") }, { private: true });
      return;
    }
    if (all && !atLeast(rank, "owner")) {
      await reply({ kind: "text", tone: "error", text: phrase("stop.onlyOwner") }, { private: true });
      return;
    }
    const mine = (key: string) => all || key === sessionKey;
    // The turn first: nothing new is begun while the rest is stopped.
    const { turns, messages } = await services.stopTurns(all ? {} : { sessionKey });
    const stopped = await services.stopAll(all ? {} : { sessionKey });
    let cancelled = 0;
    for (const approval of await services.approvals.pending()) {
      if (!mine(approval.request.sessionKey)) continue;
      if (await services.approvals.cancel(approval.id, phrase("request.stopped"))) cancelled++;
    }
    const parts = [
      ...counted("stop.answers", turns),
      ...counted("stop.commands", stopped),
      ...counted("stop.requests", cancelled),
      ...counted("stop.messages", messages),
    ];
    await reply({
      kind: "text",
      tone: "info",
      text: parts.length > 0 ? phrase("stop.done", { what: listed(parts) }) : phrase("stop.nothing"),
    });
  },
};

function counted(
  key: "stop.answers" | "stop.commands" | "stop.requests" | "stop.messages",
  count: number,
): readonly Phrase[] {
  return count === 0 ? [] : [phrase(key, { count })];
}

function listed(parts: readonly Phrase[]): Value {
  const last = parts.at(-1);
  return parts.length < 2 || last === undefined ? parts : phrase("list.and", { first: parts.slice(0, -1), last });
}
