/** Each person is answered in their own language, a room in its own; the platforms tell which (genuine clients). */
import { describe, expect, it } from "vitest";
import { startTestGateway } from "../support/gateway.ts";
import { eventually } from "../support/state.ts";
import { PLATFORMS } from "./places/places.ts";
import { stage, WAIT_MS } from "./stage.ts";

/** As each platform's app tells it. */
const SPEAKS = {
  slack: { owner: "nl-NL", guest: "pt-BR", second: "vi-VN", stranger: "nl-NL" },
  discord: { owner: "nl", guest: "pt-BR", second: "vi", stranger: "nl" },
  telegram: { owner: "nl", guest: "pt-br", second: "vi", stranger: "nl" },
} as const;

describe.each(PLATFORMS)("people of four languages on %s", (name, open) => {
  const on = stage(open, { target: "dm", speaks: SPEAKS[name.split(" ")[0] as keyof typeof SPEAKS] });
  const hello = async (user: string, ...words: (string | RegExp)[]) => {
    const direct = on.place.direct(user);
    await on.place.command(user, direct, "/whoami");
    await on.shows(direct, words, () => true, user);
  };

  it("are answered directly in theirs", async () => {
    const { place } = on;
    await hello(place.owner, "Wie je hier bent", "mag alles, ook bepalen wie wat mag");
    await hello(place.guest, "Quem você é aqui", "pode executar comandos");
    await hello(place.second, "Bạn là ai ở đây", "Quyền");
  });

  it("get errors and questions of the bot in theirs, also in a room", async () => {
    const { place } = on;
    const reads = (words: string) =>
      eventually(() => place.screen(place.guest, place.room).includes(words), WAIT_MS).catch(() => {
        throw new Error(`No “${words}” in:\n${place.screen(place.guest, place.room)}`);
      });
    if (place.name !== "discord") {
      // Discord's own form offers the right values only.
      await place.command(place.guest, place.room, "/exec ask=maybe");
      await reads("Valores aceitos: off, on-miss, always");
    }
    await place.command(place.guest, place.room, "/approve 00000000 deny");
    await reads("Nenhum pedido com o id");
  });

  it("an approver decides in their language what somebody asked in another, and the room is told in the configured one", async () => {
    const { place } = on;
    const mark = on.fresh("who-reads");
    await place.command(place.guest, place.room, `/exec echo ${mark}`);
    const ofOwner = await on.request(place.direct(place.owner), mark, place.owner);
    expect(ofOwner.text).toMatch(/Toestemming nodig/);
    expect(ofOwner.text).toMatch(/staat niet op de allowlist/);
    expect(ofOwner.buttons).toContain("Eenmalig toestaan");
    const ofSecond = await on.request(place.direct(place.second), mark, place.second);
    expect(ofSecond.text).toMatch(/không có trong allowlist/);
    await on.shows(place.room, ["waits for an approver", "The result comes here."]);
    await on.press(ofSecond, "deny", place.second);
    await on.shows(place.room, [/was denied by linh|was denied by /, "it did not run"]);
    await on.shows(place.direct(place.owner), [mark, "Geweigerd"], ({ buttons }) => buttons.length === 0);
  });

  it("the end of a run: in a direct chat as its person speaks, in a room as configured", async () => {
    const { place } = on;
    const mark = on.fresh("ends");
    await place.command(place.owner, place.direct(place.owner), `/exec echo ${mark}`);
    await on.press(await on.request(place.direct(place.owner), mark), "once");
    await on.shows(place.direct(place.owner), [mark, "Klaar", "exitcode 0"]);
    await on.shows(place.direct(place.owner), [mark, "Eenmalig toegestaan", /exitcode 0 in /], isNoRun);

    const public_ = on.fresh("room-ends");
    await place.command(place.guest, place.room, `/exec echo ${public_}`);
    await on.press(await on.request(place.direct(place.owner), public_), "once");
    await on.shows(place.room, [public_, "Finished", "exit code 0"]);
  });

  it("a stranger hears in their language how to be let in", async () => {
    const { place } = on;
    const direct = place.direct(place.stranger);
    await place.say(place.stranger, direct, "hallo, wie ben jij?");
    // Discord tells a person's language with commands and buttons only.
    const words = place.name === "discord" ? "does not know you yet" : "Deze bot kent je nog niet";
    await on.shows(direct, [words], () => true, place.stranger);
    await on.shows(place.direct(place.owner), ["Iemand wil worden toegelaten", "/pair approve"]);
  });
});

