/** What chat commands may use, gathered from the gateway's services. */

import type { Turns } from "../agents/turns.ts";
import { type CompletionData, nodeWord } from "../commands/complete.ts";
import { COMMANDS } from "../commands/registry.ts";
import type { CommandServices } from "../commands/services.ts";
import type { Access } from "../core/access/access.ts";
import type { NewId } from "../core/clock.ts";
import type { Config } from "../core/config/schema.ts";
import { runCard } from "../core/exec/run-card.ts";
import { decidableBy } from "./completions.ts";
import type { Elsewhere } from "./elsewhere.ts";
import type { PolicyChanges } from "./policy-changes.ts";
import { explainCard, type PolicyService } from "./policy-service.ts";
import type { Readiness } from "./readiness.ts";

export interface CommandServicesOptions
  extends Pick<
    CommandServices,
    "exec" | "runs" | "approvals" | "approvalDesk" | "sessions" | "pairingDesk" | "cron" | "deadLetters" | "allowlist"
  > {
  readonly config: () => Config;
  readonly access: Pick<Access, "mayDecide">;
  readonly newId: NewId;
  readonly elsewhere: Elsewhere;
  readonly agents: Pick<Turns, "stop" | "forget">;
  readonly policy: PolicyService;
  readonly mask: CommandServices["mask"];
  /** Connected nodes. */
  readonly nodes: () => CompletionData["nodes"];
  readonly policyChanges: Pick<PolicyChanges, "record">;
  readonly readiness: Readiness;
}

export function createCommandServices(options: CommandServicesOptions): CommandServices {
  const { config, newId, exec, runs, approvals, approvalDesk, sessions, pairingDesk, cron, deadLetters, allowlist } =
    options;
  const { access, elsewhere, agents, policy, policyChanges, readiness } = options;
  return {
    commands: COMMANDS,
    exec,
    runs,
    approvals,
    decidable: (actor, route) => decidableBy(approvals, access, actor, route),
    sessions,
    pairingDesk,
    approvalDesk,
    cron,
    deadLetters,
    allowlist,
    bashEnabled: () => config().commands.bash,
    bashForegroundMs: () => config().commands.bashForegroundMs,
    process: elsewhere.process,
    stopRun: elsewhere.stopRun,
    stopAll: elsewhere.stopAll,
    stopTurns: agents.stop,
    forgetConversation: agents.forget,
    policy: policy.fields,
    loosening: policy.loosening,
    mask: options.mask,
    nodes: () => {
      const all = options.nodes();
      return all.map((node) => nodeWord(node, all));
    },
    policyChanged: policyChanges.record,
    async explain(command, scope) {
      const judged = await exec.judge({ command }, { ...scope, requestId: newId(), fromChannel: true });
      return explainCard(command, judged.decision);
    },
    status: () => readiness.status(),
    runCard: (record) => runCard(record),
  };
}
