import type { CommandDefinition } from "./command.ts";
import { EXEC_USAGE, type ExecOptions, parseExecText } from "./exec-text.ts";

export const exec: CommandDefinition = {
  name: "exec",
  summary: "Run a command, or show and set how commands run in this conversation.",
  usage: [
    EXEC_USAGE,
    "/exec ls -la",
    "/exec timeout=60 -- make",
    "/exec                        (show what holds here)",
    "/exec ask=always for=30m     (set it for this conversation)",
    "/exec explain <command>      (what would the policy say?)",
  ],
  options: [
    { name: "command", description: "The command to run, exactly as typed" },
    { name: "host", description: "Where to run", choices: ["auto", "sandbox", "gateway", "node"] },
    { name: "security", description: "Session default", choices: ["deny", "allowlist", "full"] },
    { name: "ask", description: "Session default", choices: ["off", "on-miss", "always"] },
    { name: "node", description: "Id or name of a paired node" },
    { name: "timeout", description: "Seconds, 0 for no limit" },
    { name: "workdir", description: "Existing directory" },
  ],
  rank: "authorized",
  async run(context) {
    const { args, services, reply, sessionKey } = context;
    const parsed = parseExecText(args);
    switch (parsed.kind) {
      case "error":
        await reply({ kind: "text", tone: "warning", text: parsed.message }, { private: true });
        return;
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
        await services.sessions.set(sessionKey, change, forMs);
        await reply(
          {
            kind: "text",
            tone: "success",
            title: "Set for this conversation",
            fields: [...(await services.policy(context))],
            hint: "Where a stricter layer holds, it wins. /exec shows what holds.",
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
            title: "How commands run in this conversation",
            fields: [...(await services.policy(context))],
            hint: "Run one: /exec ls -la",
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
  summary: "Run the rest of the line as a command; the same as !command.",
  usage: ["/bash <command>", "!<command>"],
  options: [{ name: "command", description: "The command to run, exactly as typed", required: true }],
  rank: "authorized",
  async run(context) {
    if (!context.services.bashEnabled()) {
      await context.reply(
        { kind: "text", tone: "warning", text: "/bash is off here (commands.bash). Use /exec <command>." },
        { private: true },
      );
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
