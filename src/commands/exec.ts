import { atLeast } from "../core/access/rank.ts";
import { ExecError } from "../core/errors.ts";
import { phrase } from "../core/words/phrase.ts";
import type { CommandDefinition } from "./command.ts";
import { EXEC_USAGE, type ExecOptions, parseExecText } from "./exec-text.ts";

export const exec: CommandDefinition = {
  name: "exec",
  summary: phrase("command.exec"),
  usage: [
    EXEC_USAGE,
    "/exec ls -la",
    "/exec timeout=60 -- make",
    phrase("usage.exec.show"),
    phrase("usage.exec.set"),
    phrase("usage.exec.explain"),
  ],
  options: [
    { name: "command", description: phrase("option.command") },
    { name: "host", description: phrase("option.host"), choices: ["auto", "sandbox", "gateway", "node"] },
    { name: "security", description: phrase("option.security"), choices: ["deny", "allowlist", "full"] },
    { name: "ask", description: phrase("option.ask"), choices: ["off", "on-miss", "always"] },
    { name: "node", description: phrase("option.node") },
    { name: "timeout", description: phrase("option.timeout") },
    { name: "workdir", description: phrase("option.workdir") },
  ],
  rank: "authorized",
  async run(context) {
    const { args, services, reply, sessionKey } = context;
    const parsed = parseExecText(args);
    switch (parsed.kind) {
      case "error":
        await reply({ kind: "text", tone: "warning", text: parsed.message }, { private: true });
        return;
      case "choose": {
        const { option, at } = parsed;
        const values = option === "node" ? services.nodes() : parsed.values;
        if (values.length === 0) {
          await reply({ kind: "text", tone: "warning", text: phrase("exec.option.node") }, { private: true });
          return;
        }
        await context.offer({
          title: phrase("exec.which", { option }),
          form: `/exec ${option}=${option === "node" ? "<node>" : values.join("|")}`,
          choices: values.map((value) => ({ label: value, args: args.slice(0, at) + value + args.slice(at) })),
        });
        return;
      }
      case "explain":
        await reply(await services.explain(parsed.command, context), { private: true });
        return;
      case "set": {
        const { forMs, host, security, ask, node } = parsed.options;
        const change = {
          ...(host ? { host } : {}),
          ...(security ? { security } : {}),
          ...(ask ? { ask } : {}),
          ...(node ? { node } : {}),
        };
        const loosening = await services.loosening(change, context);
        // Whoever may run commands may tighten; to open what the configuration keeps closed is an owner's (channels.md 2.4).
        if (loosening && !atLeast(context.rank, "owner")) {
          throw new ExecError("not-authorized", phrase("error.exec.loosen", loosening));
        }
        await services.sessions.set(sessionKey, change, forMs);
        if (loosening) {
          await services.policyChanged({
            id: context.eventId,
            actor: context.actor,
            source: "/exec",
            changes: [{ key: sessionKey, ...loosening }],
          });
        }
        await reply(
          {
            kind: "text",
            tone: "success",
            title: phrase("exec.set"),
            fields: [...(await services.policy(context))],
            hint: phrase("exec.set.hint"),
          },
          { private: true },
        );
        return;
      }
      case "show":
        await reply(
          {
            kind: "text",
            tone: "info",
            title: phrase("exec.show"),
            fields: [...(await services.policy(context))],
            hint: phrase("exec.show.hint"),
          },
          { private: true },
        );
        return;
      case "run":
        await services.exec.begin(
          { command: parsed.command, ...callArguments(parsed.options) },
          {
            requestId: context.eventId,
            agentId: context.agentId,
            sessionKey,
            actor: context.actor,
            route: context.route,
            fromChannel: true,
          },
        );
    }
  },
};

/** `/bash cmd` and `!cmd` (decisions.md D5): everything is the command. */
export const bash: CommandDefinition = {
  name: "bash",
  summary: phrase("command.bash"),
  usage: ["/bash <command>", "!<command>"],
  options: [{ name: "command", description: phrase("option.command"), required: true }],
  rank: "authorized",
  async run(context) {
    if (!context.services.bashEnabled()) {
      await context.reply({ kind: "text", tone: "warning", text: phrase("bash.off") }, { private: true });
      return;
    }
    await context.services.exec.begin(
      { command: context.args },
      {
        requestId: context.eventId,
        agentId: context.agentId,
        sessionKey: context.sessionKey,
        actor: context.actor,
        route: context.route,
        fromChannel: true,
        cardAfterMs: context.services.bashForegroundMs(),
      },
    );
  },
};

/** Options given with a command hold for this call. `security` is a session default only (seed 000). */
function callArguments({ host, ask, node, timeout, workdir, pty, background, yieldMs }: ExecOptions) {
  return {
    ...(host ? { host } : {}),
    ...(ask ? { ask } : {}),
    ...(node ? { node } : {}),
    ...(timeout !== undefined ? { timeout } : {}),
    ...(workdir !== undefined ? { workdir } : {}),
    ...(pty !== undefined ? { pty } : {}),
    ...(background !== undefined ? { background } : {}),
    ...(yieldMs !== undefined ? { yieldMs } : {}),
  };
}
