import { createHash } from "node:crypto";
import type { CronRequest, ListedCronJob } from "../core/events/cron.ts";
import { nearestOf } from "../core/nearest.ts";
import { type Phrase, phrase, type Wording } from "../core/words/phrase.ts";
import type { CommandDefinition } from "./command.ts";

const ACTIONS = ["list", "add", "remove", "run"] as const;
const OPTIONS = ["at", "every", "cron", "tz", "name", "workdir", "timeout", "as"] as const;
type Option = (typeof OPTIONS)[number];

export const cron: CommandDefinition = {
  name: "cron",
  summary: phrase("command.cron"),
  usage: [
    "/cron",
    "/cron add every=30m -- df -h",
    "/cron add at=2031-04-05T09:00 tz=Europe/Amsterdam -- ./report.sh",
    '/cron add cron="0 9 * * 1-5" name=morning -- make check',
    "/cron add at=20m as=event -- Look whether the build is done",
    "/cron remove <job>",
    "/cron run <job>",
  ],
  options: [
    { name: "action", description: phrase("option.action"), choices: ACTIONS },
    { name: "job", description: phrase("option.cron.job") },
    { name: "at", description: phrase("option.cron.at") },
    { name: "every", description: phrase("option.cron.every") },
    { name: "cron", description: phrase("option.cron.cron") },
    { name: "tz", description: phrase("option.cron.tz") },
    { name: "command", description: phrase("option.cron.command") },
  ],
  rank: "owner",
  async run(context) {
    const { args, services, reply, offer } = context;
    const [, action = "list", rest = ""] = /^(\S*)\s*([\s\S]*)$/.exec(args.trim()) ?? [];
    switch (action === "" ? "list" : action.toLowerCase()) {
      case "list": {
        const jobs = await services.cron.list();
        await reply(
          jobs.length === 0
            ? { kind: "text", tone: "info", text: phrase("cron.none"), hint: "/cron add every=30m -- df -h" }
            : { kind: "text", tone: "info", title: phrase("cron.title"), fields: jobs.map(jobField) },
          { private: true },
        );
        return;
      }
      case "add": {
        const parsed = parseCronText(rest);
        if ("error" in parsed) {
          await reply({ kind: "text", tone: "warning", text: parsed.error }, { private: true });
          return;
        }
        const job = await services.cron.add(
          parsed.request,
          {
            agentId: context.agentId,
            sessionKey: context.sessionKey,
            route: context.route,
            createdBy: context.actor,
            fromChannel: true,
          },
          cronId(context.eventId),
        );
        await reply({
          kind: "text",
          tone: "success",
          title: phrase("cron.set", { job: job.id }),
          fields: [jobField(job)],
          hint: phrase("cron.set.hint", { job: job.id }),
        });
        return;
      }
      case "remove":
      case "run": {
        const jobs = rest.trim() === "" ? await services.cron.list() : [];
        if (jobs.length > 0) {
          await offer({
            title: phrase(action === "run" ? "cron.which.run" : "cron.which.remove"),
            form: `/cron ${action} <job>`,
            choices: jobs.map((one) => {
              const { label, value } = jobField(one);
              return { label, detail: value, args: `${action} ${one.id}` };
            }),
          });
          return;
        }
        const job =
          action === "run" ? await services.cron.run(rest, context.eventId) : await services.cron.remove(rest);
        const text = phrase(action === "run" ? "cron.runs" : "cron.removed", { job: job.id });
        await reply({ kind: "text", tone: "info", text });
        return;
      }
      default: {
        const near = nearestOf(action, ACTIONS);
        const given = action.slice(0, 32);
        const text = near
          ? phrase("cron.action.near", { action: given, near })
          : phrase("cron.action", { action: given });
        await reply(
          { kind: "text", tone: "warning", text, hint: phrase("cron.actions", { actions: ACTIONS }) },
          { private: true },
        );
      }
    }
  },
};

/** 8 hex digits made from the event that asked, so that a message that is delivered again makes no second job. */
function cronId(eventId: string): string {
  return createHash("sha256").update(`cron\0${eventId}`).digest("hex").slice(0, 8);
}

export function jobField(job: ListedCronJob): {
  readonly label: string;
  readonly value: Wording;
  readonly note: Phrase;
} {
  const next =
    job.nextAtMs === undefined
      ? phrase("cron.noNext")
      : phrase("cron.next", { time: new Date(job.nextAtMs).toISOString() });
  const when = whenText(job);
  return {
    label: job.name ? `${job.id} ${job.name}` : job.id,
    value: job.task.kind === "command" ? job.task.command : phrase("cron.tells", { text: job.task.text }),
    note: job.last
      ? phrase("cron.times.last", {
          when,
          next,
          time: new Date(job.last.atMs).toISOString(),
          result: job.last.result,
        })
      : phrase("cron.times", { when, next }),
  };
}

function whenText({ when }: Pick<ListedCronJob, "when">): string | Phrase {
  switch (when.kind) {
    case "at":
      return phrase("cron.once");
    case "every":
      return when.everyMs % 60_000 === 0
        ? phrase("cron.every.minutes", { minutes: when.everyMs / 60_000 })
        : phrase("cron.every.seconds", { seconds: when.everyMs / 1_000 });
    case "cron":
      return when.timezone ? phrase("cron.in", { cron: when.cron, timezone: when.timezone }) : when.cron;
  }
}

/** `every=30m name=disk -- df -h`: options first, then what to do as the raw rest of the text. */
function parseCronText(text: string): { readonly request: CronRequest } | { readonly error: Phrase } {
  const given: Partial<Record<Option, string>> = {};
  let rest = text;
  for (;;) {
    const match = /^([a-z]+)=(?:"([^"\n]*)"|'([^'\n]*)'|(\S*))(?:\s+|$)/.exec(rest);
    const [whole = "", name = "", double, single, bare] = match ?? [];
    if (!match) break;
    if (!(OPTIONS as readonly string[]).includes(name)) {
      const near = nearestOf(name, OPTIONS);
      if (near === undefined) break;
      return { error: phrase("cron.option.near", { option: name, near }) };
    }
    given[name as Option] = double ?? single ?? bare ?? "";
    rest = rest.slice(whole.length);
  }
  const what = rest.replace(/^--(?:\s+|$)/, "");
  if (what.trim() === "") return { error: phrase("cron.what") };
  const { at, every, cron: expression, tz, name, workdir, timeout, as = "command" } = given;
  if (as !== "command" && as !== "event") return { error: phrase("cron.as", { value: as }) };
  if (timeout !== undefined && !/^\d+(\.\d+)?$/.test(timeout))
    return { error: phrase("cron.timeout", { value: timeout }) };
  return {
    request: {
      ...(as === "event" ? { event: what } : { command: what }),
      ...(at === undefined ? {} : { at }),
      ...(every === undefined ? {} : { every }),
      ...(expression === undefined ? {} : { cron: expression }),
      ...(tz === undefined ? {} : { timezone: tz }),
      ...(name === undefined ? {} : { name }),
      ...(workdir === undefined ? {} : { workdir }),
      ...(timeout === undefined ? {} : { timeoutSec: Number(timeout) }),
    },
  };
}
