import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Knock } from "../../../src/core/access/access.ts";
import { BOT_MESSAGES, BOT_WINDOW_MS } from "../../../src/core/access/bot-budget.ts";
import { createChannelAccess } from "../../../src/core/access/channel-access.ts";
import { createPairing, type Pairing, type PairingRequest } from "../../../src/core/access/pairing.ts";
import type { ApprovalRecord } from "../../../src/core/approvals/record.ts";
import { type Config, configSchema } from "../../../src/core/config/schema.ts";
import type { Actor, ChannelId, Route } from "../../../src/core/route.ts";
import { inEnglish } from "../../../src/core/words/phrase.ts";
import { type ManualClock, manualClock, openTestState, type TestState } from "../../support/state.ts";

type Platform = Exclude<ChannelId, "web">;
/** One person and one room per platform, with ids as the platform writes them. */
const IDS = {
  slack: { me: "U111", other: "U222", room: "C100", topic: "1700000000.000100" },
  discord: { me: "111111111111111111", other: "222222222222222222", room: "300000000000000000", topic: "" },
  telegram: { me: "111", other: "222", room: "-1001234567890", topic: "7" },
} as const;
const PLATFORMS: readonly Platform[] = ["slack", "discord", "telegram"];

const person = (channel: Platform, id: string, more: Partial<Actor> = {}): Actor => ({
  kind: "person",
  channel,
  accountId: "default",
  id,
  ...more,
});
const dm = (channel: Platform, id: string): Route => ({ channel, accountId: "default", chatType: "dm", chatId: id });
const room = (channel: Platform): Route => ({
  channel,
  accountId: "default",
  chatType: channel === "telegram" ? "group" : "channel",
  chatId: IDS[channel].room,
  ...(channel === "discord" ? { scopeId: "900000000000000000" } : {}),
});
const configure = (channel: Platform, account: object, more: object = {}): Config =>
  configSchema.parse({ channels: { [channel]: account }, ...more }) as Config;
const listRoom = (channel: Platform, rules: object = {}): object => {
  switch (channel) {
    case "slack":
      return { channels: { [IDS.slack.room]: rules } };
    case "discord":
      return { guilds: { "900000000000000000": { channels: { [IDS.discord.room]: rules } } } };
    case "telegram":
      return { groups: { [IDS.telegram.room]: rules }, groupAllowFrom: [IDS.telegram.me] };
  }
};

/** A group whose members this platform knows. */
const lookedUp = (channel: "slack" | "discord"): object =>
  channel === "slack"
    ? { type: "slack.usergroup", usergroup: "S0OPSTEAM" }
    : { type: "discord.channelAudience", channel: "300000000000000001" };

const OWNER: Actor = { kind: "person", channel: "web", accountId: "default", id: "operator" };

let clock: ManualClock;
let state: TestState;
let pairing: Pairing;
let told: PairingRequest[];
let config: Config;
let activation: "mention" | "always" | undefined;

beforeEach(async () => {
  clock = manualClock();
  state = await openTestState(clock);
  pairing = createPairing({
    ...{ store: state.store, queue: state.queue, clock },
    newId: () => crypto.randomUUID(),
    askers: () => [],
    onDecided: async () => {},
  });
  told = [];
  activation = undefined;
});
afterEach(() => state.dispose());

const access = () =>
  createChannelAccess({
    config: () => config,
    pairing,
    clock,
    activation: async () => activation,
    onPairingRequest: async (request) => {
      told.push(request);
    },
  });

async function verdict(knock: Partial<Knock> & Pick<Knock, "actor" | "route">): Promise<string> {
  const asked = told.length;
  const listens = await access().listens(knock.actor, knock.route);
  expect(told).toHaveLength(asked);
  const admission = await access().admit({ kind: "message", addressed: true, ...knock });
  // Words that are meant for the bot: nothing else decides about them than who speaks where.
  if (knock.command === undefined && knock.addressed !== false && !knock.mentionsOthers && knock.kind !== "press")
    expect(listens).toBe(admission.kind === "admit");
  return admission.kind === "admit" ? admission.rank : admission.kind;
}

