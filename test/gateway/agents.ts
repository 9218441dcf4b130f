/** An agent in the web chat: the genuine AI SDK against a provider of ours that refuses what the real ones refuse. */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import {
  type ModelApi,
  ModelEmulator,
  type ModelRequest,
  type ScriptedAnswer,
} from "../emulators/model/model-emulator.ts";
import { type Person, startTestGateway, type TestGateway, type TestGatewayOptions } from "../support/gateway.ts";
import { eventually } from "../support/state.ts";

const WAIT_MS = 20_000;

export function agentsInChats(mode: string, api: ModelApi, optionsFor: () => Promise<TestGatewayOptions>): void {
  describe(`an agent, ${mode}, ${api}`, () => {
    let gateway: TestGateway | undefined;
    let model: ModelEmulator;
    let me: Person;
    let chats = 0;

    const config = (more: object = {}, exec: object = { mode: "ask" }) => ({
      tools: { exec },
      models: { providers: model.providers(api) },
      agents: { defaults: { model: "house/small", heartbeat: { every: "0m" }, turn: { maxRetries: 1, ...more } } },
    });
    const up = async (wanted: object) => {
      await gateway?.stop();
      gateway = await startTestGateway({ ...(await optionsFor()), env: model.env, config: wanted });
    };

    beforeAll(async () => {
      model = await ModelEmulator.start();
      await up(config());
    }, 60_000);
    afterAll(async () => {
      await gateway?.stop();
      await model?.stop();
    });
    beforeEach(async () => {
      me = await running().person(`chat${++chats}`);
      model.requests.length = 0;
      model.think(() => ({ text: "Nothing is scripted." }));
    });
    afterEach(() => {
      expect(model.violations).toEqual([]);
    });

    const running = (): TestGateway => {
      if (!gateway) throw new Error("There is no gateway.");
      return gateway;
    };
    const says = (words: string | RegExp, person = me) =>
      person.see("text", (card) =>
        typeof words === "string" ? (card.text ?? "").includes(words) : words.test(card.text ?? ""),
      );
    const request = (at: number): ModelRequest => {
      const found = model.requests.at(at);
      if (!found) throw new Error(`The model was asked ${model.requests.length} times.`);
      return found;
    };
    const exec = (command: string, more: object = {}): ScriptedAnswer => ({
      calls: [{ name: "exec", args: { command, ...more } }],
    });
    const file = (name: string) => readFile(join(running().stateDir, "workspace", name), "utf8").catch(() => undefined);

    it("answers a message, and is told who wrote it, its tools and its key, and nothing else", async () => {
      model.script({ text: "Good morning." });
      await me.say("hello there");
      await says("Good morning.");
      const asked = request(0);
      expect(asked.lastUser).toMatch(
        /^\[.*operator.*, web direct message, \d{4}-\d\d-\d\d \d\d:\d\d UTC\]\nhello there$/,
      );
      expect(asked.tools.map((tool) => tool.name)).toEqual(["exec", "process"]);
      expect(asked.tools[0]?.schema.required).toEqual(["command"]);
      expect(asked.tools[0]?.schema.properties?.yieldMs?.type).toBe("number");
      expect(asked.key).toBe(model.env.HOUSE_MODEL_KEY);
      expect(asked.maxTokens).toBe(4096);
    });

    it("remembers the conversation, each chat its own, until /new", async () => {
      model.think(({ messages }) => ({ text: `I have ${messages.length} messages.` }));
      await me.say("one");
      await says("I have 1 messages.");
      await me.say("two");
      await says("I have 3 messages.");
      const other = await running().person(`other${chats}`);
      await other.say("one");
      await says("I have 1 messages.", other);
      await me.say("/new");
      await says("The agent begins anew here.");
      await me.say("three");
      await eventually(
        () => me.screen().filter((card) => card.kind === "text" && card.text === "I have 1 messages.").length === 2,
      );
    });

    it("asks a person for a command, is told that it waits, and says the result when it has run", async () => {
      const command = `echo made-$((40+2)) > approved${chats}; cat approved${chats}`;
      model.script(exec(command), { text: "I have asked for it." });
      await me.say("please run it");
      await says("I have asked for it.");
      expect(request(1).lastResults[0]).toMatch(/Approval required/);
      expect(await file(`approved${chats}`)).toBeUndefined();
      model.script({ text: "It printed made-42." });
      const card = await me.request(command);
      expect(card.requester).toMatchObject({ kind: "agent" });
      await me.decide(card, "allow-once");
      await says("It printed made-42.");
      expect(request(2).lastUser).toMatch(/Exec finished \(gateway id=.*code 0\)\nmade-42/);
      expect(request(2).messages.length).toBeGreaterThan(3);
    });

    it("denied-does-not-wake: a denial is the end of it, the model is not told", async () => {
      const command = `touch denied${chats}`;
      model.script(exec(command), { text: "Asked." });
      await me.say("try it");
      await says("Asked.");
      await me.decide(await me.request(command), "deny");
      await me.see("approval", (card) => card.command === command && card.state === "denied");
      model.script({ text: "Hello again." });
      await me.say("hello");
      await says("Hello again.");
      expect(model.requests).toHaveLength(3);
      expect(request(2).body).not.toContain("Exec denied");
      expect(await file(`denied${chats}`)).toBeUndefined();
    });

    it.each<[string, ScriptedAnswer, RegExp]>([
      [
        "a tool that is not there",
        { calls: [{ name: "delete_everything", args: { now: true } }] },
        /There is no tool "delete_everything" here/,
      ],
      ["an unknown parameter", { calls: [{ name: "exec", args: { comand: "ls" } }] }, /command|comand/],
      ["no command", { calls: [{ name: "exec", args: { command: "  " } }] }, /Provide a command/],
      [
        "apply_patch, which is for other models",
        { calls: [{ name: "apply_patch", args: { input: "x" } }] },
        /There is no tool "apply_patch"/,
      ],
    ])("a call of %s is answered with what is wrong, and the turn goes on", async (_name, call, wrong) => {
      model.script(call, { text: `I see my mistake ${chats}.` });
      await me.say("go");
      await says(`I see my mistake ${chats}.`);
      expect(request(1).lastResults[0]).toMatch(wrong);
    });

    if (api === "openai-completions") {
      it("arguments that are not JSON run nothing, and the turn goes on", async () => {
        model.script({ calls: [{ name: "exec", args: '{"command": "touch bad' }] }, { text: "Again, properly." });
        await me.say("go");
        await says("Again, properly.");
        expect(request(1).lastResults[0]).toMatch(/not JSON\. Nothing was run/);
      });
    }

    it("huge arguments are refused with the limit, and not told again in full", async () => {
      model.script(exec(`echo ${"x".repeat(300_000)}`), { text: "Too long, I see." });
      await me.say("go");
      await says("Too long, I see.");
      expect(request(1).lastResults[0]).toMatch(/limits\.maxCommandChars/);
      expect(request(1).body.length).toBeLessThan(60_000);
    });

    it.each<[string, ScriptedAnswer, RegExp]>([
      [
        "refuses the key",
        { status: 401 },
        /No answer: the provider of house\/small refused the key\. Nothing was run\./,
      ],
      ["does not know the model", { status: 404 }, /does not know house\/small/],
      ["has a fault, twice", { status: 500 }, /has a fault \(HTTP 500\)/],
      ["is asked too often, twice", { status: 429, headers: { "retry-after-ms": "10" } }, /asked too often/],
      ["answers no JSON", { raw: "<html>oops</html>" }, /not in its protocol/],
      ["answers another shape", { raw: '{"hello":"there"}' }, /not in its protocol/],
    ])("when the provider %s, the chat is told why, without the key", async (_name, answer, why) => {
      model.think(() => answer);
      await me.say("hello");
      await says(why);
      expect(JSON.stringify(me.screen())).not.toContain(model.env.HOUSE_MODEL_KEY);
    });

    it("tries again when the provider is busy or hangs up, and the person sees one answer", async () => {
      model.script({ status: 429, headers: { "retry-after-ms": "50" } }, { text: "There you are." });
      await me.say("hello");
      await says("There you are.");
      model.script({ text: "half an answer", cut: true }, { text: "The whole answer." });
      await me.say("and again");
      await says("The whole answer.");
      const words = me.screen().filter((card) => card.kind === "text").length;
      expect(words).toBe(2);
    });

    it("what is said meanwhile is heard in the same turn, after the tool at work", async () => {
      let release = () => {};
      const held = new Promise<void>((resolve) => {
        release = resolve;
      });
      model.script({ calls: [{ name: "process", args: { action: "list" } }] });
      model.think(async ({ lastUser, messages }) => {
        await held;
        return {
          text: `Heard: ${messages.filter((one) => one.role === "user").length}, last ${lastUser.split("\n").at(-1)}`,
        };
      });
      await me.say("first");
      await eventually(() => model.requests.length === 2);
      model.script({ calls: [{ name: "process", args: { action: "list" } }] });
      await me.say("second");
      await me.say("/whoami");
      release();
      await says(/Heard: 1, last first/);
      await says(/Heard: 2, last second/);
    });

    describe("with full access", () => {
      beforeAll(() => up(config({ maxSteps: 6 }, { mode: "full" })), 60_000);

      it("/stop ends the turn and its command, drops what waits, and says so", async () => {
        model.script(exec(`echo begun > begun${chats}; sleep 300`));
        await me.say("take your time");
        await eventually(async () => (await file(`begun${chats}`)) === "begun\n", WAIT_MS);
        await me.say("and another thing");
        await eventually(() => me.screen().filter((card) => card.kind === "said").length === 2);
        await me.say("/stop");
        const answer = await says(/^Stopped /);
        expect(answer.text).toMatch(/1 answer/);
        model.script({ text: "Yes?" });
        await me.say("are you there");
        await says("Yes?");
        const last = request(-1);
        expect(last.messages.map((one) => one.text).join("\n")).toContain("stopped by a person");
        expect(last.lastUser).toContain("are you there");
      });

      it("runs commands, sees their output masked, and knows where it speaks", async () => {
        model.script(
          exec("printenv OPENCLAW_CHANNEL_CONTEXT; env | grep -c HOUSE_MODEL_KEY; echo sk-house-0123456789abcdefghij"),
          { text: "Looked." },
        );
        await me.say("look");
        await says("Looked.");
        const [output = ""] = request(1).lastResults;
        expect(JSON.parse(output.split("\n")[0] ?? "")).toEqual({
          sender: { id: "operator" },
          chat: { id: `chat${chats}` },
        });
        expect(output.split("\n")[1]).toBe("0");
        expect(output).not.toContain(model.env.HOUSE_MODEL_KEY);
      });

      it("stops at maxSteps with what it has, and says so", async () => {
        model.think(() => ({
          text: "one more",
          calls: [{ name: "exec", args: { command: `echo x >> steps${chats}` } }],
        }));
        await me.say("on and on");
        await says("agents.defaults.turn.maxSteps");
        expect(model.requests).toHaveLength(6);
        expect(await file(`steps${chats}`)).toBe("x\n".repeat(5));
      });

      it("wake-wrong-session-key, wake-without-payload: the end of background work is told by code, then the agent adds to it", async () => {
        model.script(exec("sleep 1; echo RESULT-42", { background: true }), { text: "Started." });
        await me.say("start it");
        await says("Started.");
        model.script({ text: "The answer is forty-two." });
        await says(/Exec completed \(.*code 0\) :: RESULT-42/);
        await says("The answer is forty-two.");
        expect(request(-1).lastUser).toContain("RESULT-42");
        const texts = me.screen().flatMap((card) => (card.kind === "text" ? [card.text] : []));
        expect(texts.findIndex((text) => text?.includes("RESULT-42"))).toBeLessThan(
          texts.indexOf("The answer is forty-two."),
        );
      });

      it("a model that has nothing to add to an end is silent, and people know the end all the same", async () => {
        model.script(exec("sleep 1; echo RESULT-43", { background: true }), { text: "Started." });
        model.think(() => ({ text: "NO_REPLY" }));
        await me.say("start it");
        await says(/:: RESULT-43/);
        await eventually(() => model.requests.length === 3);
        expect(JSON.stringify(me.screen())).not.toContain("NO_REPLY");
      });

      it("wake-poll-consumes: an end that the agent saw by a poll is told to nobody again", async () => {
        let id = "";
        model.think(({ lastResults: [result = ""] }) => {
          if (result === "") return exec("sleep 2; echo POLLED-44", { background: true });
          id ||= /session ([a-z0-9-]+)/.exec(result)?.[1] ?? "";
          if (result.includes("Process exited")) return { text: "Seen by a poll." };
          return { calls: [{ name: "process", args: { action: "poll", sessionId: id, timeout: 20_000 } }] };
        });
        await me.say("poll it");
        await says("Seen by a poll.");
        model.think(() => ({ text: "Later." }));
        await me.say("later");
        await says("Later.");
        expect(JSON.stringify(me.screen())).not.toContain("Exec completed");
        expect(request(-1).lastUser).not.toContain("Exec completed");
      });
    });

    describe("a model of a provider that has learned patches", () => {
      beforeAll(() => {
        const base = config({}, { mode: "full" });
        return up({
          ...base,
          models: { providers: model.providers(api, "openai") },
          agents: { defaults: { ...base.agents.defaults, model: "openai/small" } },
        });
      }, 60_000);

      it("is offered apply_patch, and its patch is written", async () => {
        const input = `*** Begin Patch\n*** Add File: patched${chats}.txt\n+by the agent\n*** End Patch`;
        model.script({ calls: [{ name: "apply_patch", args: { input } }] }, { text: "Patched." });
        await me.say("patch it");
        await says("Patched.");
        expect(request(0).tools.map((tool) => tool.name)).toEqual(["exec", "process", "apply_patch"]);
        expect(request(1).lastResults[0]).toContain(`A patched${chats}.txt`);
        expect(await file(`patched${chats}.txt`)).toBe("by the agent\n");
      });
    });

    describe("a provider that never answers", () => {
      beforeAll(() => up(config({ stepTimeoutSec: 1, maxRetries: 0 })), 60_000);

      it("is waited for as long as agents.defaults.turn.stepTimeoutSec says, whenever the garbage is collected", async () => {
        setFlagsFromString("--expose-gc");
        const collecting = setInterval(runInNewContext("gc") as () => void, 100);
        model.script({ text: "Too late.", delayMs: 60_000 });
        await me.say("anybody there?");
        await says(/No answer: .*Nothing was run\./);
        clearInterval(collecting);
        expect(JSON.stringify(me.screen())).not.toContain("Too late.");
      });
    });

    describe("tools that are denied", () => {
      beforeAll(() => up({ ...config(), tools: { exec: { mode: "full" }, deny: ["process", "exec"] } }), 60_000);

      it("are not offered, and a call all the same runs nothing", async () => {
        model.script(exec(`touch not${chats}`), { text: "I can not." });
        await me.say("do it");
        await says("I can not.");
        expect(request(0).tools).toEqual([]);
        expect(request(1).lastUser).toMatch(/There is no tool "exec" here/);
        expect(await file(`not${chats}`)).toBeUndefined();
      });
    });

    describe("heartbeats", () => {
      it("become a turn with HEARTBEAT.md; an acknowledgement is not shown, words go where a person spoke last", async () => {
        const beat = config({}, { mode: "full" });
        await up({ ...beat, agents: { defaults: { ...beat.agents.defaults, heartbeat: { every: "1s" } } } });
        await writeFile(join(running().stateDir, "workspace", "HEARTBEAT.md"), "- look after the tomatoes\n");
        me = await running().person(`beats${chats}`);
        model.think(({ lastUser }) => ({
          text: !lastUser.includes("Heartbeat.")
            ? "I am here."
            : model.requests.length > 4
              ? "The tomatoes are dry. HEARTBEAT_OK".padEnd(400, "!")
              : "**HEARTBEAT_OK**",
        }));
        await me.say("hello");
        await says("I am here.");
        await eventually(() => model.requests.some((one) => one.lastUser.includes("look after the tomatoes")), 45_000);
        expect(JSON.stringify(me.screen())).not.toContain("HEARTBEAT_OK");
        const beaten = model.requests.find((one) => one.lastUser.includes("tomatoes"));
        expect(beaten?.lastUser).toMatch(/Heartbeat\.[\s\S]*HEARTBEAT\.md:\n- look after the tomatoes/);
      }, 90_000);
    });
  });
}
