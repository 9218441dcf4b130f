import { actorLabel } from "../core/route.ts";
import { phrase } from "../core/words/phrase.ts";
import type { CommandDefinition } from "./command.ts";

const USAGE = ["/pair", "/pair approve <code>", "/pair dismiss <code>"] as const;

export const pair: CommandDefinition = {
  name: "pair",
  summary: phrase("command.pair"),
  usage: USAGE,
  options: [
    { name: "action", description: phrase("option.action"), choices: ["list", "approve", "dismiss"] },
    { name: "code", description: phrase("option.pair.code") },
  ],
  rank: "owner",
  async run({ args, actor, services, reply }) {
    const [action = "list", ...rest] = args.split(/\s+/).filter((word) => word !== "");
    const code = rest.join("");
    if (action === "list") {
      const requests = await services.pairingDesk.list();
      await reply(
        requests.length === 0
          ? { kind: "text", tone: "info", text: phrase("pair.none") }
          : {
              kind: "text",
              tone: "info",
              title: phrase("pair.title"),
              fields: requests.map((request) => ({
                label: request.code,
                value: phrase("pair.who", {
                  who: request.actor.display ?? request.actor.id,
                  channel: request.channel,
                }),
                note: request.actor.id,
              })),
              hint: phrase("pair.hint"),
            },
        { private: true },
      );
      return;
    }
    if ((action !== "approve" && action !== "dismiss") || code === "") {
      await reply(
        { kind: "text", tone: "warning", text: phrase("usage", { usage: USAGE.join(" · ") }) },
        { private: true },
      );
      return;
    }
    const { request } = await services.pairingDesk.decide(code, action, actor);
    const who = actorLabel(request.actor);
    await reply(
      {
        kind: "text",
        tone: action === "approve" ? "success" : "info",
        text: phrase(action === "approve" ? "pair.approved" : "pair.dismissed", { who }),
      },
      { private: true },
    );
  },
};
