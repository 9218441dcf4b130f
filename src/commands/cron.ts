import { createHash } from "node:crypto";
import type { CronRequest, ListedCronJob } from "../core/events/cron.ts";
import { nearestOf } from "../core/nearest.ts";
import type { CommandDefinition } from "./command.ts";

const ACTIONS = ["list", "add", "remove", "run"] as const;
const OPTIONS = ["at", "every", "cron", "tz", "name", "workdir", "timeout", "as"] as const;
type Option = (typeof OPTIONS)[number];

export const cron: CommandDefinition = {
  name: "cron",
  summary: "Work at a later time: list, add, remove or run jobs (owner).",
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
    { name: "action", description: "What to do (default list)", choices: ACTIONS },
    { name: "job", description: "Id or name of the job" },
    { name: "at", description: "Once: 30m from now, or 2031-04-05T09:00" },
    { name: "every", description: "Again and again: 15m, 2h, 1d" },
    { name: "cron", description: "A cron expression" },
    { name: "tz", description: "Time zone of at and cron" },
    { name: "command", description: "What to run" },
  ],
  rank: "owner",
  async run(context) {
    const { args, services, reply } = context;
    const [, action = "list", rest = ""] = /^(\S*)\s*([\s\S]*)$/.exec(args.trim()) ?? [];
    switch (action === "" ? "list" : action.toLowerCase()) {
      case "list": {
        const jobs = await services.cron.list();
        await reply(
          jobs.length === 0
            ? { kind: "text", tone: "info", text: "There are no jobs.", hint: "/cron add every=30m -- df -h" }
            : { kind: "text", tone: "info", title: "Jobs", fields: jobs.map(jobField) },
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
          title: `Job ${job.id} is set`,
          fields: [jobField(job)],
          hint: `Its cards come here. /cron remove ${job.id} takes it back.`,
        });
        return;
      }
      case "remove":
      case "run": {
        const job =
          action === "run" ? await services.cron.run(rest, context.eventId) : await services.cron.remove(rest);
        const text = action === "run" ? `Job ${job.id} runs now.` : `Job ${job.id} is removed.`;
        await reply({ kind: "text", tone: "info", text });
        return;
      }
      default: {
        const near = nearestOf(action, ACTIONS);
        const text = `Unknown action "${action.slice(0, 32)}".${near ? ` Did you mean "${near}"?` : ""}`;
        await reply(
          { kind: "text", tone: "warning", text, hint: `Use one of: ${ACTIONS.join(", ")}.` },
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
  readonly value: string;
  readonly note: string;
} {
  const next = job.nextAtMs === undefined ? "no next time" : `next ${new Date(job.nextAtMs).toISOString()}`;
  const last = job.last ? `; last ${new Date(job.last.atMs).toISOString()}: ${job.last.result}` : "";
  return {
    label: job.name ? `${job.id} ${job.name}` : job.id,
    value: job.task.kind === "command" ? job.task.command : `tells the session: ${job.task.text}`,
    note: `${whenText(job)}, ${next}${last}`,
  };
}

export function whenText({ when }: Pick<ListedCronJob, "when">): string {
  switch (when.kind) {
    case "at":
      return "once";
    case "every":
      return `every ${when.everyMs % 60_000 === 0 ? `${when.everyMs / 60_000} min` : `${when.everyMs / 1_000} s`}`;
    case "cron":
      return `${when.cron}${when.timezone ? ` in ${when.timezone}` : ""}`;
  }
}

/** `every=30m name=disk -- df -h`: options first, then what to do as the raw rest of the text. */
export function parseCronText(text: string): { readonly request: CronRequest } | { readonly error: string } {
  const given: Partial<Record<Option, string>> = {};
  let rest = text;
  for (;;) {
    const match = /^([a-z]+)=(?:"([^"\n]*)"|'([^'\n]*)'|(\S*))(?:\s+|$)/.exec(rest);
    const [whole = "", name = "", double, single, bare] = match ?? [];
    if (!match) break;
    if (!(OPTIONS as readonly string[]).includes(name)) {
      const near = nearestOf(name, OPTIONS);
      if (near === undefined) break;
      return { error: `Unknown option "${name}". Did you mean "${near}"? What to do comes after --.` };
    }
    given[name as Option] = double ?? single ?? bare ?? "";
    rest = rest.slice(whole.length);
  }
  const what = rest.replace(/^--(?:\s+|$)/, "");
  if (what.trim() === "") return { error: "What should be done? For example: /cron add every=30m -- df -h" };
  const { at, every, cron: expression, tz, name, workdir, timeout, as = "command" } = given;
  if (as !== "command" && as !== "event") return { error: `as=${as} is neither command nor event.` };
  if (timeout !== undefined && !/^\d+(\.\d+)?$/.test(timeout))
    return { error: `timeout=${timeout} is no number of seconds.` };
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