/**
 * The golden table: who is let in to direct messages, by policy (rows), list (columns) and pairing. `-` is a configuration
 * that does not load, `a` authorized, `c` a pairing code and nothing else, `.` silence.
 */
const DIRECT = [
  "dmPolicy   | none        | me          | other       | *          ",
  "           | new  paired | new  paired | new  paired | new  paired",
  "pairing    | c    a      | a    a      | c    a      | c    a     ",
  "allowlist  | -    -      | a    a      | .    .      | .    .     ",
  "open       | -    -      | -    -      | -    -      | a    a     ",
  "disabled   | .    .      | .    .      | .    .      | .    .     ",
];
/** Rooms by policy, whether the room is listed, and what is said in it: `n` nothing for the bot, `m` it is mentioned, `c` a command. */
const ROOMS = [
  "groupPolicy | listed | mention needed | mention not needed",
  "            |        | n m c          | n m c             ",
  "allowlist   | yes    | . a a          | a a a             ",
  "allowlist   | no     | . . .          | . . .             ",
  "allowlist   | off    | . . .          | . . .             ",
  "open        | yes    | . a a          | a a a             ",
  "open        | no     | . a a          | a a a             ",
  "open        | off    | . . .          | . . .             ",
  "disabled    | yes    | . . .          | . . .             ",
  "disabled    | no     | . . .          | . . .             ",
];
const cells = (row: string | undefined) => (row ?? "").split("|").map((cell) => cell.trim());
const LETTER: Readonly<Record<string, string>> = { authorized: "a", answer: "c", ignore: "." };

describe.each(PLATFORMS)("the golden table on %s", (channel) => {
  const { me, other } = IDS[channel];

  it.each(DIRECT.slice(2).map((row) => [row]))("direct messages: %s", async (row) => {
    const [policy, ...expected] = cells(row);
    const lists = cells(DIRECT[0]).slice(1);
    const seen = [];
    for (const list of lists) {
      const allowFrom = { none: [], me: [me], other: [other], "*": ["*"] }[list];
      const parsed = configSchema.safeParse({ channels: { [channel]: { dmPolicy: policy, allowFrom } } });
      const letters = [];
      for (const paired of [false, true]) {
        if (!parsed.success) {
          letters.push("-");
          continue;
        }
        config = parsed.data as Config;
        const asked = await pairing.request(person(channel, me), dm(channel, me));
        if (asked.kind === "full") throw new Error("full");
        if (paired) await pairing.decide(asked.request.code, "approve", OWNER);
        else await pairing.decide(asked.request.code, "dismiss", OWNER);
        letters.push(LETTER[await verdict({ actor: person(channel, me), route: dm(channel, me) })]);
        for (const request of await pairing.list()) await pairing.decide(request.code, "dismiss", OWNER);
        await pairing.revoke(channel, "default", me);
      }
      seen.push(letters.join("    "));
    }
    expect(seen).toEqual(expected);
  });

  it.each(ROOMS.slice(2).map((row) => [row]))("rooms: %s", async (row) => {
    const [groupPolicy, listed, ...expected] = cells(row);
    const seen = [];
    for (const requireMention of [true, false]) {
      const rules = { ...(listed === "off" ? { enabled: false } : {}), requireMention };
      const rooms = listed === "no" ? {} : listRoom(channel, rules);
      config = configure(channel, { groupPolicy, requireMention, allowFrom: [me], ...rooms });
      const letters = [];
      for (const said of [{ addressed: false }, { addressed: true }, { addressed: false, command: "exec" }]) {
        letters.push(LETTER[await verdict({ actor: person(channel, me), route: room(channel), ...said })]);
      }
      seen.push(letters.join(" "));
    }
    expect(seen).toEqual(expected);
  });
});

