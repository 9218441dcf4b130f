import { describe, expect, it } from "vitest";
import { approvalTargets } from "../../../src/core/access/approval-targets.ts";
import type { ApprovalRecord } from "../../../src/core/approvals/record.ts";
import { type Config, configSchema } from "../../../src/core/config/schema.ts";
import type { Actor, ChannelId, Route } from "../../../src/core/route.ts";

type Platform = Exclude<ChannelId, "web">;
const WEB: Route = { channel: "web", accountId: "default", chatType: "dm", chatId: "main" };
const IDS = {
  slack: { approver: "U111", second: "U333", guest: "U222", room: "C100", dm: "D222", owner: "slack:U999" },
  discord: {
    approver: "111111111111111111",
    second: "333333333333333333",
    guest: "222222222222222222",
    room: "300000000000000000",
    dm: "500000000000000000",
    owner: "discord:999999999999999999",
  },
  telegram: { approver: "111", second: "333", guest: "222", room: "-100", dm: "222", owner: "telegram:999" },
} as const;

function asked(channel: Platform, chat: "room" | "dm", by: string = IDS[channel].guest): ApprovalRecord {
  const requester: Actor = { kind: "person", channel, accountId: "default", id: by };
  const chatType = chat === "dm" ? "dm" : channel === "telegram" ? "group" : "channel";
  const route: Route = { channel, accountId: "default", chatType, chatId: IDS[channel][chat] };
  return {
    request: { requester, route, agentId: "main", sessionKey: `agent:main:${channel}:channel:x` },
  } as unknown as ApprovalRecord;
}
const configure = (channel: Platform, account: object, more: object = {}) =>
  configSchema.parse({ channels: { [channel]: account }, ...more }) as Config;
const shown = (routes: readonly Route[]) => routes.map((route) => `${route.channel} ${route.chatType} ${route.chatId}`);

describe.each(["slack", "discord", "telegram"] as const)("the card of a request on %s", (channel) => {
  const { approver, second, room, dm, owner } = IDS[channel];
  const here = `${channel} ${channel === "telegram" ? "group" : "channel"} ${room}`;
  const to = (id: string) => `${channel} dm ${id}`;
  const approvers = [approver, second];
  const elsewhere = { channel: "web", to: "ops" } as const;

  it.each<[string, object, object, string[], boolean]>([
    ["target unset: to each approver", { approvers }, {}, [to(approver), to(second)], true],
    ["dm", { approvers, target: "dm" }, {}, [to(approver), to(second)], true],
    ["channel", { approvers, target: "channel" }, {}, [here], false],
    ["both", { approvers: [approver], target: "both" }, {}, [here, to(approver)], false],
    [
      "enabled true is auto where somebody may approve",
      { enabled: true, approvers },
      {},
      [to(approver), to(second)],
      true,
    ],
    ["owners stand in", {}, { commands: { ownerAllowFrom: [owner] } }, [to(owner.split(":")[1] ?? "")], true],
    ["enabled true, but nobody may: the operator", { enabled: true }, {}, ["web dm main"], true],
    ["nobody may: the operator", {}, {}, ["web dm main"], true],
    ["switched off: the operator", { enabled: false, approvers }, {}, ["web dm main"], true],
    ["agentFilter of others", { approvers, agentFilter: ["other"] }, {}, ["web dm main"], true],
    ["agentFilter with this one", { approvers: [approver], agentFilter: ["main"] }, {}, [to(approver)], true],
    [
      "sessionFilter that fits",
      { approvers: [approver], sessionFilter: [`${channel}:channel`] },
      {},
      [to(approver)],
      true,
    ],
    ["sessionFilter that does not", { approvers, sessionFilter: ["group:"] }, {}, ["web dm main"], true],
    ["a pattern that fits", { approvers: [approver], sessionFilter: ["/:channel:x$/"] }, {}, [to(approver)], true],
    ["a pattern that does not", { approvers, sessionFilter: ["/^channel/"] }, {}, ["web dm main"], true],
    [
      "approvals.exec off changes nothing",
      { approvers: [approver] },
      { mode: "both", targets: [elsewhere] },
      [to(approver)],
      true,
    ],
    [
      "session: the chat that asked too",
      { approvers: [approver] },
      { enabled: true, mode: "session", targets: [elsewhere] },
      [here, to(approver)],
      false,
    ],
    ["session with target channel: once", { approvers, target: "channel" }, { enabled: true }, [here], false],
    [
      "both: the chat that asked and the targets",
      { approvers: [approver] },
      { enabled: true, mode: "both", targets: [elsewhere] },
      [here, to(approver), "web channel ops"],
      false,
    ],
    [
      "targets: only there",
      { approvers, target: "channel" },
      { enabled: true, mode: "targets", targets: [elsewhere] },
      ["web channel ops"],
      true,
    ],
    [
      "targets without any: as without",
      { approvers: [approver] },
      { enabled: true, mode: "targets" },
      [to(approver)],
      true,
    ],
    [
      "its agentFilter",
      { approvers: [approver] },
      { enabled: true, mode: "both", agentFilter: ["other"], targets: [elsewhere] },
      [to(approver)],
      true,
    ],
    [
      "its sessionFilter",
      { approvers: [approver] },
      { enabled: true, mode: "targets", sessionFilter: ["agent:other"], targets: [elsewhere] },
      [to(approver)],
      true,
    ],
  ])("%s", (_name, execApprovals, more, expected, noticed) => {
    const rest = "commands" in more ? more : { approvals: { exec: more } };
    const targets = approvalTargets(configure(channel, { execApprovals }, rest), asked(channel, "room"), WEB);
    expect(shown(targets.cards)).toEqual(expected);
    expect(targets.notice?.chatId).toBe(noticed ? room : undefined);
  });

  it.each(["dm", "channel", "both"])("target %s: what somebody asks directly goes to the approvers", (target) => {
    const config = configure(
      channel,
      { execApprovals: { approvers: [approver], target } },
      { approvals: { exec: { enabled: true } } },
    );
    const theirs = approvalTargets(config, asked(channel, "dm"), WEB);
    expect([shown(theirs.cards), theirs.notice?.chatId]).toEqual([[to(approver)], dm]);
    const own = approvalTargets(config, asked(channel, "dm", approver), WEB);
    expect([shown(own.cards), own.notice]).toEqual([[to(dm)], undefined]);
  });
});

