import { slugOf } from "../core/approvals/record.ts";
import type { CommandDefinition } from "./command.ts";

const MAX_NAMES = 10;

export const status: CommandDefinition = {
  name: "status",
  summary: "What is running, what waits for you, and whether all is well.",
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
        title: healthy ? "All is well" : "Needs a look",
        fields: [
          {
            label: "Gateway",
            value: `${report.gatewayId}, ${report.state}`,
            note: `version ${report.version}, up ${ago(report.upMs)}`,
          },
          ...report.problems.map((problem) => ({ label: "Problem", value: problem })),
          ...report.channels.map((channel) => ({
            label: channel.name,
            value: channel.state,
            ...(channel.detail ? { note: channel.detail } : {}),
          })),
          {
            label: "Running",
            value: String(runs.length),
            ...(runs.length > 0 ? { note: names(runs.map((run) => run.sessionId)) } : {}),
          },
          ...(queued.length > 0
            ? [
                {
                  label: "Waiting in line",
                  value: String(queued.length),
                  note: names(queued.map((run) => run.sessionId)),
                },
              ]
            : []),
          {
            label: "Waiting for a decision",
            value: String(pending.length),
            ...(pending.length > 0 ? { note: pending.map((record) => slugOf(record.id)).join(", ") } : {}),
          },
          {
            label: "Messages on their way",
            value: String(report.queue.waiting + report.queue.delayed + report.queue.active),
            ...(report.queue.dead > 0 ? { note: `${report.queue.dead} could not be delivered` } : {}),
          },
        ],
      },
      { private: true },
    );
  },
};

/** A flood must not become a page of names. */
function names(ids: readonly string[]): string {
  const more = ids.length - MAX_NAMES;
  return `${ids.slice(0, MAX_NAMES).join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}

function ago(ms: number): string {
  const minutes = Math.floor(ms / 60_000);
  if (minutes < 1) return `${Math.floor(ms / 1000)} s`;
  if (minutes < 60) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours} h ${minutes % 60} min` : `${Math.floor(hours / 24)} days`;
}
