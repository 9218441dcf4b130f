import { describe, expect, it } from "vitest";
import { complete, MAX_COMPLETIONS } from "../../src/commands/complete.ts";
import { COMMANDS } from "../../src/commands/registry.ts";

const data = {
  commands: COMMANDS,
  rank: "owner" as const,
  sessions: [{ id: "quiet-otter", label: "npm test" }],
  nodes: [] as { id: string; name: string }[],
  approvals: [{ slug: "a17b4920", command: "make" }],
};
const inserts = (text: string, more: Partial<typeof data> = {}) =>
  complete(text, { ...data, ...more }).map((item) => item.insert);

describe("completion while typing", () => {
  it("offers commands by their beginning", () => {
    expect(inserts("/ex")).toEqual(["/exec "]);
    expect(inserts("/s")).toEqual(["/stop ", "/status "]);
  });

  it("offers options and their values, each only once", () => {
    expect(inserts("/exec ho")).toEqual(["/exec host="]);
    expect(inserts("/exec host=g")).toEqual(["/exec host=gateway "]);
    expect(inserts("/exec host=node ")).not.toContain("/exec host=node host=");
  });

  it("offers connected nodes for node=, by name or, where that is not enough, by id", () => {
    const nodes = [
      { id: `a1${"0".repeat(62)}`, name: "mac-1" },
      { id: `b2${"0".repeat(62)}`, name: "build box" },
      { id: `c3${"0".repeat(62)}`, name: "twin" },
      { id: `d4${"0".repeat(62)}`, name: "twin" },
    ];
    expect(inserts("/exec node=ma", { nodes })).toEqual(["/exec node=mac-1 "]);
    expect(inserts("/exec host=node node=", { nodes })).toEqual([
      "/exec host=node node=mac-1 ",
      "/exec host=node node=b20000000000 ",
      "/exec host=node node=c30000000000 ",
      "/exec host=node node=d40000000000 ",
    ]);
  });

  it("offers nothing of ours inside a command", () => {
    expect(inserts("/exec npm ho")).toEqual([]);
    expect(inserts("ls /ex")).toEqual([]);
  });

  it("offers waiting requests and decisions for /approve, sessions for /process", () => {
    expect(inserts("/approve a")).toEqual(["/approve a17b4920 "]);
    expect(inserts("/approve a17b4920 al")).toEqual([
      "/approve a17b4920 allow-once ",
      "/approve a17b4920 allow-always ",
    ]);
    expect(inserts("/process kill q")).toEqual(["/process kill quiet-otter "]);
  });

  it("never names a command the person may not use", () => {
    expect(complete("/", { ...data, rank: "unknown" }).map((item) => item.label)).toEqual(["/whoami", "/help"]);
  });

  it("stays within what a platform shows", () => {
    const many = Array.from({ length: 100 }, (_, index) => ({ id: `s-${index}`, label: "" }));
    expect(inserts("/process kill ", { sessions: many })).toHaveLength(MAX_COMPLETIONS);
  });
});
