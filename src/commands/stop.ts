import { atLeast } from "../core/access/rank.ts";
import type { CommandDefinition } from "./command.ts";

export const stop: CommandDefinition = {
  name: "stop",
  summary: "Stop what runs in this conversation and cancel its waiting requests.",
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
    const stopped = await services.stopAll(all ? {} : { sessionKey });
    let cancelled = 0;
    for (const approval of await services.approvals.pending()) {
      if (!mine(approval.request.sessionKey)) continue;
      if (await services.approvals.cancel(approval.id, "Cancelled by /stop.")) cancelled++;
    }
    const parts = [count(stopped, "command"), count(cancelled, "waiting request")].filter((part) => part !== "");
    await reply({
      kind: "text",
      tone: "info",
      text: parts.length > 0 ? `Stopped ${parts.join(" and ")}.` : "Nothing is running here and nothing is waiting.",
    });
  },
};

function count(amount: number, noun: string): string {
  return amount === 0 ? "" : `${amount} ${noun}${amount === 1 ? "" : "s"}`;
}
