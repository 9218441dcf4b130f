/** The exec tool of this gateway: the pipeline of `core/exec` with this machine's policy, files and settings. */
import type { Logger } from "pino";
import type { ApprovalReach } from "../core/access/approval-reach.ts";
import type { Approvals } from "../core/approvals/approvals.ts";
import type { ApprovalsFile } from "../core/approvals/approvals-file.ts";
import type { ApprovalRecord } from "../core/approvals/record.ts";
import type { Audit } from "../core/audit/audit.ts";
import type { Config } from "../core/config/schema.ts";
import { checkEnvOverrides } from "../core/exec/env.ts";
import { createExecTool, type ExecTool } from "../core/exec/exec-tool.ts";
import { preflight } from "../core/exec/preflight.ts";
import type { Runs } from "../core/exec/runs.ts";
import { DEFAULT_YIELD_MS, isSandboxed } from "../core/exec/settings.ts";
import type { ExecNodes } from "../core/hosts/node/nodes.ts";
import type { Sandboxes } from "../core/hosts/sandbox/sandboxes.ts";
import type { ReasonCode } from "../core/policy/decision.ts";
import { reasonPhrase } from "../core/policy/reasons.ts";
import type { Sessions } from "../core/sessions/sessions.ts";
import { phrase } from "../core/words/phrase.ts";
import { OPERATOR_ROUTE } from "./notice-routes.ts";
import type { PolicyService } from "./policy-service.ts";
import { reviewWith } from "./reviewer.ts";

export interface GatewayExecOptions {
  readonly config: () => Config;
  readonly stateDir: string;
  readonly audit: Audit;
  readonly logger: Logger;
  readonly sessions: Sessions;
  readonly approvals: Approvals;
  readonly approvalsFile: ApprovalsFile;
  readonly policy: PolicyService;
  readonly runs: Runs;
  readonly sandboxes: Sandboxes;
  readonly nodes: ExecNodes;
  /** API keys by provider name, for the automatic reviewer. */
  readonly modelKeys: Readonly<Record<string, string>>;
  /** Of the environment; absent: the built-in default. */
  readonly yieldMs: number | undefined;
  /** For what is written where people look: no secret. */
  readonly mask: (text: string) => string;
  /** Shows the card of a request. */
  readonly announce: (record: ApprovalRecord) => Promise<void>;
  /** Who sees that card. */
  readonly reach: (record: ApprovalRecord) => ApprovalReach;
}

export function createGatewayExec(options: GatewayExecOptions): ExecTool {
  const { config, stateDir, audit, logger, sessions, approvals, approvalsFile, policy, runs, modelKeys } = options;
  return createExecTool({
    config,
    stateDir,
    sessions,
    approvals,
    runs,
    audit,
    resolvePolicy: policy.resolve,
    decide: policy.decide,
    checkEnv: checkEnvOverrides,
    preflight,
    nodes: options.nodes,
    sandboxActive: (key, agentId) => isSandboxed(config(), key, agentId),
    sandboxWorkdir: (requested, agentId, key) => options.sandboxes.workdir(requested, agentId, key),
    elevated: async () => ({
      refused: phrase("error.elevated"),
    }),
    noteUse(decision, typed, agentId) {
      const command = options.mask(typed);
      for (const { entry, resolvedPath } of decision.segments) {
        if (entry) approvalsFile.noteUse({ agentId, rule: entry, command, ...(resolvedPath ? { resolvedPath } : {}) });
      }
    },
    review: reviewWith(config, modelKeys, (why) =>
      logger.warn(`the automatic reviewer gave no answer, so a person is asked: ${why}`),
    ),
    yieldMs: (settings) => settings.exec.backgroundMs ?? options.yieldMs ?? DEFAULT_YIELD_MS,
    warningsFor: (decision) => decision.reasons.filter((reason) => UNPINNED.has(reason.code)).map(reasonPhrase),
    announce: options.announce,
    reach: options.reach,
    defaultRoute: OPERATOR_ROUTE,
  });
}

/** Reasons after which what runs is the text as it stands, not something pinned to files. */
const UNPINNED: ReadonlySet<ReasonCode> = new Set(["cannot-pin", "script-not-bindable", "script-missing"]);
