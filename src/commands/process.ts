import { formatDuration } from "../core/duration.ts";
import { PROCESS_ACTIONS as ACTIONS, type ProcessAction as Action } from "../core/exec/process-tool.ts";
import { cutMiddle } from "../core/process/command-name.ts";
import type { SessionStatus } from "../core/process/session-status.ts";
import { type Phrase, phrase, type Wording } from "../core/words/phrase.ts";
import type { CommandContext, CommandDefinition } from "./command.ts";

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
  async run(context) {
    const { args, agentId, services, reply, beginsOnce } = context;
    const { text: typed, isShared } = withoutShare(args);
    if (!isShared && (await offered(typed, context))) return;
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
        {
          kind: "text",
          tone: "info",
          title: phrase("process.title"),
          fields: rows.map((row) => fieldOf(row, services.mask)),
        },
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

/** A session nobody named, or what to do with one: what there is to choose from is offered. False: nothing is missing. */
async function offered(typed: string, { agentId, services, offer }: CommandContext): Promise<boolean> {
  const wanted = missingOf(typed);
  if (!wanted) return false;
  if (wanted.kind === "keys" || wanted.kind === "size") {
    const { sessionId, kind } = wanted;
    const [action, known, question] =
      kind === "keys"
        ? (["send-keys", COMMON_KEYS, "process.which.keys"] as const)
        : (["resize", COMMON_SIZES, "process.which.size"] as const);
    await offer({
      title: phrase(question, { session: sessionId }),
      form: `/process ${action} ${sessionId} ${kind === "keys" ? "<key> …" : "<columns>x<rows>"}`,
      choices: known.map((value) => ({ label: value, args: `${action} ${sessionId} ${value}` })),
    });
    return true;
  }
  const { details } = await services.process({ action: "list" }, agentId);
  const rows = (details.sessions ?? []) as readonly SessionRow[];
  switch (wanted.kind) {
    case "anything":
      if (rows.length === 0) return false;
      await offer({
        title: phrase("process.title"),
        fields: rows.map((row) => fieldOf(row, services.mask)),
        form: "/process <action> <session>",
        choices: rows.map(({ sessionId }) => ({ label: sessionId, args: sessionId })),
      });
      return true;
    case "session": {
      const fitting = rows.filter(({ status }) => fits(wanted.action, status));
      if (fitting.length === 0) return false;
      await offer({
        title: phrase("process.which", { action: wanted.action }),
        form: `/process ${wanted.action} <session>`,
        choices: fitting.map((row) => ({
          label: row.sessionId,
          detail: { lines: [row.name || row.command] },
          args: `${wanted.action} ${row.sessionId}`,
        })),
      });
      return true;
    }
    case "action": {
      const row = rows.find(({ sessionId }) => sessionId === wanted.sessionId);
      if (!row) return false;
      await offer({
        title: phrase("process.what", { session: row.sessionId }),
        fields: [fieldOf(row, services.mask)],
        form: `/process <action> ${row.sessionId}`,
        choices: OFFERED_ACTIONS.filter((action) => fits(action, row.status)).map((action) => ({
          label: action,
          args: `${action} ${row.sessionId}`,
          ...(action === "kill" ? { style: "danger" as const } : {}),
        })),
      });
      return true;
    }
  }
}

type Missing =
  | { readonly kind: "anything" }
  | { readonly kind: "session"; readonly action: Action }
  | { readonly kind: "action"; readonly sessionId: string }
  | { readonly kind: "keys" | "size"; readonly sessionId: string };

function missingOf(typed: string): Missing | undefined {
  const [first, sessionId, ...more] = typed.split(/\s+/).filter((word) => word !== "");
  if (first === undefined) return { kind: "anything" };
  if (more.length > 0) return undefined;
  const action = ACTIONS.find((one) => one === first.toLowerCase());
  if (action === undefined) return sessionId === undefined ? { kind: "action", sessionId: first } : undefined;
  if (action === "list") return undefined;
  if (sessionId === undefined) return { kind: "session", action };
  if (action === "send-keys") return { kind: "keys", sessionId };
  return action === "resize" ? { kind: "size", sessionId } : undefined;
}

/** What a press can do without more words; the first ones are asked for most. */
const OFFERED_ACTIONS = ["log", "poll", "kill", "send-keys", "resize", "clear"] as const satisfies Action[];
const COMMON_KEYS = ["Enter", "C-c", "C-d", "C-z", "Escape", "Tab", "Up", "Down", "y Enter", "n Enter"] as const;
const COMMON_SIZES = ["80x24", "100x30", "120x40", "160x50"] as const;

/** Only what runs takes input; only what has ended is cleared away. */
function fits(action: Action, status: SessionStatus): boolean {
  const isOpen = status === "running" || status === "queued";
  if (action === "clear") return !isOpen;
  return action === "kill" || action === "resize" || INPUTS.has(action) ? isOpen : true;
}

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

function fieldOf(
  row: SessionRow,
  mask: (text: string) => string,
): { readonly label: string; readonly value: Wording; readonly note: Wording } {
  const told = { status: phrase(`process.status.${row.status}`), time: formatDuration(row.runtimeMs) };
  const command = cutMiddle(
    mask(row.name || row.command)
      .replace(/\s+/g, " ")
      .trim(),
    LISTED_COMMAND_CHARS,
  );
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
