/** The `apply_patch` tool: structured edits of several files at once (exec.md section 14). */

import { realpath } from "node:fs/promises";
import * as z from "zod";
import { ExecError } from "../../errors.ts";
import { Lanes } from "../../lanes.ts";
import { issueWording } from "../../words/issues.ts";
import { phrase } from "../../words/phrase.ts";
import type { ToolResult } from "../results.ts";
import { PatchSyntaxError, parsePatch } from "./patch.ts";
import { type PatchPlan, planPatch } from "./plan.ts";
import { writePlan } from "./write.ts";

/** Characters of one patch. */
const MAX_PATCH_CHARS = 4_000_000;

export const applyPatchInput = z.strictObject({
  input: z
    .string({ error: "give the patch as text in input" })
    .max(MAX_PATCH_CHARS, "the patch is too long")
    .describe("The whole patch, from *** Begin Patch to *** End Patch."),
});

export interface ApplyPatchSettings {
  readonly enabled: boolean;
  readonly workspaceOnly: boolean;
  readonly allowModels: readonly string[];
}

export interface ApplyPatchContext {
  /** Folder that relative paths start from; with `workspaceOnly` the folder that nothing may leave. */
  readonly workspace: string;
  readonly workspaceOnly: boolean;
  readonly signal?: AbortSignal;
}

export interface PatchResult extends ToolResult {
  readonly details: { readonly status: "completed"; readonly summary: PatchPlan["summary"] };
}

export interface ApplyPatchTool {
  /** Rejects with `ExecError` when the patch does not apply; then no file was changed unless the message says so. */
  call(input: unknown, context: ApplyPatchContext): Promise<PatchResult>;
}

/** Models of these providers have learned the patch format (seed 000). */
const PROVIDERS = new Set(["openai", "openai-codex"]);

/**
 * Whether a model is offered the tool. `allowModels` narrows further, by `model` or `provider/model`, whatever the
 * case; with a list, a model whose id is not known is not offered it.
 */
export function offersApplyPatch(
  settings: ApplyPatchSettings,
  model: { readonly provider: string; readonly id: string | undefined },
): boolean {
  const provider = model.provider.toLowerCase();
  if (!settings.enabled || !PROVIDERS.has(provider)) return false;
  if (settings.allowModels.length === 0) return true;
  const id = model.id?.toLowerCase();
  if (id === undefined) return false;
  return settings.allowModels.some((allowed) => [id, `${provider}/${id}`].includes(allowed.trim().toLowerCase()));
}

export function createApplyPatchTool(): ApplyPatchTool {
  /** Patches of one workspace wait for each other: by its real path, and before that is known by the one that was given. */
  const workspaces = new Lanes();
  const arrivals = new Lanes();

  return {
    async call(input, context) {
      const parsed = applyPatchInput.safeParse(input ?? {});
      if (!parsed.success) {
        const [issue] = parsed.error.issues;
        throw new ExecError(
          "invalid-argument",
          phrase("error.argument.invalid", {
            parameter: issue?.path.join(".") || phrase("error.argument.all"),
            tool: "apply_patch",
            why: issue === undefined ? phrase("error.argument.notAcceptable") : issueWording(issue),
          }),
        );
      }
      if (parsed.data.input.trim() === "") throw new ExecError("invalid-argument", "Provide a patch input.");
      const operations = read(parsed.data.input);
      if (operations.length === 0)
        throw new ExecError("invalid-argument", "No files were modified: the patch has no operations.");
      const { workspace } = context;
      const plan = await arrivals.run(workspace, async () => {
        const root = await realpath(workspace).catch(() => {
          throw new ExecError("workdir-unavailable", `The workspace ${workspace} does not exist. Nothing was changed.`);
        });
        return workspaces.run(root, async () => {
          const planned = await planPatch(operations, root, context.workspaceOnly);
          context.signal?.throwIfAborted();
          await writePlan(planned.changes);
          return planned;
        });
      });
      return result(plan);
    },
  };
}

function read(text: string) {
  try {
    return parsePatch(text);
  } catch (error) {
    if (!(error instanceof PatchSyntaxError)) throw error;
    throw new ExecError("invalid-argument", `The patch can not be read. ${error.message} Nothing was changed.`);
  }
}

function result(plan: PatchPlan): PatchResult {
  const { added, modified, deleted } = plan.summary;
  const lines = [
    ...added.map((path) => `A ${path}`),
    ...modified.map((path) => `M ${path}`),
    ...deleted.map((path) => `D ${path}`),
  ];
  const text = [
    ...(lines.length > 0 ? ["Success. Updated the following files:", ...lines] : []),
    ...plan.unchanged.map((path) => `No changes made to ${path}.`),
  ].join("\n");
  return { content: [{ type: "text", text }], details: { status: "completed", summary: plan.summary } };
}