const isNoRun = ({ text }: { readonly text: string }) => !/Klaar/.test(text);

describe("languages in the web chat and the terminal", () => {
  it("answers, completions and refusals come in the language that the client named, programs get English", async () => {
    const gateway = await startTestGateway();
    try {
      const dutch = await gateway.person("nl", "nl-NL");
      await dutch.say("/exce ls");
      await dutch.see("text", (card) => card.text === "De opdracht /exce bestaat niet. Bedoelde je /exec?");
      const { items } = await dutch.call("chat.complete", { text: "/sta" });
      expect(items).toMatchObject([
        { label: "/status", detail: "Wat er loopt, wat er op je wacht en of alles in orde is." },
      ]);
      const refused = dutch.call("approvals.resolve", { id: "00000000", decision: "deny" });
      await expect(refused).rejects.toMatchObject({
        code: "approval-unknown",
        message: expect.stringMatching(/^Er wacht geen verzoek/),
      });

      const vietnamese = await gateway.person("vi", "vi");
      await vietnamese.say("/stop");
      await vietnamese.see("text", (card) => card.text === "Không có gì đang chạy hay đang chờ ở đây.");

      const program = await gateway.person("program");
      await program.say("/stop");
      await program.see("text", (card) => card.text === "Nothing is running here and nothing is waiting.");
      await expect(program.call("approvals.resolve", { id: "00000000", decision: "deny" })).rejects.toThrow(
        /^No request/,
      );
      const { body } = await gateway.tool("exec", { command: "" });
      expect(body).toMatchObject({ error: { message: "Provide a command to start." } });
    } finally {
      await gateway.stop();
    }
  });

  it("/process and /status: what runs, and what is wrong with an account, in the reader's language", async () => {
    const gateway = await startTestGateway({
      config: {
        tools: { exec: { mode: "full" } },
        channels: { telegram: { botToken: `7:${"x".repeat(35)}`, apiRoot: "http://127.0.0.1:9" } },
      },
    });
    try {
      const dutch = await gateway.person("nl", "nl-NL");
      await dutch.say("/exec sleep 30");
      await dutch.see("run", ({ state }) => state === "running");
      await dutch.say("/process");
      const list = await dutch.see("menu", ({ title }) => title === "Sessies van deze agent");
      expect(list.fields).toMatchObject([{ value: expect.stringMatching(/^loopt, \d/), note: "sleep 30" }]);
      await dutch.say("/process kill");
      await dutch.see("menu", ({ title }) => title === "Welke sessie? kill");
      await dutch.say("/status");
      const isStatus = (label: string) => label === "telegram";
      const { fields } = await dutch.see("text", (card) => card.fields?.some(({ label }) => isStatus(label)) === true);
      expect(fields?.find(({ label }) => isStatus(label))?.note).toMatch(
        /^Telegram is niet bereikbaar \(.+\); er wordt opnieuw geprobeerd\.$/,
      );
      // Programs read English.
      const { channels } = await dutch.call("channels.status", {});
      const telegram = channels.find(({ channel }) => channel === "telegram");
      expect(telegram?.detail).toMatch(/^Telegram can not be reached \(.+\); trying again\.$/);
    } finally {
      await gateway.stop();
    }
  });

  it("requests that wait are shown in the configured language where nobody has spoken yet", async () => {
    const gateway = await startTestGateway({
      config: { tools: { exec: { mode: "ask" } }, messages: { locale: "pt-BR" } },
    });
    try {
      const watcher = await gateway.person("main");
      await gateway.tool("exec", { command: "touch made" });
      const card = await watcher.see("approval", ({ command }) => command === "touch made");
      expect(card.reasons).toEqual(["“touch” não está na allowlist"]);
    } finally {
      await gateway.stop();
    }
  });
});
