/**
 * The one decision function for all surfaces: who may talk, with what rank, and who may decide approvals. Reads the
 * configuration anew for each event, so a change counts from the next message on.
 */
import type { Clock } from "../clock.ts";
import type { Config } from "../config/schema.ts";
import type { Actor, ChannelId, Route } from "../route.ts";
import { phrase } from "../words/phrase.ts";
import type { Access, Admission, Knock } from "./access.ts";
import { BotBudget } from "./bot-budget.ts";
import { holdsToken, refuseSelfApproval } from "./operator.ts";
import type { Pairing, PairingRequest } from "./pairing.ts";
import { codeCard } from "./pairing-card.ts";
import { bareId, expandGroups, includesPerson, inLookedUpGroup, namesLookedUpGroup, ownersOf } from "./people.ts";
import { atLeast, type Rank } from "./rank.ts";
import { discordRoom, type RoomVerdict, slackRoom, telegramRoom } from "./rooms.ts";

export interface ChannelAccessOptions {
  readonly config: () => Config;
  readonly pairing: Pairing;
  readonly clock: Pick<Clock, "monotonic">;
  /** What `/activation` set for this conversation. */
  readonly activation?: (route: Route, actor: Actor) => Promise<Activation | undefined>;
  /** Told once per new request, so that owners hear of it. */
  readonly onPairingRequest: (request: PairingRequest) => Promise<void>;
}

/** When the bot answers in a room: only when it is addressed, or always. */
export type Activation = "mention" | "always";

type Platform = Exclude<ChannelId, "web">;

/** Answered in a direct message even to people nobody has let in: it shows them nothing but their own id. */
const OPEN_COMMANDS = new Set(["whoami", "id"]);
/** The answer to a request; whether this person may decide it is asked of the approvals. */
const isAnswer = (knock: Knock) => knock.kind === "press" || knock.command === "approve";
/** Telegram's own first command: repeats the code. */
const START = "start";

