import type { LostJob } from "../core/events/lost-job.ts";
import { phrase, type Wording } from "../core/words/phrase.ts";
import type { CommandDefinition } from "./command.ts";

const ACTIONS = ["list", "retry", "drop"] as const;
const USAGE = ["/deliveries", "/deliveries retry <id>", "/deliveries retry all", "/deliveries drop <id>"] as const;
const SHOWN = 10;

export const deliveries: CommandDefinition = {
  name: "deliveries",
  summary: phrase("command.deliveries"),
  usage: USAGE,
  options: [
    { name: "action", description: phrase("option.action"), choices: ACTIONS },
    { name: "id", description: phrase("option.deliveries.id") },
  ],
  rank: "owner",
  async run({ args, services, reply, offer, beginsOnce }) {
    const [action = "list", which = "", ...more] = args.split(/\s+/).filter((word) => word !== "");
    if (action === "list" && which === "") {
      const { letters, total } = await services.deadLetters.list();
      await reply(
        letters.length === 0
          ? { kind: "text", tone: "success", text: phrase("deliveries.none") }
          : {
              kind: "text",
              tone: "warning",
              title: phrase("deliveries.title", { count: total }),
              fields: letters.slice(0, SHOWN).map(letterField),
              hint: phrase("deliveries.hint"),
            },
        { private: true },
      );
      return;
    }
    if ((action === "retry" || action === "drop") && which === "") {
      const { letters } = await services.deadLetters.list();
      if (letters.length === 0) {
        await reply({ kind: "text", tone: "success", text: phrase("deliveries.none") }, { private: true });
        return;
      }
      await offer({
        title: phrase(action === "retry" ? "deliveries.which.retry" : "deliveries.which.drop"),
        form: `/deliveries ${action} <id>|all`,
        choices: [
          ...(letters.length > 1 ? [{ label: phrase("deliveries.choice.all"), args: `${action} all` }] : []),
          ...letters.map((letter) => {
            const { label, value } = letterField(letter);
            return { label, detail: value, args: `${action} ${letter.id}` };
          }),
        ],
      });
      return;
    }
    if ((action !== "retry" && action !== "drop") || which === "" || more.length > 0) {
      await reply(
        { kind: "text", tone: "warning", text: phrase("usage", { usage: USAGE.join(" · ") }) },
        { private: true },
      );
      return;
    }
    // Cut off after it was done, an event that comes again finds nothing any more; that is no error of the person.
    const isFirst = await beginsOnce();
    const done = await services.deadLetters[action](which).catch((error: unknown) => {
      if (isFirst) throw error;
      return [];
    });
    await reply(
      {
        kind: "text",
        tone: "info",
        text: phrase(action === "retry" ? "deliveries.retried" : "deliveries.dropped", { count: done.length }),
      },
      { private: true },
    );
  },
};

export function letterField(letter: LostJob): {
  readonly label: string;
  readonly value: Wording;
  readonly note: Wording;
} {
  const about = letter.about ?? letter.job;
  return {
    label: letter.id,
    value: letter.where ? `${letter.where}: ${about}` : about,
    note: phrase("deliveries.why", {
      why: letter.why,
      tries: letter.attempts,
      time: new Date(letter.lostAtMs).toISOString(),
    }),
  };
}
