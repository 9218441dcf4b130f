/** What a model is told of the tools: derived from the schemas that check the calls, so that the two can not differ. */
import type { JSONSchema7 } from "ai";
import * as z from "zod";
import { applyPatchInput, offersApplyPatch } from "../core/exec/apply-patch/tool.ts";
import { execInput } from "../core/exec/exec-args.ts";
import { processInput } from "../core/exec/process-tool.ts";
import type { AgentSettings } from "../core/exec/settings.ts";
import { isToolAllowed } from "../core/exec/tool-policy.ts";
import type { NamedModel } from "./provider.ts";

export interface ToolDescription {
  readonly name: "exec" | "process" | "apply_patch";
  readonly description: string;
  readonly schema: JSONSchema7;
}

const EXEC: ToolDescription = {
  name: "exec",
  description:
    "Run a shell command. Returns its output, or status running with a sessionId when it goes on in the background, or approval-pending when a person has to allow it first. Start long work once; its end is announced by itself.",
  // Left out: a second name for timeout, and a parameter that is ignored.
  schema: describe(execInput.omit({ timeoutSeconds: true, security: true })),
};

/** For a caller that nobody can wake: it has to look. */
const EXEC_POLLED: ToolDescription = {
  ...EXEC,
  description:
    "Run a shell command. Returns its output, or status running with a sessionId when it goes on in the background: look at it with process poll. With approval-pending a person has to allow it first: process list shows it once that was done. Start long work once.",
};

const PROCESS: ToolDescription = {
  name: "process",
  description:
    "Look at background sessions of exec, feed them and end them. list, poll and log show status and output; write, send-keys, submit and paste give input; resize sets the size of a terminal; kill, clear and remove end or forget one.",
  schema: describe(processInput),
};

const APPLY_PATCH: ToolDescription = {
  name: "apply_patch",
  description:
    "Add, update, move and delete files of the workspace with one patch: *** Begin Patch, then *** Add File:, *** Update File: (with @@ chunks) or *** Delete File: sections, then *** End Patch. Either all of it applies or nothing.",
  schema: describe(applyPatchInput),
};

/** The tools this agent may use (`tools.allow`, `tools.deny`) and this model is offered. */
export function toolsFor(settings: AgentSettings, model: NamedModel): readonly ToolDescription[] {
  return [EXEC, PROCESS, APPLY_PATCH].filter(
    (tool) =>
      isToolAllowed(tool.name, settings.toolLayers) &&
      (tool.name !== "apply_patch" || offersApplyPatch(settings.exec.applyPatch, model)),
  );
}

/** The same for a program that calls them with the gateway's token: no model is known, so only settings count. */
export function toolsForProgram(settings: AgentSettings): readonly ToolDescription[] {
  const { enabled, allowModels } = settings.exec.applyPatch;
  return [EXEC_POLLED, PROCESS, APPLY_PATCH].filter(
    (tool) =>
      isToolAllowed(tool.name, settings.toolLayers) &&
      (tool.name !== "apply_patch" || (enabled && allowModels.length === 0)),
  );
}

function describe(schema: z.ZodType): JSONSchema7 {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, {
    io: "input",
    unrepresentable: "any",
    override: ({ jsonSchema }) => simplify(jsonSchema),
  });
  return rest as JSONSchema7;
}

/** What else is accepted (text for a number, null for absent) is leniency, not something to tell. */
function simplify(schema: z.core.JSONSchema.BaseSchema): void {
  const accepted = schema.anyOf?.filter((one) => typeof one === "object" && one.type !== "null");
  if (!accepted || accepted.length === 0) return;
  const told = accepted.find((one) => typeof one === "object" && one.type === "number") ?? accepted[0];
  delete schema.anyOf;
  Object.assign(schema, told);
}
