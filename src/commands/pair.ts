import type { CommandDefinition } from "./command.ts";

export const pair: CommandDefinition = {
  name: "pair",
  summary: "Let people in who asked to talk to the bot: list, approve or dismiss a code.",
  usage: ["/pair", "/pair approve <code>", "/pair dismiss <code>"],
  options: [
    { name: "action", description: "What to do (default list)", choices: ["list", "approve", "dismiss"] },
    { name: "code", description: "The 8 characters the person was shown" },
  ],
  rank: "owner",
  async run({ args, actor, services, reply }) {
    const [action = "list", ...rest] = args.split(/\s+/).filter((word) => word !== "");
    const code = rest.join("");
    if (action === "list") {
      const requests = await services.pairing.list();
      await reply(
        requests.length === 0
          ? { kind: "text", tone: "info", text: "Nobody is waiting to be let in." }
          : {
              kind: "text",
              tone: "info",
              title: "Waiting to be let in",
              fields: requests.map((request) => ({
                label: request.code,
                value: `${request.actor.display ?? request.actor.id} on ${request.channel}`,
                note: request.actor.id,
              })),
              hint: "/pair approve <code> lets one in, to direct messages only.",
            },
        { private: true },
      );
      return;
    }
    if ((action !== "approve" && action !== "dismiss") || code === "") {
      await reply({ kind: "text", tone: "warning", text: `Usage: ${this.usage.join(" · ")}` }, { private: true });
      return;
    }
    const request =
      action === "approve" ? await services.approvePairing(code, actor) : await services.pairing.dismiss(code);
    const who = `${request.actor.display ?? request.actor.id} (${request.channel})`;
    await reply(
      {
        kind: "text",
        tone: action === "approve" ? "success" : "info",
        text: action === "approve" ? `${who} may now talk to the bot directly.` : `Dismissed the request of ${who}.`,
      },
      { private: true },
    );
  },
};
