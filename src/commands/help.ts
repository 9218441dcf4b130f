import { atLeast } from "../core/access/rank.ts";
import { phrase } from "../core/words/phrase.ts";
import type { CommandDefinition } from "./command.ts";

export const help: CommandDefinition = {
  name: "help",
  aliases: ["commands"],
  summary: phrase("command.help"),
  usage: ["/help", "/help <command>"],
  options: [{ name: "command", description: phrase("option.help.command") }],
  rank: "unknown",
  async run({ args, rank, services, reply }) {
    const wanted = args.replace(/^\//, "").toLowerCase();
    const visible = services.commands.filter((command) => atLeast(rank, command.rank));
    const one = visible.find((command) => command.name === wanted || command.aliases?.includes(wanted));
    if (one) {
      await reply(
        {
          kind: "text",
          tone: "info",
          title: `/${one.name}`,
          text: one.summary,
          code: { lines: one.usage },
          ...(one.options.length > 0
            ? {
                fields: one.options.map((option) => ({
                  label: option.name,
                  value: option.description,
                  ...(option.choices ? { note: option.choices.join(", ") } : {}),
                })),
              }
            : {}),
        },
        { private: true },
      );
      return;
    }
    await reply(
      {
        kind: "text",
        tone: wanted ? "warning" : "info",
        title: wanted ? phrase("help.unknown", { name: wanted.slice(0, 32) }) : phrase("help.title"),
        fields: visible.map((command) => ({ label: `/${command.name}`, value: command.summary })),
        hint: phrase("help.hint"),
      },
      { private: true },
    );
  },
};
