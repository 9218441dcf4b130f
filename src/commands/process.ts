import { formatDuration } from "../core/duration.ts";
import { PROCESS_ACTIONS as ACTIONS, type ProcessAction as Action } from "../core/exec/process-tool.ts";
import { cutMiddle } from "../core/process/command-name.ts";
import type { SessionStatus } from "../core/process/session-status.ts";
import { type Phrase, phrase, type Wording } from "../core/words/phrase.ts";
import type { CommandDefinition } from "./command.ts";

/** Of a command in a list. */
const LISTED_COMMAND_CHARS = 120;
/** A second time would be a second line. */
const INPUTS: ReadonlySet<Action> = new Set(["write", "send-keys", "submit", "paste"]);

export const process: CommandDefinition = {
  name: "process",
  aliases: ["ps"],
  summary: phrase("command.process"),
  usage: [
    "/process",
    "/process log <session> [offset=0] [limit=200] [share=true]",
    "/process poll <session>",
    "/process write <session> <text>",
    "/process send-keys <session> C-c Enter",
    "/process resize <session> 100x40",
    "/process kill <session>",
  ],
  options: [
    { name: "action", description: phrase("option.action"), choices: ACTIONS },
    { name: "session", description: phrase("option.process.session") },
    { name: "data", description: phrase("option.process.data") },
    { name: "offset", description: phrase("option.process.offset") },
    { name: "limit", description: phrase("option.process.limit") },
    { name: "share", description: phrase("option.process.share"), choices: ["true"] },
  ],
  rank: "authorized",
  async run({ args, agentId, services, reply, beginsOnce }) {
    const { text: typed, isShared } = withoutShare(args);
    const parsed = parseProcessText(typed);
    if ("error" in parsed) {
      await reply({ kind: "text", tone: "warning", text: parsed.error }, { private: true });
      return;
    }
    if (INPUTS.has(parsed.call.action) && !(await beginsOnce())) {
      await reply(
        {
          kind: "text",
          tone: "warning",
          text: phrase("process.cutOff"),
          hint: phrase("process.cutOff.hint", { form: `/process log ${String(parsed.call.sessionId)}` }),
        },
        { private: true },
      );
      return;
    }
    const result = await services.process(parsed.call, agentId);
    const text = result.said ?? result.content.map((part) => part.text).join("\n");
    const failed = (result.details as { status?: string }).status === "failed";
    const rows = parsed.call.action === "list" ? ((result.details.sessions ?? []) as readonly SessionRow[]) : [];
    if (rows.length > 0) {
      await reply(
        { kind: "text", tone: "info", title: phrase("process.title"), fields: rows.map(fieldOf) },
        { private: !isShared },
      );
      return;
    }
    const listing = parsed.call.action === "log" || parsed.call.action === "poll";
    await reply(
      listing && !failed
        ? { kind: "text", tone: "info", code: text }
        : { kind: "text", tone: failed ? "error" : "info", text },
      { private: !isShared },
    );
  },
};

/** What the process tool says of one session. */
interface SessionRow {
  readonly sessionId: string;
  readonly status: SessionStatus;
  readonly runtimeMs: number;
  readonly command: string;
  readonly name?: string;
  readonly waitingForInput?: boolean;
  readonly exitReason?: string;
  /** Of another gateway. */
  readonly gatewayId?: string;
}

function fieldOf(row: SessionRow): { readonly label: string; readonly value: Wording; readonly note: Wording } {
  const told = { status: phrase(`process.status.${row.status}`), time: formatDuration(row.runtimeMs) };
  const command = cutMiddle((row.name || row.command).replace(/\s+/g, " ").trim(), LISTED_COMMAND_CHARS);
  return {
    label: row.sessionId,
    value:
      row.exitReason === "overall-timeout"
        ? phrase("process.row.timedOut", told)
        : phrase(row.waitingForInput ? "process.row.input" : "process.row", told),
    note: row.gatewayId === undefined ? command : phrase("process.row.gateway", { gateway: row.gatewayId, command }),
  };
}

type Call = { action: Action } & Record<string, unknown>;

const SHOWS = /^(list|log|poll)\b/i;
const SHARE = /(?:^|\s+)share[=:]true\s*$/i;

/** `share=true` at the end of what only shows something: everybody in the conversation sees it. */
export function withoutShare(args: string): { readonly text: string; readonly isShared: boolean } {
  const typed = args.trim();
  const isShared = SHARE.test(typed) && (SHOWS.test(typed) || SHARE.exec(typed)?.index === 0);
  return isShared ? { text: typed.replace(SHARE, ""), isShared } : { text: args, isShared };
}

/** `<action> [session] [rest]`; text for `write` and `paste` stays as typed. */
export function parseProcessText(args: string): { readonly call: Call } | { readonly error: Phrase } {
  const match = /^(\S+)?\s*(\S+)?\s*([\s\S]*)$/.exec(args.trim());
  const [, first = "list", sessionId, rest = ""] = match ?? [];
  const action = first.toLowerCase() as Action;
  if (!ACTIONS.includes(action)) {
    return { error: phrase("process.action", { action: first.slice(0, 32), actions: ACTIONS }) };
  }
  if (action === "list") return { call: { action } };
  if (!sessionId) return { error: phrase("process.session", { form: `/process ${action} <session>` }) };
  const call: Call = { action, sessionId };
  switch (action) {
    case "log":
      for (const token of rest.split(/\s+/).filter((part) => part !== "")) {
        const option = /^(offset|limit)[=:](\d+)$/.exec(token);
        if (!option) return { error: phrase("process.logOption", { option: token.slice(0, 32) }) };
        call[option[1] as string] = Number(option[2]);
      }
      break;
    case "write":
      if (rest === "") return { error: phrase("process.write") };
      call.data = `${rest}\n`;
      break;
    case "paste":
      if (rest === "") return { error: phrase("process.paste") };
      call.text = rest;
      break;
    case "send-keys": {
      const keys = rest.split(/\s+/).filter((key) => key !== "");
      if (keys.length === 0) return { error: phrase("process.keys") };
      call.keys = keys;
      break;
    }
    case "resize": {
      const size = /^(\d{1,5})\s*[x×\s]\s*(\d{1,5})$/i.exec(rest);
      if (!size) return { error: phrase("process.size") };
      call.cols = Number(size[1]);
      call.rows = Number(size[2]);
      break;
    }
    default:
      if (rest !== "") return { error: phrase("process.nothingElse", { action }) };
  }
  return { call };
}
