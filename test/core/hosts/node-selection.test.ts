import { describe, expect, it } from "vitest";
import { ExecError } from "../../../src/core/errors.ts";
import { chooseNode } from "../../../src/core/hosts/node/nodes.ts";
import { type Candidate, selectNode } from "../../../src/core/hosts/node/selection.ts";

const node = (id: string, name: string, more: Partial<Candidate> = {}): Candidate => ({
  id: id.padEnd(64, "0"),
  name,
  connected: true,
  canRun: true,
  ...more,
});
const mac = node("aaaaaa1", "mac-1", { address: "192.168.1.7" });
const build = node("bbbbbb2", "build");
const away = node("cccccc3", "away", { connected: false });
const mute = node("dddddd4", "mute", { canRun: false });

function outcome(choose: () => Candidate): string {
  try {
    return choose().name;
  } catch (error) {
    return error instanceof ExecError ? `${error.code}: ${error.message}` : String(error);
  }
}

describe("which node is meant (hosts.md 4.4)", () => {
  it.each<[string, string | undefined, readonly Candidate[], string | RegExp]>([
    ["nothing said, one able", undefined, [mac, away, mute], "mac-1"],
    ["nothing said, none paired", undefined, [], /no node is paired/],
    ["nothing said, none connected", undefined, [away], /no paired node is connected\. Known: away \(cccccc30\)/],
    ["nothing said, none may run", undefined, [mute, away], /no connected node may run commands.*Connected: mute/],
    ["nothing said, several", undefined, [mac, build], /several nodes are connected: mac-1 \(aaaaaa10\), build/],
    ["exact id", mac.id, [mac, build], "mac-1"],
    ["address", "192.168.1.7", [mac, build], "mac-1"],
    ["name", "build", [mac, build], "build"],
    ["start of the id", "bbbbbb", [mac, build], "build"],
    ["start of the id in capitals", "BBBBBB", [mac, build], "build"],
    ["too short a start", "bbbbb", [mac, build], /no node "bbbbb"\. Known: mac-1/],
    ["unknown", "x", [mac], /no node "x"/],
    ["names are exact", "MAC-1", [mac], /no node "MAC-1"/],
    ["an id wins over a name that looks like it", mac.id, [mac, node("eeeeee5", mac.id)], "mac-1"],
    ["a name wins over the start of an id", "bbbbbb2", [build, node("fffff6", "bbbbbb2")], "bbbbbb2"],
    ["two of one name", "twin", [node("111111a", "twin"), node("222222b", "twin")], /Several nodes match "twin"/],
    [
      "of two of one name, the connected one",
      "twin",
      [node("111111a", "twin", { connected: false }), node("2", "twin")],
      "twin",
    ],
    [
      "two with one start",
      "abcdef",
      [node("abcdef1", "x"), node("abcdef2", "y")],
      /Several nodes match "abcdef": x \(/,
    ],
    ["offline", "away", [mac, away], /Node away is not connected/],
    ["not allowed to run", "mute", [mac, mute], /Node mute may not run commands here/],
    [
      "an address of one that is not connected",
      "10.0.0.9",
      [node("9", "old", { connected: false, address: "10.0.0.9" })],
      /no node/,
    ],
  ])("%s", (_, wanted, nodes, expected) => {
    const found = outcome(() => selectNode(wanted, nodes));
    if (typeof expected === "string") expect(found).toBe(expected);
    else expect(found).toMatch(expected);
    if (expected instanceof RegExp) expect(found).toMatch(/^host-unavailable: /);
  });

  it.each<[string, Parameters<typeof chooseNode>[0], string | RegExp]>([
    ["the call first", { call: "build", session: "mac-1", bound: undefined }, "build"],
    ["then the conversation", { call: undefined, session: "mac-1", bound: undefined }, "mac-1"],
    ["then the agent", { call: undefined, session: undefined, bound: "build" }, "build"],
    ["the same by another name is no contradiction", { call: "bbbbbb", session: undefined, bound: "build" }, "build"],
    [
      "a call away from the bound one",
      { call: "mac-1", session: undefined, bound: "build" },
      /^host-not-allowed: .*bound to build, requested mac-1/,
    ],
    [
      "a conversation away from the bound one",
      { call: undefined, session: "mac-1", bound: "build" },
      /^host-not-allowed/,
    ],
    ["bound to one that is not there", { call: undefined, session: undefined, bound: "away" }, /not connected/],
  ])("%s", (_, wish, expected) => {
    const found = outcome(() => chooseNode(wish, [mac, build, away]));
    if (typeof expected === "string") expect(found).toBe(expected);
    else expect(found).toMatch(expected);
  });
});
