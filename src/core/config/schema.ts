/** The whole configuration file: every key, its default and what it means. */
import * as z from "zod";
import { agentsSchema, bindingsSchema, modelsSchema } from "./schema/agents.ts";
import { accessGroupsSchema, channelsSchema } from "./schema/channels.ts";
import { toolsSchema } from "./schema/exec.ts";
import {
  approvalsSchema,
  commandsSchema,
  gatewaySchema,
  limitsSchema,
  loggingSchema,
  messagesSchema,
  redisSchema,
  sessionSchema,
} from "./schema/operation.ts";
import { section } from "./schema/values.ts";

/** The agent there is when none is configured. */
const MAIN_AGENT = "main";

export const configSchema = z
  .strictObject({
    $schema: z.exactOptional(z.string().describe("For editors; ignored.")),
    tools: section(toolsSchema),
    agents: section(agentsSchema),
    bindings: bindingsSchema.default([]),
    models: section(modelsSchema),
    channels: section(channelsSchema),
    accessGroups: accessGroupsSchema.default({}),
    approvals: section(approvalsSchema),
    commands: section(commandsSchema),
    session: section(sessionSchema),
    messages: section(messagesSchema),
    gateway: section(gatewaySchema),
    redis: section(redisSchema),
    logging: section(loggingSchema),
    limits: section(limitsSchema),
  })
  .check(({ value, issues }) => {
    const known = value.agents.list.length === 0 ? [MAIN_AGENT] : value.agents.list.map(({ id }) => id);
    for (const [index, { agentId }] of value.bindings.entries()) {
      if (known.some((id) => id.toLowerCase() === agentId.toLowerCase())) continue;
      const message = `there is no such agent; agents.list has ${known.join(", ")}`;
      issues.push({ code: "custom", input: agentId, path: ["bindings", index, "agentId"], message });
    }
    const providers = Object.keys(value.models.providers);
    for (const [path, model] of namedModels(value.agents)) {
      const [provider = "", ...rest] = model.split("/");
      if (rest.join("/") !== "" && providers.includes(provider)) continue;
      const message = `a model is written provider/model, and models.providers has ${providers.join(", ") || "none"}`;
      issues.push({ code: "custom", input: model, path: ["agents", ...path], message });
    }
  });

/** Every model that `agents` names, and where. */
function namedModels({ defaults, list }: z.output<typeof agentsSchema>): [(string | number)[], string][] {
  const found = [defaults, ...list].flatMap((agent, index) => {
    const at = index === 0 ? ["defaults"] : ["list", index - 1];
    return [
      [[...at, "model"], agent.model],
      [[...at, "heartbeat", "model"], agent.heartbeat?.model],
    ] as [(string | number)[], string | undefined][];
  });
  return found.filter((one): one is [(string | number)[], string] => one[1] !== undefined);
}

export type DeepReadonly<T> = T extends (infer E)[]
  ? readonly DeepReadonly<E>[]
  : T extends object
    ? { readonly [K in keyof T]: DeepReadonly<T[K]> }
    : T;

/** What the product runs on: validated, defaults filled in, frozen. Secrets are still references; see `secrets.ts`. */
export type Config = DeepReadonly<z.output<typeof configSchema>>;

export type AgentEntry = Config["agents"]["list"][number];
/** `tools.exec` with defaults. */
export type ExecConfig = Config["tools"]["exec"];
export type SlackAccountConfig = NonNullable<Config["channels"]["slack"]>["accounts"][string];
export type DiscordAccountConfig = NonNullable<Config["channels"]["discord"]>["accounts"][string];
export type TelegramAccountConfig = NonNullable<Config["channels"]["telegram"]>["accounts"][string];