export function createChannelAccess(options: ChannelAccessOptions): Access {
  const { pairing } = options;
  const bots = new BotBudget();

  async function admit(knock: Knock): Promise<Admission> {
    const admission = await judge(knock);
    if (admission.kind !== "admit") return admission;
    if (knock.actor.kind !== "agent") bots.refill(knock.route);
    else if (!bots.take(knock.route, options.clock.monotonic())) {
      return { kind: "ignore", why: "other bots have used up this room's budget" };
    }
    return admission;
  }

  async function judge(knock: Knock): Promise<Admission> {
    const { actor, route } = knock;
    if (holdsToken(actor)) return { kind: "admit", rank: "owner" };
    if (actor.kind === "system" || route.channel === "web") return { kind: "ignore", why: "not a person of this chat" };
    const config = options.config();
    const account = accountOf(config, route);
    if (!account?.enabled) return { kind: "ignore", why: "this account is not configured" };
    // Their card may be where they could not talk otherwise: a direct message, or a chat of `approvals.exec.targets`.
    if (isAnswer(knock) && isApprover(config, actor)) return { kind: "admit", rank: rankOf(config, actor, route) };
    return isDirect(route) ? direct(config, knock, account) : room(config, knock);
  }

  async function direct(config: Config, knock: Knock, account: AnyAccount): Promise<Admission> {
    const { actor, route } = knock;
    if (route.chatType === "group" && !isGroupDmOpen(account, route)) return refuse(knock, "group messages are off");
    if (!account.dm.enabled || account.dmPolicy === "disabled") return refuse(knock, "direct messages are off");
    if (actor.kind === "agent" && !account.allowBots) return { kind: "ignore", why: "other bots are not answered" };
    if (await mayWrite(config, account, actor, route)) return { kind: "admit", rank: rankOf(config, actor, route) };
    if (knock.command && OPEN_COMMANDS.has(knock.command)) return { kind: "admit", rank: "unknown" };
    if (account.dmPolicy !== "pairing" || route.chatType !== "dm") return refuse(knock, "not on the list");
    const asked = await pairing.request(actor, route, knock.id);
    if (asked.kind === "full") return { kind: "ignore", why: "too many pairing requests are waiting" };
    if (asked.kind === "created") await options.onPairingRequest(asked.request);
    else if (knock.command !== START) return { kind: "ignore", why: "has been told the code already" };
    return { kind: "answer", card: codeCard(asked.request) };
  }

  async function mayWrite(config: Config, account: AnyAccount, actor: Actor, route: Route): Promise<boolean> {
    const channel = route.channel as Platform;
    if (ownersOf(config, channel).includes(actor.id)) return true;
    const listed = account.allowFrom.filter((entry) => account.dmPolicy === "open" || entry !== "*");
    if (includesPerson(config, channel, listed, actor)) return true;
    return account.dmPolicy === "pairing" && pairing.isPaired(channel, route.accountId, actor.id);
  }

  async function room(config: Config, knock: Knock): Promise<Admission> {
    const { actor, route } = knock;
    const verdict = roomVerdict(config, route, actor);
    const rank = rankOf(config, actor, route);
    if (verdict.kind === "closed") {
      // commands.useAccessGroups: false — a person known from direct messages may use commands in any room.
      const account = accountOf(config, route);
      const known = !config.commands.useAccessGroups && knock.command !== undefined && account !== undefined;
      if (known && (await mayWrite(config, account, actor, route))) return { kind: "admit", rank };
      return refuse(knock, verdict.why);
    }
    if (knock.kind !== "message") return { kind: "admit", rank };
    if (knock.command !== undefined && atLeast(rank, "authorized")) return { kind: "admit", rank };
    if (knock.mentionsOthers && verdict.ignoreOtherMentions)
      return { kind: "ignore", why: "somebody else is addressed" };
    if (knock.addressed || !(await needsMention(verdict, knock))) return { kind: "admit", rank };
    return { kind: "ignore", why: "not addressed" };
  }

  /** As {@link judge} has it, without asking anybody to let them in. */
  async function isLetIn(config: Config, actor: Actor, route: Route): Promise<boolean> {
    const account = accountOf(config, route);
    if (!account?.enabled || actor.kind === "system") return false;
    if (!isDirect(route)) {
      if (roomVerdict(config, route, actor).kind !== "closed") return true;
      return !config.commands.useAccessGroups && (await mayWrite(config, account, actor, route));
    }
    const isOpen = route.chatType === "dm" || isGroupDmOpen(account, route);
    if (!isOpen || !account.dm.enabled || account.dmPolicy === "disabled") return false;
    return mayWrite(config, account, actor, route);
  }

  async function needsMention(
    verdict: { readonly requireMention: boolean },
    { route, actor }: Knock,
  ): Promise<boolean> {
    const set = await options.activation?.(route, actor);
    return set === undefined ? verdict.requireMention : set === "mention";
  }

  return {
    admit,

    async rank(actor, route) {
      if (holdsToken(actor)) return "owner";
      const config = options.config();
      if (route && (await isLetIn(config, actor, route))) return rankOf(config, actor, route);
      // May answer a request wherever its card is, and nothing else.
      return isApprover(config, actor) ? "known" : "unknown";
    },

    async listens(actor, route) {
      if (holdsToken(actor)) return true;
      const config = options.config();
      const account = accountOf(config, route);
      if (!account?.enabled || actor.kind === "system") return false;
      if (!isDirect(route)) return roomVerdict(config, route, actor).kind === "open";
      const isOff = !account.dm.enabled || account.dmPolicy === "disabled";
      if (isOff || (route.chatType === "group" && !isGroupDmOpen(account, route))) return false;
      return (actor.kind !== "agent" || account.allowBots) && (await mayWrite(config, account, actor, route));
    },

    async mayDecide(actor, record) {
      const config = options.config();
      if (!holdsToken(actor) && !isApprover(config, actor)) {
        return phrase("error.approval.notYours");
      }
      return refuseSelfApproval(config, actor, record);
    },
  };
}

/** Native commands and buttons are shown to everybody by the platform, so they get an answer; text does not. */
function refuse(knock: Knock, why: string): Admission {
  if (knock.kind === "message") return { kind: "ignore", why };
  return {
    kind: "answer",
    card: { kind: "text", tone: "error", text: phrase("error.access.notHere") },
  };
}