describe.each(PLATFORMS)("who may write to the bot directly on %s", (channel) => {
  const { me, other } = IDS[channel];
  const asMe = { actor: person(channel, me), route: dm(channel, me) };

  it.each<[string, object, object, string]>([
    ["no account", {}, { channels: {} }, "ignore"],
    ["switched off", { enabled: false, allowFrom: [me] }, {}, "ignore"],
    ["disabled", { dmPolicy: "disabled", allowFrom: [me] }, {}, "ignore"],
    ["dm.enabled false", { dm: { enabled: false }, allowFrom: [me] }, {}, "ignore"],
    ["allowlist, listed", { dmPolicy: "allowlist", allowFrom: [me] }, {}, "authorized"],
    ["allowlist, listed with prefix", { dmPolicy: "allowlist", allowFrom: [`${channel}:${me}`] }, {}, "authorized"],
    ["allowlist, somebody else", { dmPolicy: "allowlist", allowFrom: [other] }, {}, "ignore"],
    ["open to all", { dmPolicy: "open", allowFrom: ["*"] }, {}, "authorized"],
    ["a star means nothing but with open", { dmPolicy: "pairing", allowFrom: ["*"] }, {}, "answer"],
    ["pairing, unknown", {}, {}, "answer"],
    ["pairing, listed", { allowFrom: [me] }, {}, "authorized"],
    [
      "owner",
      { dmPolicy: "allowlist", allowFrom: [other] },
      { commands: { ownerAllowFrom: [`${channel}:${me}`] } },
      "owner",
    ],
    [
      "a group of people",
      { dmPolicy: "allowlist", allowFrom: ["accessGroup:ops"] },
      { accessGroups: { ops: { type: "message.senders", members: { [channel]: [me] } } } },
      "authorized",
    ],
    [
      "the same id on another platform",
      { dmPolicy: "allowlist", allowFrom: ["accessGroup:ops"] },
      { accessGroups: { ops: { type: "message.senders", members: { web: [me] } } } },
      "ignore",
    ],
    [
      "a group that is looked up, of another platform",
      { dmPolicy: "allowlist", allowFrom: ["accessGroup:ops"] },
      { accessGroups: { ops: lookedUp(channel === "slack" ? "discord" : "slack") } },
      "ignore",
    ],
    ["approver", { allowFrom: [me], execApprovals: { approvers: [me] } }, {}, "approver"],
    ["may talk but not command", { allowFrom: [me] }, { commands: { allowFrom: { [channel]: [other] } } }, "known"],
    ["may command by the common list", { allowFrom: [me] }, { commands: { allowFrom: { "*": [me] } } }, "authorized"],
  ])("%s", async (_name, account, more, expected) => {
    config = "channels" in more ? (configSchema.parse(more) as Config) : configure(channel, account, more);
    expect(await verdict(asMe)).toBe(expected);
  });

  it("secondary: an agent or a system is never admitted as a person", async () => {
    config = configure(channel, { allowFrom: [me] });
    expect(await verdict({ ...asMe, actor: person(channel, me, { kind: "system" }) })).toBe("ignore");
    expect(await verdict({ ...asMe, actor: person(channel, me, { kind: "agent" }) })).toBe("ignore");
  });

  it("shows an unpaired person only who they are", async () => {
    config = configure(channel, {});
    expect(await verdict({ ...asMe, command: "whoami" })).toBe("unknown");
    expect(await verdict({ ...asMe, command: "exec" })).toBe("answer");
  });
});