describe("targets of approvals.exec", () => {
  it.each([
    [{ channel: "slack", to: "C200", threadId: "1700000000.000100" }, "slack channel C200"],
    [{ channel: "slack", to: "U200" }, "slack dm U200"],
    [{ channel: "telegram", to: "-1001" }, "telegram channel -1001"],
    [{ channel: "telegram", to: "42" }, "telegram dm 42"],
    [{ channel: "discord", to: "300000000000000000" }, "discord channel 300000000000000000"],
    [{ channel: "discord", to: "user:300000000000000000" }, "discord dm 300000000000000000"],
  ])("%j is %s", (target, expected) => {
    const config = configure(
      "slack",
      {},
      { approvals: { exec: { enabled: true, mode: "targets", targets: [target] } } },
    );
    const { cards } = approvalTargets(config, asked("slack", "room"), WEB);
    expect(shown(cards)).toEqual([expected]);
    expect(cards[0]?.threadId).toBe("threadId" in target ? target.threadId : undefined);
  });

  it("without an account go by the only one there is", () => {
    const config = configSchema.parse({
      channels: { slack: { accounts: { work: { botToken: "xoxb-1" } } }, telegram: {} },
      approvals: {
        exec: {
          enabled: true,
          mode: "targets",
          targets: [
            { channel: "slack", to: "C1" },
            { channel: "telegram", to: "-1" },
          ],
        },
      },
    }) as Config;
    expect(approvalTargets(config, asked("telegram", "room"), WEB).cards.map((route) => route.accountId)).toEqual([
      "work",
      "default",
    ]);
  });

  it("a broken pattern is refused when the configuration is read", () => {
    expect(configSchema.safeParse({ approvals: { exec: { sessionFilter: ["/(/"] } } }).success).toBe(false);
    expect(configSchema.safeParse({ approvals: { exec: { sessionFilter: ["(", "/a/"] } } }).success).toBe(true);
  });
});

describe("a request that comes from no chat", () => {
  it("is the operator's", () => {
    const record = {
      request: {
        requester: { kind: "person", channel: "api", accountId: "default", id: "operator" },
        agentId: "main",
        sessionKey: "agent:main:main",
      },
    } as unknown as ApprovalRecord;
    expect(approvalTargets(configure("slack", {}), record, WEB)).toEqual({ cards: [WEB] });
  });

  it("the chat whose request is the operator's is told where the web chat is, when the configuration says", () => {
    const config = configure("slack", {}, { gateway: { publicUrl: "https://exec.example.org" } });
    expect(approvalTargets(config, asked("slack", "room"), WEB)).toMatchObject({
      cards: [WEB],
      link: "https://exec.example.org",
    });
  });
});

describe.each([
  ["slack", { type: "slack.usergroup", usergroup: "S0OPSTEAM" }],
  ["discord", { type: "discord.channelAudience", channel: "300000000000000001" }],
] as const)("approvers by a group that %s keeps", (channel, ops) => {
  const { approver, room } = IDS[channel];
  const approvers = ["accessGroup:ops"];

  it.each([
    [
      "channel: its members see the card in the room",
      { approvers, target: "channel" },
      "room",
      [`${channel} channel ${room}`],
      false,
    ],
    [
      "both: and people named by id also directly",
      { approvers: [...approvers, approver], target: "both" },
      "room",
      [`${channel} channel ${room}`, `${channel} dm ${approver}`],
      false,
    ],
    [
      "dm: there is nobody to write to, so the operator is asked",
      { approvers, target: "dm" },
      "room",
      ["web dm main"],
      true,
    ],
    [
      "channel, asked directly: nobody else would see it",
      { approvers, target: "channel" },
      "dm",
      ["web dm main"],
      true,
    ],
  ] as const)("%s", (_what, execApprovals, chat, cards, notice) => {
    const config = configure(channel, { execApprovals }, { accessGroups: { ops } });
    const targets = approvalTargets(config, asked(channel, chat), WEB);
    expect(shown(targets.cards)).toEqual(cards);
    expect(targets.notice !== undefined).toBe(notice);
  });
});
