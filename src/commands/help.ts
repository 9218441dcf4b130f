import { atLeast } from "../core/access/rank.ts";
import type { CommandDefinition } from "./command.ts";

export const help: CommandDefinition = {
  name: "help",
  aliases: ["commands"],
  summary: "What you can type here.",
  usage: ["/help", "/help <command>"],
  options: [{ name: "command", description: "Show one command in detail" }],
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
          code: one.usage.join("\n"),
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
        title: wanted ? `There is no command /${wanted.slice(0, 32)}` : "What you can type here",
        fields: visible.map((command) => ({ label: `/${command.name}`, value: command.summary })),
        hint: "Start with: /exec ls -la",
      },
      { private: true },
    );
  },
};