describe.each(PLATFORMS)("rooms on %s", (channel) => {
  const { me, other } = IDS[channel];
  const here = { actor: person(channel, me), route: room(channel) };

  it.each<[string, object, Partial<Knock>, string]>([
    ["not listed", {}, {}, "ignore"],
    ["not listed, native command", {}, { kind: "command", command: "exec" }, "answer"],
    ["listed, addressed", listRoom(channel), {}, "authorized"],
    ["listed, not addressed", listRoom(channel), { addressed: false }, "ignore"],
    ["listed, not addressed, a command", listRoom(channel), { addressed: false, command: "exec" }, "authorized"],
    ["no mention needed", listRoom(channel, { requireMention: false }), { addressed: false }, "authorized"],
    ["room switched off", listRoom(channel, { enabled: false }), {}, "ignore"],
    ["groupPolicy disabled", { ...listRoom(channel), groupPolicy: "disabled" }, {}, "ignore"],
    [
      "not one of the room's people",
      listRoom(channel, channel === "telegram" ? { allowFrom: [other] } : { users: [other] }),
      {},
      "ignore",
    ],
  ])("%s", async (_name, account, knock, expected) => {
    config = configure(channel, account);
    expect(await verdict({ ...here, ...knock })).toBe(expected);
  });

  it.each<[string, object, Partial<Knock>, string]>([
    [
      "others are mentioned, the bot is not",
      { requireMention: false },
      { addressed: false, mentionsOthers: true },
      "authorized",
    ],
    [
      "the same where ignoreOtherMentions holds",
      { requireMention: false, ignoreOtherMentions: true },
      { addressed: false, mentionsOthers: true },
      "ignore",
    ],
    ["in a thread with the bot", { ignoreOtherMentions: true }, { addressed: true, mentionsOthers: true }, "ignore"],
    ["nobody else is mentioned", { ignoreOtherMentions: true }, { addressed: true }, "authorized"],
    [
      "a command is for the bot",
      { ignoreOtherMentions: true },
      { command: "exec", mentionsOthers: true },
      "authorized",
    ],
  ])("ignoreOtherMentions: %s", async (_name, rules, knock, expected) => {
    config = configure(channel, listRoom(channel, rules));
    expect(await verdict({ ...here, ...knock })).toBe(expected);
  });

  it("/activation goes before requireMention, for mentions only", async () => {
    const unaddressed = { ...here, addressed: false };
    for (const [requireMention, set, expected] of [
      [true, "always", "authorized"],
      [true, "mention", "ignore"],
      [false, "mention", "ignore"],
      [false, undefined, "authorized"],
    ] as const) {
      config = configure(channel, listRoom(channel, { requireMention }));
      activation = set;
      expect(await verdict(unaddressed)).toBe(expected);
    }
    config = configure(channel, {});
    activation = "always";
    expect(await verdict(here)).toBe("ignore");
  });

  it("bot-loop-and-self: where other bots are answered, they have a budget that people refill", async () => {
    config = configure(channel, { ...listRoom(channel), allowBots: true });
    const gate = access();
    const says = (kind: "agent" | "person") =>
      gate.admit({ kind: "message", addressed: true, actor: person(channel, me, { kind }), route: room(channel) });
    for (let turn = 0; turn < BOT_MESSAGES; turn++) expect((await says("agent")).kind).toBe("admit");
    expect((await says("agent")).kind).toBe("ignore");
    expect((await says("person")).kind).toBe("admit");
    expect((await says("agent")).kind).toBe("admit");
    for (let turn = 0; turn < BOT_MESSAGES; turn++) await says("agent");
    clock.advance(BOT_WINDOW_MS);
    expect((await says("agent")).kind).toBe("admit");
  });

  it("pairing opens no room", async () => {
    config = configure(channel, {});
    const asked = await pairing.request(person(channel, me), dm(channel, me));
    if (asked.kind === "full") throw new Error("full");
    await pairing.decide(asked.request.code, "approve", OWNER);
    expect(await verdict({ actor: person(channel, me), route: dm(channel, me) })).toBe("authorized");
    expect(await verdict(here)).toBe("ignore");
  });

  it("without access groups a known person may use commands in any room, nobody else may", async () => {
    config = configure(channel, { allowFrom: [me] }, { commands: { useAccessGroups: false } });
    expect(await verdict({ ...here, command: "exec" })).toBe("authorized");
    expect(await verdict({ ...here, actor: person(channel, other), command: "exec" })).toBe("ignore");
    expect(await verdict(here)).toBe("ignore");
  });
});

