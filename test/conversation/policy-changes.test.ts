/** Whoever changes what may run: it is written down, old and new, and the owners who did not do it hear of it. */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import JSON5 from "json5";
import { describe, expect, it } from "vitest";
import { cliHome } from "../cli/run-cli.ts";
import { eventually } from "../support/state.ts";
import { PLATFORMS } from "./places/places.ts";
import { type Stage, stage, WAIT_MS } from "./stage.ts";

const TOLD_MS = 25_000;

function says({ place }: Stage, user: string, chat: string, words: RegExp, ms = WAIT_MS): Promise<unknown> {
  return eventually(() => words.test(place.screen(user, chat)), ms).catch(() => {
    throw new Error(place.screen(user, chat));
  });
}

async function trail({ gateway }: Stage) {
  const operator = await gateway.person("trail");
  const { entries } = await operator.call("audit.read", { limit: 500 });
  await operator.leave();
  return entries.map(({ event }) => event).filter((event) => event.type === "policy-changed");
}

function notices({ place }: Stage, user: string) {
  return place.posted(user, place.direct(user)).filter(({ text }) => /What may run was changed/.test(text));
}

describe.each(PLATFORMS)("a policy that is changed on %s", (_name, open) => {
  const on = stage(open, { twoOwners: true });

  it("137365: only an owner loosens with /exec; the others hear of it, together with a rule that was stored meanwhile", async () => {
    const { place } = on;
    const setFull = (user: string) =>
      place.say(user, place.room, `@bot ${place.name === "slack" ? "" : "/"}exec security=full ask=off`);
    await setFull(place.guest);
    await says(on, place.guest, place.room, /Only an owner may open what the configuration keeps closed/);
    const file = on.freshFile("closed");
    const card = await on.ask(`touch ${file}`);
    expect(await on.workspaceFile(file)).toBeUndefined();
    // Whoever may run commands may tighten.
    await place.say(place.guest, place.room, `@bot ${place.name === "slack" ? "" : "/"}exec ask=always`);
    await says(on, place.guest, place.room, /Set for this conversation/);

    await setFull(place.owner);
    await on.press(card, "always", place.owner);
    await on.written(file);
    await eventually(() => notices(on, place.second).length > 0, TOLD_MS);
    await eventually(() => notices(on, place.second).some(({ text }) => text.includes(`touch`)), TOLD_MS);
    const [told] = notices(on, place.second);
    const plain = (told?.text ?? "").replaceAll("\\", "");
    expect(plain).toContain("security=allowlist ask=always → security=full ask=off");
    expect(plain).toMatch(/alice/i);
    expect(notices(on, place.second)).toHaveLength(1);
    expect(notices(on, place.owner)).toEqual([]);
    expect(await trail(on)).toMatchObject([
      {
        source: "/exec",
        actor: { id: place.owner },
        changes: [{ before: "security=allowlist ask=always", after: "security=full ask=off" }],
      },
    ]);
  });

  it("a rule that the command line adds, and a configuration that was edited while the gateway was away, are noticed", async () => {
    const { place, gateway } = on;
    const env = { ...place.env, OPENCLAW_STATE_DIR: gateway.stateDir, HOME: gateway.stateDir };
    const added = await cliHome().runWith({ env }, "approvals", "allowlist", "add", "git");
    expect(added).toMatchObject({ code: 0, out: "Allowed for every agent: git" });
    await eventually(async () => (await trail(on)).some(({ source }) => source === "exec-approvals.json"), TOLD_MS);
    await eventually(() => notices(on, place.owner).some(({ text }) => /exec-approvals\.json/.test(text)), TOLD_MS);

    const path = join(gateway.stateDir, "openclaw.json");
    const config = JSON5.parse(await readFile(path, "utf8"));
    await writeFile(path, JSON5.stringify({ ...config, tools: { exec: { mode: "full" } } }), { mode: 0o600 });
    await on.restart();
    await eventually(() => notices(on, place.owner).some(({ text }) => /ask → full/.test(text)), TOLD_MS);
    const changes = (await trail(on))
      .filter(({ source }) => source === "openclaw.json")
      .flatMap((event) => event.changes);
    expect(changes).toContainEqual({ key: "tools.exec.mode", before: "ask", after: "full" });
  });
});
