/** What `cron` does, through the running gateway. */
import { jobField } from "../commands/cron.ts";
import type { ListedCronJob } from "../core/events/cron.ts";
import { inEnglish } from "../core/words/phrase.ts";
import type { CronAddFlags } from "./cron.ts";
import { type Cli, EXIT } from "./io.ts";
import { withGateway } from "./with-gateway.ts";

export async function list(cli: Cli, flags: { readonly json?: boolean }): Promise<number> {
  const { jobs } = await withGateway(cli, {}, (client) => client.request("cron.list", {}));
  if (flags.json) cli.out(JSON.stringify(jobs, null, 2));
  else if (jobs.length === 0) cli.out('There are no jobs. Add one: openclaw-exec cron add --every 30m "df -h"');
  else for (const job of jobs) cli.out(line(job));
  return EXIT.ok;
}

export async function add(cli: Cli, what: string, flags: CronAddFlags): Promise<number> {
  const { at, every, cron, tz, name, workdir, timeout, agent, chat } = flags;
  const job = await withGateway(cli, {}, (client) =>
    client.request("cron.add", {
      ...(flags.event ? { event: what, wake: flags.nextHeartbeat ? "next-heartbeat" : "now" } : { command: what }),
      ...(at === undefined ? {} : { at }),
      ...(every === undefined ? {} : { every }),
      ...(cron === undefined ? {} : { cron }),
      ...(tz === undefined ? {} : { timezone: tz }),
      ...(name === undefined ? {} : { name }),
      ...(workdir === undefined ? {} : { workdir }),
      ...(timeout === undefined ? {} : { timeoutSec: timeout }),
      ...(agent === undefined ? {} : { agentId: agent }),
      ...(chat === undefined ? {} : { chatId: chat }),
    }),
  );
  cli.out(line(job));
  return EXIT.ok;
}

export async function change(cli: Cli, action: "remove" | "run", job: string): Promise<number> {
  const done = await withGateway(cli, {}, (client) => client.request(`cron.${action}`, { job }));
  cli.out(action === "run" ? `Job ${done.id} runs now; its card is in the chat.` : `Removed job ${done.id}.`);
  return EXIT.ok;
}

function line(job: ListedCronJob): string {
  const { label, value, note } = jobField(job);
  return `${label}  ${inEnglish(value)}\n  ${inEnglish(note)}`;
}
