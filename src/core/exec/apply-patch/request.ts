/**
 * One call of `apply_patch` from whoever makes it: may this caller use it here, what is kept of it in the audit trail,
 * and in whose workspace it writes.
 */
import { createHash } from "node:crypto";
import type { Audit } from "../../audit/audit.ts";
import type { AuditEvent } from "../../audit/events.ts";
import { ExecError } from "../../errors.ts";
import type { Actor, Route } from "../../route.ts";
import type { ToolResult } from "../results.ts";
import type { AgentSettings } from "../settings.ts";
import { type ApplyPatchSettings, type ApplyPatchTool, offersApplyPatch } from "./tool.ts";

/** The audit trail names this many files of a patch, and counts the others. */
const MAX_AUDITED_FILES = 50;
const MAX_AUDITED_NAME_CHARS = 300;

type PatchEnded = Extract<AuditEvent, { type: "patch-ended" }>;

/** The model whose turn makes the call. */
export interface CallingModel {
  readonly provider: string;
  readonly id: string | undefined;
}

export interface PatchContext {
  readonly requestId: string;
  readonly settings: AgentSettings;
  readonly sessionKey: string;
  readonly actor: Actor;
  /** Absent: no model calls, but a program of the operator. */
  readonly model?: CallingModel;
  readonly route?: Route;
  readonly signal?: AbortSignal;
}

export type PatchRequests = (input: unknown, context: PatchContext) => Promise<ToolResult>;

export interface PatchRequestsOptions {
  readonly tool: ApplyPatchTool;
  readonly audit: Audit;
  /** A session that is kept in a sandbox must not write beside it. */
  readonly sandboxActive: (sessionKey: string, agentId: string) => boolean;
  readonly onError: (error: unknown, what: string) => void;
}

/** Rejects with `tool-denied` when the caller may not use the tool, else as `ApplyPatchTool.call` does. */
export function createPatchRequests({ tool, audit, sandboxActive, onError }: PatchRequestsOptions): PatchRequests {
  return async (input, { requestId, settings, sessionKey, actor, model, route, signal }) => {
    const { applyPatch } = settings.exec;
    const refusal = refusalFor(applyPatch, model);
    if (refusal !== undefined) throw new ExecError("tool-denied", `${refusal} Nothing was changed.`);
    if (sandboxActive(sessionKey, settings.agentId)) {
      throw new ExecError(
        "host-unavailable",
        "This session is kept in a sandbox, and apply_patch writes from outside of it, where a link that a sandboxed command made could lead anywhere. Write files with exec. Nothing was changed.",
      );
    }
    const text = patchText(input);
    await audit.record({
      type: "request",
      requestId,
      actor,
      agentId: settings.agentId,
      sessionKey,
      tool: "apply_patch",
      command: filesOf(text),
      cwd: settings.workspace,
      ...(route ? { route } : {}),
    });
    const patchHash = createHash("sha256").update(text).digest("hex");
    /** Files are as they are by now, so a trail that can not be written is for the log, not for the caller. */
    const ended = (end: Pick<PatchEnded, "outcome" | "files" | "fileCount" | "error">) =>
      audit
        .record({ type: "patch-ended", requestId, patchHash, ...end })
        .catch((error) => onError(error, `recording the end of patch ${requestId}`));
    try {
      const result = await tool.call(input, {
        workspace: settings.workspace,
        workspaceOnly: applyPatch.workspaceOnly,
        ...(signal ? { signal } : {}),
      });
      const { added, modified, deleted } = result.details.summary;
      const files = [
        ...added.map((path) => `A ${path}`),
        ...modified.map((path) => `M ${path}`),
        ...deleted.map((path) => `D ${path}`),
      ];
      await ended({ outcome: "applied", ...named(files) });
      return result;
    } catch (error) {
      const code = error instanceof ExecError ? error.code : signal?.aborted ? "aborted" : "internal";
      await ended({ outcome: "failed", error: code, ...named([]) });
      throw error;
    }
  };
}

function refusalFor(settings: ApplyPatchSettings, model: CallingModel | undefined): string | undefined {
  if (!settings.enabled) return "apply_patch is switched off here (tools.exec.applyPatch.enabled).";
  if (model !== undefined) {
    if (offersApplyPatch(settings, model)) return undefined;
    return `apply_patch is not offered to ${model.provider}/${model.id ?? "(unknown)"}: it is for OpenAI models${settings.allowModels.length > 0 ? " on the list tools.exec.applyPatch.allowModels" : ""}.`;
  }
  return settings.allowModels.length === 0
    ? undefined
    : "apply_patch is kept for the models in tools.exec.applyPatch.allowModels, and this call names no model. An empty list opens it to programs that hold the token.";
}

function patchText(input: unknown): string {
  const text = (input as { readonly input?: unknown } | undefined)?.input;
  return typeof text === "string" ? text : "";
}

const HEADLINE = /^\*\*\* (?:(Add|Update|Delete) File|Move to): (.+)$/gm;

/** `Add a.txt; Update b.txt; Move to c.txt`: what the patch says it touches, whether or not it can be applied. */
function filesOf(text: string): string {
  const all = Array.from(text.matchAll(HEADLINE), ([, verb, path]) => `${verb ?? "Move to"} ${path?.trim()}`);
  const { files, fileCount } = named(all);
  return [...files, ...(fileCount > files.length ? [`and ${fileCount - files.length} more`] : [])].join("; ");
}

function named(all: readonly string[]): { readonly files: readonly string[]; readonly fileCount: number } {
  return {
    files: all.slice(0, MAX_AUDITED_FILES).map((name) => name.slice(0, MAX_AUDITED_NAME_CHARS)),
    fileCount: all.length,
  };
}
