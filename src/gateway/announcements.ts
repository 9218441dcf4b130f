/** What people are told of runs and requests, with this gateway's channels, owners and logs. */
import type { Channel } from "../channels/channel.ts";
import { approvalTargets } from "../core/access/approval-targets.ts";
import type { Config } from "../core/config/schema.ts";
import { type Announcements, type AnnouncementsOptions, createAnnouncements } from "../core/events/announcements.ts";
import { OUTPUT_FILE_CHARS } from "../core/exec/run-record.ts";
import { agentSettings } from "../core/exec/settings.ts";
import type { ProcessSessions } from "../core/process/registry.ts";
import { OPERATOR_ROUTE, ownerRoutes } from "./notice-routes.ts";
import type { RunLog } from "./run-log.ts";

export interface GatewayAnnouncementsOptions
  extends Pick<AnnouncementsOptions, "clock" | "wake" | "approvals" | "deliveries" | "events" | "onError"> {
  readonly config: () => Config;
  readonly stateDir: string;
  readonly channels: readonly Channel[];
  readonly sessions: ProcessSessions;
  readonly logFile: RunLog["file"];
}

export function createGatewayAnnouncements(options: GatewayAnnouncementsOptions): Announcements {
  const { clock, wake, approvals, deliveries, events, onError, config, stateDir, channels, sessions, logFile } =
    options;
  return createAnnouncements({
    clock,
    wake,
    approvals,
    deliveries,
    events,
    wakeOnDenial: () => config().approvals.wakeOnDenial,
    execConfig: (agentId) => agentSettings(config(), agentId, stateDir).exec,
    approvalTargets: (record) => approvalTargets(config(), record, OPERATOR_ROUTE),
    responsible: (origin) => {
      const owners = ownerRoutes(config(), origin);
      return owners.length > 0 ? owners : [OPERATOR_ROUTE];
    },
    async outputFile({ runId, totalChars, route }) {
      const channel = channels.find((one) => one.id === route?.channel && one.accountId === route.accountId);
      if (!channel?.capabilities.files || totalChars <= OUTPUT_FILE_CHARS) return undefined;
      try {
        return await logFile(runId);
      } catch (error) {
        // The card tells the end without it.
        onError(error, `writing the output of ${runId} to a file`);
        return undefined;
      }
    },
    operatorRoute: OPERATOR_ROUTE,
    endSeen: (runId) => {
      const session = sessions.byRun(runId);
      return session?.endAcknowledged ? "acknowledged" : session?.endObserved ? "observed" : "no";
    },
    onError,
  });
}
