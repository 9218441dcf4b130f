/** What `pairing` does, through the running gateway. */
import { PAIRING_CODE_LENGTH } from "../core/access/pairing.ts";
import { editConfig } from "../core/config/edit.ts";
import { loadConfig } from "../core/config/load.ts";
import type { PairingEntry } from "../protocol/frames.ts";
import { type Cli, EXIT } from "./io.ts";
import { withGateway } from "./with-gateway.ts";

const PLATFORMS = ["slack", "discord", "telegram"] as const;
type Platform = (typeof PLATFORMS)[number];

export async function list(cli: Cli, channel: string | undefined, flags: { json?: boolean }): Promise<number> {
  if (channel !== undefined && !PLATFORMS.includes(channel as Platform)) {
    return noSuchChannel(cli, channel);
  }
  const { requests } = await withGateway(cli, {}, (client) =>
    client.request("pairing.list", channel === undefined ? {} : { channel: channel as Platform }),
  );
  if (flags.json) {
    cli.out(JSON.stringify(requests, null, 2));
    return EXIT.ok;
  }
  if (requests.length === 0) cli.out("Nobody is waiting to be let in.");
  for (const one of requests) {
    cli.out(`${one.code}  ${person(one)}, until ${new Date(one.expiresAtMs).toISOString()}`);
  }
  return EXIT.ok;
}

export async function approve(cli: Cli, words: readonly string[], { account }: { account?: string }): Promise<number> {
  // A code says by itself where it belongs; the channel before it is accepted, and has to be the right one.
  const channel = PLATFORMS.find((platform) => platform === words[0] && words.length > 1);
  const code = (channel === undefined ? words : words.slice(1)).join("");
  // A code may be typed in two halves; a whole one behind a word that is no channel is not that.
  const [first = "", second = ""] = words;
  if (channel === undefined && words.length === 2 && plainCode(second).length === PAIRING_CODE_LENGTH) {
    return noSuchChannel(cli, first);
  }
  if (channel !== undefined || account !== undefined) {
    const { requests } = await withGateway(cli, {}, (client) =>
      client.request("pairing.list", channel === undefined ? {} : { channel }),
    );
    const wanted = plainCode(code);
    if (!requests.some((one) => one.code === wanted && (account === undefined || one.accountId === account))) {
      const where = [channel, account].filter((part) => part !== undefined).join("/");
      cli.err(`Nobody on ${where} is waiting with this code. openclaw-exec pairing list shows who is.`);
      return EXIT.failed;
    }
  }
  const entry = await withGateway(cli, {}, (client) => client.request("pairing.approve", { code }));
  cli.out(`${person(entry)} may now talk to the bot directly.`);
  await becomeFirstOwner(cli, entry);
  return EXIT.ok;
}

export async function dismiss(cli: Cli, code: string): Promise<number> {
  const entry = await withGateway(cli, {}, (client) => client.request("pairing.dismiss", { code }));
  cli.out(`Dismissed the request of ${person(entry)}.`);
  return EXIT.ok;
}

function noSuchChannel(cli: Cli, channel: string): number {
  cli.err(`There is no channel "${channel}". Use one of: ${PLATFORMS.join(", ")}.`);
  return EXIT.usage;
}

function plainCode(text: string): string {
  return text.replace(/[\s-]/g, "").toUpperCase();
}

/** The first person let in from this terminal while there is no owner becomes one (channels.md 2.2); nobody after. */
async function becomeFirstOwner(cli: Cli, entry: PairingEntry): Promise<void> {
  const loaded = await loadConfig({ env: cli.env, workingDir: cli.cwd });
  if (!loaded.ok || loaded.config.commands.ownerAllowFrom.length > 0) return;
  const owner = `${entry.channel}:${entry.actorId}`;
  await editConfig(loaded, { kind: "set", path: ["commands", "ownerAllowFrom"], value: [owner] });
  cli.out(`There was no owner yet: ${owner} is one now (commands.ownerAllowFrom), may approve and administer.`);
}

function person(entry: PairingEntry): string {
  return `${entry.display ? `${entry.display} ` : ""}${entry.channel}:${entry.actorId}`;
}
