import { atLeast } from "../core/access/rank.ts";
import type { CommandDefinition } from "./command.ts";

export const stop: CommandDefinition = {
  name: "stop",
  summary: "Stop what runs in this conversation, the agent too, and cancel its waiting requests.",
  usage: ["/stop", "/stop all"],
  options: [
    { name: "scope", description: "run: this conversation; all: every conversation (owner)", choices: ["run", "all"] },
  ],
  rank: "authorized",
  async run({ args, rank, sessionKey, services, reply }) {
    const all = args.toLowerCase() === "all";
    if (args !== "" && args.toLowerCase() !== "run" && !all) {
      await reply({ kind: "text", tone: "warning", text: "Usage: /stop or /stop all" }, { private: true });
      return;
    }
    if (all && !atLeast(rank, "owner")) {
      await reply(
        { kind: "text", tone: "error", text: "Only an owner can stop every conversation." },
        { private: true },
      );
      return;
    }
    const mine = (key: string) => all || key === sessionKey;
    // The turn first: nothing new is begun while the rest is stopped.
    const { turns, messages } = await services.stopTurns(all ? {} : { sessionKey });
    const stopped = await services.stopAll(all ? {} : { sessionKey });
    let cancelled = 0;
    for (const approval of await services.approvals.pending()) {
      if (!mine(approval.request.sessionKey)) continue;
      if (await services.approvals.cancel(approval.id, "Cancelled by /stop.")) cancelled++;
    }
    const parts = [
      count(turns, "answer"),
      count(stopped, "command"),
      count(cancelled, "waiting request"),
      count(messages, "waiting message"),
    ].filter((part) => part !== "");
    await reply({
      kind: "text",
      tone: "info",
      text: parts.length > 0 ? `Stopped ${listed(parts)}.` : "Nothing is running here and nothing is waiting.",
    });
  },
};

function listed(parts: readonly string[]): string {
  return parts.length < 2 ? parts.join("") : `${parts.slice(0, -1).join(", ")} and ${parts.at(-1)}`;
}

function count(amount: number, noun: string): string {
  return amount === 0 ? "" : `${amount} ${noun}${amount === 1 ? "" : "s"}`;
}