type Accounts = NonNullable<
  Config["channels"]["slack"] | Config["channels"]["discord"] | Config["channels"]["telegram"]
>["accounts"];
type AnyAccount = Accounts[string];

export function accountOf(config: Config, route: Route): AnyAccount | undefined {
  return route.channel === "web" ? undefined : config.channels[route.channel]?.accounts[route.accountId];
}

/** Slack and Discord have direct messages with several people; Telegram's groups are rooms. */
function isDirect(route: Route): boolean {
  return route.chatType === "dm" || (route.chatType === "group" && route.channel !== "telegram");
}

function isGroupDmOpen(account: AnyAccount, route: Route): boolean {
  const { groupEnabled, groupChannels } = account.dm;
  return groupEnabled && (!groupChannels || groupChannels.includes(route.chatId));
}

function roomVerdict(config: Config, route: Route, actor: Actor): RoomVerdict {
  const { slack, discord, telegram } = config.channels;
  const none: RoomVerdict = { kind: "closed", why: "this account is not configured" };
  switch (route.channel) {
    case "web":
      return none;
    case "slack": {
      const account = slack?.accounts[route.accountId];
      return account ? slackRoom(config, account, route, actor) : none;
    }
    case "discord": {
      const account = discord?.accounts[route.accountId];
      return account ? discordRoom(config, account, route, actor) : none;
    }
    case "telegram": {
      const account = telegram?.accounts[route.accountId];
      return account ? telegramRoom(config, account, route, actor) : none;
    }
  }
}

/** Of somebody who has been let in. */
function rankOf(config: Config, actor: Actor, route: Route): Rank {
  if (route.channel === "web") return "unknown";
  if (ownersOf(config, route.channel).includes(actor.id)) return "owner";
  if (isApprover(config, actor)) return "approver";
  const { allowFrom } = config.commands;
  if (!allowFrom) return "authorized";
  const entries = [...(allowFrom[route.channel] ?? []), ...(allowFrom["*"] ?? [])];
  return includesPerson(config, route.channel, entries, actor) ? "authorized" : "known";
}

/** Who may decide on this account: the named approvers, else the channel's owners. Never `allowFrom`, never pairing. Members of groups that are looked up are not among them. */
export function approversOf(config: Config, channel: ChannelId, accountId: string): string[] {
  if (channel === "web") return [];
  const account = config.channels[channel]?.accounts[accountId];
  if (!account || account.execApprovals.enabled === false) return [];
  const named = account.execApprovals.approvers;
  if (!named) return ownersOf(config, channel);
  return expandGroups(config, channel, named)
    .map((entry) => bareId(channel, entry))
    .filter((id) => id !== "*");
}

function isApprover(config: Config, actor: Actor): boolean {
  if (actor.kind !== "person" || !isChannel(actor.channel)) return false;
  const { channel, accountId } = actor;
  if (approversOf(config, channel, accountId).includes(actor.id)) return true;
  return inLookedUpGroup(config, channel, namedApprovers(config, channel, accountId), actor);
}

function namedApprovers(config: Config, channel: ChannelId, accountId: string): readonly string[] {
  if (channel === "web") return [];
  const account = config.channels[channel]?.accounts[accountId];
  return account?.execApprovals.enabled === false ? [] : (account?.execApprovals.approvers ?? []);
}

/** Who may decide on this account as the configuration names them: ids, and groups that are looked up. */
export function approverNames(config: Config, channel: ChannelId, accountId: string): string[] {
  const groups = namedApprovers(config, channel, accountId).filter((one) => namesLookedUpGroup(config, channel, [one]));
  return [...approversOf(config, channel, accountId), ...groups];
}

/** Somebody may decide on this account whose id is not known before they press: a member of a group that is looked up. */
export function hasGroupOfApprovers(config: Config, channel: ChannelId, accountId: string): boolean {
  return namesLookedUpGroup(config, channel, namedApprovers(config, channel, accountId));
}

function isChannel(channel: Actor["channel"]): channel is ChannelId {
  return channel === "web" || channel === "slack" || channel === "discord" || channel === "telegram";
}
