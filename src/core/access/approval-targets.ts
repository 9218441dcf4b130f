/** Where an approval's card goes: `execApprovals` of the account that asked, and `approvals.exec` (channels.md section 5.1). Pure. */
import type { ApprovalRecord } from "../approvals/record.ts";
import type { Config } from "../config/schema.ts";
import type { Route } from "../route.ts";
import { accountOf, approversOf, hasGroupOfApprovers } from "./channel-access.ts";
import { bareId } from "./people.ts";

export interface ApprovalTargets {
  readonly cards: readonly Route[];
  /** The chat that asked, when it gets no card: it is told that the request waits. */
  readonly notice?: Route;
  /** Where the web chat is, when the card is there and `gateway.publicUrl` says so. */
  readonly link?: string;
}

/** `fallback`: where a request goes that nobody in its chat may decide, and one that comes from no chat. */
export function approvalTargets(config: Config, record: ApprovalRecord, fallback: Route): ApprovalTargets {
  const origin = record.request.route ?? fallback;
  const { exec } = config.approvals;
  const forwards = exec.enabled && fitsFilters(exec, record);
  const extra = forwards && exec.mode !== "session" ? exec.targets.map((target) => targetRoute(config, target)) : [];
  if (forwards && exec.mode === "targets" && extra.length > 0) return { cards: extra, notice: origin };
  if (origin.channel === "web") return { cards: [origin, ...extra] };
  const account = accountOf(config, origin);
  const approvers = approversOf(config, origin.channel, origin.accountId);
  const inDm = origin.chatType === "dm";
  // A card can be sent to whoever is known by id; members of a group that is looked up see it in the room alone.
  const inRoom =
    !inDm && account?.execApprovals.target !== "dm" && hasGroupOfApprovers(config, origin.channel, origin.accountId);
  if (!account || (approvers.length === 0 && !inRoom) || !fitsFilters(account.execApprovals, record)) {
    // Nobody here can decide it: the operator can, in the web chat; the asker sees that it waits.
    const link = fallback.channel === "web" ? config.gateway.publicUrl : undefined;
    return { cards: [fallback, ...extra], notice: origin, ...(link === undefined ? {} : { link }) };
  }
  const { target } = account.execApprovals;
  const isOwnDm = inDm && approvers.includes(record.request.requester.id);
  if (isOwnDm || (target === "channel" && !inDm)) return { cards: [origin, ...extra] };
  const direct = approvers.map((id) => directRoute(origin, id));
  // In somebody else's direct messages no approver would see the card, whatever the target says.
  const alsoHere = !inDm && (target === "both" || (forwards && exec.mode !== "targets"));
  return alsoHere ? { cards: [origin, ...direct, ...extra] } : { cards: [...direct, ...extra], notice: origin };
}

type Target = Config["approvals"]["exec"]["targets"][number];

function targetRoute(config: Config, target: Target): Route {
  const accountId = target.accountId ?? soleAccount(config, target.channel);
  const to = String(target.to);
  const person = isPerson(target.channel, to);
  return {
    channel: target.channel,
    accountId,
    chatType: person ? "dm" : "channel",
    chatId: person ? bareId(target.channel, to) : to,
    ...(target.threadId ? { threadId: String(target.threadId) } : {}),
  };
}

/** The account that is meant when none is named: `default`, or the only one there is. */
function soleAccount(config: Config, channel: Target["channel"]): string {
  const ids = channel === "web" ? [] : Object.keys(config.channels[channel]?.accounts ?? {});
  return ids.length === 1 ? (ids[0] as string) : "default";
}

/** `user:` before an id says so on every platform; Slack and Telegram ids also tell by themselves. */
function isPerson(channel: Target["channel"], to: string): boolean {
  if (/^user:/i.test(to)) return true;
  return channel === "slack" ? /^[UWD][A-Z0-9]+$/.test(to) : channel === "telegram" && /^\d+$/.test(to);
}

function directRoute({ channel, accountId }: Route, id: string): Route {
  return { channel, accountId, chatType: "dm", chatId: id };
}

/** An agent's id is exact; a session filter is a part of the key, or a regular expression between slashes. */
function fitsFilters(
  filters: { readonly agentFilter?: readonly string[]; readonly sessionFilter?: readonly string[] },
  { request }: ApprovalRecord,
): boolean {
  const agents = filters.agentFilter ?? [];
  const sessions = filters.sessionFilter ?? [];
  return (
    (agents.length === 0 || agents.includes(request.agentId)) &&
    (sessions.length === 0 || sessions.some((filter) => fitsSession(filter, request.sessionKey)))
  );
}

function fitsSession(filter: string, sessionKey: string): boolean {
  const expression = /^\/(.+)\/$/.exec(filter)?.[1];
  return expression === undefined ? sessionKey.includes(filter) : new RegExp(expression, "u").test(sessionKey);
}
