import { slugOf } from "../core/approvals/record.ts";
import { type Phrase, phrase, type Wording } from "../core/words/phrase.ts";
import type { CommandDefinition } from "./command.ts";

const MAX_NAMES = 10;

export const status: CommandDefinition = {
  name: "status",
  summary: phrase("command.status"),
  usage: ["/status"],
  options: [],
  rank: "authorized",
  async run({ services, agentId, reply }) {
    const [report, pending] = await Promise.all([services.status(), services.approvals.pending()]);
    const ofAgent = (run: { readonly agentId: string }) => run.agentId === agentId;
    const runs = services.runs.active().filter(ofAgent);
    const queued = services.runs.queued().filter(ofAgent);
    const healthy = report.state === "ready" && report.problems.length === 0 && report.queue.dead === 0;
    await reply(
      {
        kind: "text",
        tone: healthy ? "success" : "warning",
        title: phrase(healthy ? "status.well" : "status.look"),
        ...(report.queue.dead > 0 ? { hint: phrase("status.dead.hint") } : {}),
        fields: [
          {
            label: phrase("status.gateway"),
            value: phrase("status.gateway.value", { id: report.gatewayId, state: phrase(`state.${report.state}`) }),
            note: phrase("status.version", { version: report.version, time: ago(report.upMs) }),
          },
          ...report.problems.map((problem) => ({ label: phrase("status.problem"), value: problem })),
          ...report.channels.map((channel) => ({
            label: channel.name,
            value: phrase(`state.${channel.state}`),
            ...(channel.detail ? { note: channel.detail } : {}),
          })),
          {
            label: phrase("status.running"),
            value: String(runs.length),
            ...(runs.length > 0 ? { note: names(runs.map((run) => run.sessionId)) } : {}),
          },
          ...(queued.length > 0
            ? [
                {
                  label: phrase("status.queued"),
                  value: String(queued.length),
                  note: names(queued.map((run) => run.sessionId)),
                },
              ]
            : []),
          {
            label: phrase("status.decisions"),
            value: String(pending.length),
            ...(pending.length > 0 ? { note: pending.map((record) => slugOf(record.id)).join(", ") } : {}),
          },
          {
            label: phrase("status.messages"),
            value: String(report.queue.waiting + report.queue.delayed + report.queue.active),
            ...(report.queue.dead > 0 ? { note: phrase("status.dead", { count: report.queue.dead }) } : {}),
          },
        ],
      },
      { private: true },
    );
  },
};

/** A flood must not become a page of names. */
function names(ids: readonly string[]): Wording {
  const more = ids.length - MAX_NAMES;
  const shown = ids.slice(0, MAX_NAMES).join(", ");
  return more > 0 ? phrase("status.more", { names: shown, more }) : shown;
}

function ago(ms: number): Phrase {
  const minutes = Math.floor(ms / 60_000);
  if (minutes < 1) return phrase("time.seconds", { seconds: Math.floor(ms / 1000) });
  if (minutes < 60) return phrase("time.minutes", { minutes });
  const hours = Math.floor(minutes / 60);
  return hours < 48
    ? phrase("time.hours", { hours, minutes: minutes % 60 })
    : phrase("time.days", { count: Math.floor(hours / 24) });
}