/** Who is not found in the group that a list names, and who is. */
const LOOKED_UP = [
  "list                 | not    | found     ",
  "allowFrom            | ignore | authorized",
  "rooms                | ignore | authorized",
  "commands.allowFrom   | known  | authorized",
  "approvers            | known  | approver",
];

describe.each(["slack", "discord"] as const)("the golden table of groups that %s keeps", (channel) => {
  const { me } = IDS[channel];
  const group = "accessGroup:ops";
  const accessGroups = { ops: lookedUp(channel) };
  const setups: Readonly<Record<string, () => void>> = {
    allowFrom: () => {
      config = configure(channel, { dmPolicy: "allowlist", allowFrom: [group] }, { accessGroups });
    },
    rooms: () => {
      config = configure(channel, { ...listRoom(channel, { users: [group] }) }, { accessGroups });
    },
    "commands.allowFrom": () => {
      config = configure(
        channel,
        { allowFrom: [me] },
        { accessGroups, commands: { allowFrom: { [channel]: [group] } } },
      );
    },
    approvers: () => {
      const account = { allowFrom: [me], execApprovals: { approvers: [group] } };
      config = configure(channel, account, { accessGroups, commands: { allowFrom: {} } });
    },
  };

  it.each(LOOKED_UP.slice(1).map((row) => cells(row)))("%s: not in it %s, in it %s", async (list, out, into) => {
    setups[list as string]?.();
    const route = list === "rooms" ? room(channel) : dm(channel, me);
    const seen = [];
    for (const groups of [undefined, [], ["other"], ["ops"]]) {
      seen.push(await verdict({ actor: person(channel, me, groups ? { groups } : {}), route }));
    }
    expect(seen).toEqual([out, out, out, into]);
  });

  it("a group that has become a list of people, or is gone, is not opened by what was found before", async () => {
    const groups = ["ops"];
    const asked = { actor: person(channel, me, { groups }), route: dm(channel, me) };
    for (const now of [{}, { ops: { type: "message.senders", members: {} } }]) {
      config = configure(channel, { dmPolicy: "allowlist", allowFrom: [group] }, { accessGroups: now });
      expect(await verdict(asked)).toBe("ignore");
    }
  });
});

describe("pairing", () => {
  const stranger = (id: string) => ({ actor: person("telegram", id), route: dm("telegram", id) });

  beforeEach(() => {
    config = configure("telegram", {});
  });

  it("answers once, tells the owners once, and /start repeats the same code", async () => {
    const first = await access().admit({ kind: "message", addressed: true, ...stranger("5") });
    if (first.kind !== "answer" || first.card.kind !== "text") throw new Error(first.kind);
    expect(first.card.code).toMatch(/^[A-HJ-NP-Z2-9]{8}$/);
    expect(await verdict(stranger("5"))).toBe("ignore");
    const again = await access().admit({ kind: "message", addressed: true, command: "start", ...stranger("5") });
    expect(again).toEqual(first);
    expect(told).toHaveLength(1);
  });

  it("keeps at most three waiting, and a place comes free after an hour", async () => {
    for (const id of ["1", "2", "3"]) expect(await verdict(stranger(id))).toBe("answer");
    expect(await verdict(stranger("4"))).toBe("ignore");
    clock.advance(3_600_000);
    expect(await verdict(stranger("4"))).toBe("answer");
  });

  it("takes a code typed with blanks and small letters, once", async () => {
    await verdict(stranger("5"));
    const [request] = await pairing.list("telegram");
    const code = request?.code ?? "";
    const approved = await pairing.decide(` ${code.slice(0, 4).toLowerCase()}-${code.slice(4)} `, "approve", OWNER);
    expect(approved).toMatchObject({ applied: true, request: { actor: { id: "5" } } });
    expect(await verdict(stranger("5"))).toBe("authorized");
    expect(await pairing.decide(code, "approve", OWNER)).toMatchObject({ applied: false });
    await expect(pairing.decide(code, "dismiss", OWNER)).rejects.toMatchObject({ code: "approval-already-decided" });
  });

  it("closes approving after five wrong codes", async () => {
    await verdict(stranger("5"));
    const [request] = await pairing.list();
    for (let index = 0; index < 5; index++) {
      await expect(pairing.decide("WRONG234", "approve", OWNER)).rejects.toMatchObject({ code: "not-found" });
    }
    await expect(pairing.decide(request?.code ?? "", "approve", OWNER)).rejects.toMatchObject({ code: "rate-limited" });
    clock.advance(10 * 60_000);
    await expect(pairing.decide(request?.code ?? "", "approve", OWNER)).resolves.toMatchObject({
      request: { actor: { id: "5" } },
    });
  });

  it("revoking closes the door again", async () => {
    await verdict(stranger("5"));
    const [request] = await pairing.list();
    await pairing.decide(request?.code ?? "", "approve", OWNER);
    expect(await pairing.revoke("telegram", "default", "5")).toBe(true);
    expect(await verdict(stranger("5"))).toBe("answer");
  });
});

