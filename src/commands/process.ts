import { PROCESS_ACTIONS as ACTIONS, type ProcessAction as Action } from "../core/exec/process-tool.ts";
import type { CommandDefinition } from "./command.ts";

/** A second time would be a second line. */
const INPUTS: ReadonlySet<Action> = new Set(["write", "send-keys", "submit", "paste"]);

export const process: CommandDefinition = {
  name: "process",
  aliases: ["ps"],
  summary: "Look at background sessions: list, log, poll, write, kill and more.",
  usage: [
    "/process",
    "/process log <session> [offset=0] [limit=200]",
    "/process poll <session>",
    "/process write <session> <text>",
    "/process send-keys <session> C-c Enter",
    "/process resize <session> 100x40",
    "/process kill <session>",
  ],
  options: [
    { name: "action", description: "What to do (default list)", choices: ACTIONS },
    { name: "session", description: "The session's id, for example quiet-otter" },
    { name: "data", description: "Text to write or paste, key names, or a size such as 100x40" },
    { name: "offset", description: "First line of the log, from 0" },
    { name: "limit", description: "How many lines of the log" },
  ],
  rank: "authorized",
  async run({ args, agentId, services, reply, beginsOnce }) {
    const parsed = parseProcessText(args);
    if ("error" in parsed) {
      await reply({ kind: "text", tone: "warning", text: parsed.error }, { private: true });
      return;
    }
    if (INPUTS.has(parsed.call.action) && !(await beginsOnce())) {
      await reply(
        {
          kind: "text",
          tone: "warning",
          text: "The gateway was cut off while it passed this on, so the session may or may not have it. It is not sent twice.",
          hint: `/process log ${String(parsed.call.sessionId)} shows what came of it.`,
        },
        { private: true },
      );
      return;
    }
    const result = await services.process(parsed.call, agentId);
    const text = result.content.map((part) => part.text).join("\n");
    const failed = (result.details as { status?: string }).status === "failed";
    const listing = parsed.call.action === "log" || parsed.call.action === "poll" || parsed.call.action === "list";
    await reply(
      listing && !failed
        ? { kind: "text", tone: "info", code: text }
        : { kind: "text", tone: failed ? "error" : "info", text },
      { private: true },
    );
  },
};

type Call = { action: Action } & Record<string, unknown>;

/** `<action> [session] [rest]`; text for `write` and `paste` stays as typed. */
export function parseProcessText(args: string): { readonly call: Call } | { readonly error: string } {
  const match = /^(\S+)?\s*(\S+)?\s*([\s\S]*)$/.exec(args.trim());
  const [, first = "list", sessionId, rest = ""] = match ?? [];
  const action = first.toLowerCase() as Action;
  if (!ACTIONS.includes(action)) {
    return { error: `Unknown action "${first.slice(0, 32)}". Use one of: ${ACTIONS.join(", ")}.` };
  }
  if (action === "list") return { call: { action } };
  if (!sessionId) return { error: `Which session? /process ${action} <session>. /process shows them.` };
  const call: Call = { action, sessionId };
  switch (action) {
    case "log":
      for (const token of rest.split(/\s+/).filter((part) => part !== "")) {
        const option = /^(offset|limit)[=:](\d+)$/.exec(token);
        if (!option) return { error: `Unknown option "${token.slice(0, 32)}". The log takes offset=… and limit=….` };
        call[option[1] as string] = Number(option[2]);
      }
      break;
    case "write":
      if (rest === "") return { error: "What should be written? /process write <session> <text>" };
      call.data = `${rest}\n`;
      break;
    case "paste":
      if (rest === "") return { error: "What should be pasted? /process paste <session> <text>" };
      call.text = rest;
      break;
    case "send-keys": {
      const keys = rest.split(/\s+/).filter((key) => key !== "");
      if (keys.length === 0) return { error: "Which keys? For example: /process send-keys <session> C-c Enter" };
      call.keys = keys;
      break;
    }
    case "resize": {
      const size = /^(\d{1,5})\s*[x×\s]\s*(\d{1,5})$/i.exec(rest);
      if (!size) return { error: "Which size? Columns and rows, for example: /process resize <session> 100x40" };
      call.cols = Number(size[1]);
      call.rows = Number(size[2]);
      break;
    }
    default:
      if (rest !== "") return { error: `/process ${action} takes a session and nothing else.` };
  }
  return { call };
}
