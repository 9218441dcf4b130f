/** What `deliveries` does, through the running gateway. */
import { showInvisible } from "../channels/text/visible.ts";
import { letterField } from "../commands/deliveries.ts";
import type { LostJob } from "../core/events/lost-job.ts";
import { inEnglish } from "../core/words/phrase.ts";
import { type Cli, EXIT } from "./io.ts";
import { withGateway } from "./with-gateway.ts";

export async function list(cli: Cli, flags: { readonly json?: boolean }): Promise<number> {
  const { letters, total } = await withGateway(cli, {}, (client) => client.request("deliveries.list", {}));
  if (flags.json) cli.out(JSON.stringify(letters, null, 2));
  else if (letters.length === 0) cli.out("Everything was delivered.");
  else {
    for (const letter of letters) cli.out(line(letter));
    if (total > letters.length) cli.out(`and ${total - letters.length} more`);
  }
  return EXIT.ok;
}

export async function change(cli: Cli, action: "retry" | "drop", id: string): Promise<number> {
  const { letters } = await withGateway(cli, {}, (client) => client.request(`deliveries.${action}`, { id }));
  const done = action === "retry" ? "Trying again" : "Dropped";
  if (letters.length === 0) cli.out("There was nothing.");
  else if (letters.length === 1) cli.out(`${done}: ${line(letters[0] as LostJob)}`);
  else cli.out(`${done}: ${letters.length}.`);
  return EXIT.ok;
}

/** Texts and reasons come from outside: nothing in them moves the terminal's cursor. */
function line(letter: LostJob): string {
  const { label, value, note } = letterField(letter);
  const plain = (text: string) => showInvisible(text, { whitespace: "escape" });
  return `${label}  ${plain(inEnglish(value))}\n  ${plain(inEnglish(note))}`;
}
