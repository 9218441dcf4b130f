import type { PairingRequest } from "../core/access/pairing.ts";
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
  async run({ args, actor, services, reply, offer }) {
    const [action = "list", ...rest] = args.split(/\s+/).filter((word) => word !== "");
    const code = rest.join("");
    const known = (["list", "approve", "dismiss"] as const).find((one) => one === action);
    if (known === "list" || (known !== undefined && code === "")) {
      const requests = await services.pairingDesk.list();
      if (requests.length === 0) {
        await reply({ kind: "text", tone: "info", text: phrase("pair.none") }, { private: true });
        return;
      }
      const answers = known === "list" ? (["approve", "dismiss"] as const) : [known];
      await offer({
        title: phrase("pair.title"),
        text: phrase("pair.hint"),
        fields: requests.map(fieldOf),
        form: `/pair ${answers.join("|")} <code>`,
        choices: requests.flatMap(({ actor: who, code: shown }) =>
          answers.map((answer) => ({
            label: phrase(`pair.choice.${answer}`, { who: who.display ?? who.id }),
            style: answer === "approve" ? ("success" as const) : ("danger" as const),
            args: `${answer} ${shown}`,
          })),
        ),
      });
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

function fieldOf({ code, actor, channel }: PairingRequest) {
  const who = actor.display ?? actor.id;
  return { label: code, value: phrase("pair.who", { who, channel }), note: actor.id };
}