describe("who may decide, and where the card goes", () => {
  const operator: Actor = { kind: "person", channel: "web", accountId: "default", id: "operator" };
  const record = (requester: Actor, route: Route): ApprovalRecord =>
    ({ request: { requester, route, agentId: "main", sessionKey: "agent:main:x" } }) as unknown as ApprovalRecord;
  const guest = person("slack", "U222");
  const asked = record(guest, room("slack"));

  it("agent-approves-itself: only named approvers and owners may, whoever may talk", async () => {
    config = configure("slack", { allowFrom: ["U222"], execApprovals: { approvers: ["U111"] } });
    expect(await access().mayDecide(person("slack", "U111"), asked, undefined)).toBeUndefined();
    expect(await access().mayDecide(operator, asked, undefined)).toBeUndefined();
    expect(inEnglish((await access().mayDecide(guest, asked, undefined)) ?? "")).toMatch(/not an approver/);
    expect(inEnglish((await access().mayDecide(person("discord", "U111"), asked, undefined)) ?? "")).toMatch(
      /not an approver/,
    );
    expect(
      inEnglish((await access().mayDecide(person("slack", "U111", { kind: "agent" }), asked, undefined)) ?? ""),
    ).toMatch(/not an approver/);
  });

  it.each(PLATFORMS)(
    "an approver on %s answers wherever a card was sent, and may do nothing else there",
    async (channel) => {
      const { me } = IDS[channel];
      config = configure(channel, { execApprovals: { approvers: [me] } });
      const actor = person(channel, me);
      for (const route of [dm(channel, me), room(channel)]) {
        expect(await verdict({ actor, route, kind: "press" })).toBe("approver");
        expect(await verdict({ actor, route, kind: "message", command: "approve" })).toBe("approver");
        expect(await verdict({ actor, route, kind: "command", command: "exec" })).toBe("answer");
        expect(await verdict({ actor: { ...actor, kind: "agent" }, route, kind: "press" })).not.toBe("approver");
      }
    },
  );

  it("selfApproval: deny keeps an approver from deciding what they asked for", async () => {
    config = configure("slack", { execApprovals: { approvers: ["U111"] } }, { approvals: { selfApproval: "deny" } });
    const own = record(person("slack", "U111"), room("slack"));
    expect(inEnglish((await access().mayDecide(person("slack", "U111"), own, undefined)) ?? "")).toMatch(
      /asked for this yourself/,
    );
    expect(await access().mayDecide(operator, own, undefined)).toBeUndefined();
  });
});
