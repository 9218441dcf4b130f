import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { NativeCommand } from "../../../src/channels/adapter-deps.ts";
import { argsText, commandSetHash, commandsJson } from "../../../src/channels/discord/commands.ts";
import { parseExecText } from "../../../src/commands/exec-text.ts";
import { COMMANDS } from "../../../src/commands/registry.ts";
import { nativeCommands } from "../../../src/gateway/native-commands.ts";
import { loadSpec } from "../../emulators/discord/spec.ts";
import { commandProblems } from "../../emulators/discord/validate.ts";

const exec: NativeCommand = {
  name: "exec",
  summary: "Run a command",
  options: [
    { name: "host", description: "Where", choices: ["gateway", "node"], form: "key" },
    { name: "node", description: "Which node", form: "key", autocomplete: true },
    { name: "workdir", description: "Folder", form: "key" },
    { name: "command", description: "What to run", form: "rest" },
  ],
};
const process: NativeCommand = {
  name: "process",
  summary: "Sessions",
  options: [
    { name: "action", description: "What", required: true },
    { name: "session", description: "Which" },
    { name: "data", description: "Text", form: "rest" },
  ],
};

const registered = nativeCommands(COMMANDS, true).find(({ name }) => name === "process") as NativeCommand;

const given = (values: Record<string, string>) =>
  Object.entries(values).map(([name, value]) => ({ name, type: 3 as const, value }));

describe("discord native commands", () => {
  it("are what Discord takes, required options first", () => {
    const many = Array.from({ length: 120 }, (_, index) => ({ ...exec, name: `c${index}` }));
    const late: NativeCommand = {
      name: "approve",
      summary: "s".repeat(300),
      options: [
        { name: "decision", description: "" },
        { name: "id", description: "Which", required: true },
      ],
    };
    const json = commandsJson([exec, process, late, { ...exec, name: "Bad Name" }, ...many]);
    expect(json).toHaveLength(100);
    expect(commandProblems(json as never)).toEqual([]);
    expect(json[2]?.options?.map((one) => one.name)).toEqual(["id", "decision"]);
    const spec = loadSpec();
    expect(spec?.request("PUT", "/applications/{application_id}/commands", json) ?? []).toEqual([]);
  });

  it("hash the same in any order and with Discord's own defaults added, and differently after any change people see", () => {
    const json = commandsJson([exec, process]);
    const answered = json.map((one) => ({ ...one, id: "1", version: "2", nsfw: false, dm_permission: true })).reverse();
    expect(commandSetHash(answered)).toBe(commandSetHash(json));
    expect(commandSetHash(commandsJson([{ ...exec, summary: "Run it" }, process]))).not.toBe(commandSetHash(json));
    expect(commandSetHash(commandsJson([exec]))).not.toBe(commandSetHash(json));
  });

  it.each([
    [exec, { command: "npm test" }, "-- npm test"],
    [
      exec,
      { command: "FOO=1 make -j  2 'a  b'", host: "node", node: "mac-1" },
      "host=node node=mac-1 -- FOO=1 make -j  2 'a  b'",
    ],
    [exec, { host: "node" }, "host=node"],
    [exec, {}, ""],
    [process, { action: "write", session: "quiet-otter", data: 'it\'s "x"  y' }, 'write quiet-otter it\'s "x"  y'],
    [process, { action: "list" }, "list"],
    [
      registered,
      { action: "log", session: "quiet-otter", offset: "3", limit: "5", share: "true" },
      "log quiet-otter offset=3 limit=5 share=true",
    ],
    [registered, { action: "list", share: "true" }, "list share=true"],
    // What goes to a program is what was typed for it.
    [
      registered,
      { action: "write", session: "quiet-otter", data: "yes", offset: "3", share: "true" },
      "write quiet-otter yes",
    ],
  ])("become the text form: %#", (command, values, text) => {
    expect(argsText(command, given(values as Record<string, string>))).toBe(text);
  });

  it("mean the same as when typed, the command byte for byte", () => {
    const command = 'host=x echo  "it\'s"\n  `id` $(id) --';
    const text = argsText(exec, given({ command, workdir: "/srv/my app", host: "node" }));
    expect(parseExecText(text)).toEqual({ kind: "run", options: { host: "node", workdir: "/srv/my app" }, command });
  });

  it("template-arg-injection: whatever is in one field never becomes another option or another command", () => {
    const nasty = fc.oneof(
      fc.constantFrom(
        "; rm -rf /",
        "$(id)",
        "`id`",
        "a\nb",
        "-o/etc/x",
        "../../../bin/sh",
        "--",
        "x -- id",
        'a" host=node "',
        "' security=full '",
        "\\",
        'a\\" b',
      ),
      fc.string({ unit: "grapheme", maxLength: 40 }),
      fc
        .array(fc.constantFrom('"', "'", "\\", " ", "=", "host=node", "--", "a"), { maxLength: 8 })
        .map((parts) => parts.join("")),
    );
    fc.assert(
      fc.property(nasty, nasty, (command, workdir) => {
        fc.pre(command.trim() !== "" && workdir.trim() !== "");
        const parsed = parseExecText(argsText(exec, given({ command, workdir })));
        if (parsed.kind !== "run") throw new Error(parsed.kind);
        expect(parsed.command.trim()).toBe(command.trim());
        expect(Object.keys(parsed.options)).toEqual(["workdir"]);
      }),
      { numRuns: 500 },
    );
  });
});
