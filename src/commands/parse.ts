/**
 * Text that is a command: `/name rest`, `/name: rest`, `/name@bot rest`, and, when enabled, `!cmd`. The rest stays as
 * it was typed.
 */

export interface ParsedCommand {
  readonly name: string;
  readonly args: string;
  /** `/name@bot`: the adapter has checked that it is this bot, or drops the message. */
  readonly bot?: string;
}

const SLASH = /^\/([a-z][a-z0-9_-]{0,31})(?:@([A-Za-z0-9_]{1,64}))?(?::(?=\s|$)|(?=\s|$))([\s\S]*)$/i;

export function parseCommand(text: string, options: { readonly bash: boolean }): ParsedCommand | undefined {
  const trimmed = text.replace(/^[^\S\n]+/, "");
  if (options.bash && trimmed.startsWith("!") && trimmed.length > 1 && !trimmed.startsWith("!!")) {
    return { name: "bash", args: trimmed.slice(1).trim() };
  }
  const match = SLASH.exec(trimmed);
  if (!match) return undefined;
  const [, name = "", bot, rest = ""] = match;
  return { name: name.toLowerCase(), args: rest.trim(), ...(bot ? { bot } : {}) };
}

/** Commands that make sense only with something behind them, and those that stand alone. */
const WITH_ARGUMENTS = new Set(["exec", "approve", "process", "pair", "allowlist"]);
const ALONE = new Set(["help", "status", "stop", "whoami", "commands", "approve", "process", "pair", "allowlist"]);

/**
 * `@bot exec ls` without the slash: where a platform keeps `/` for itself, people address the bot by name. Only the
 * exact first word counts, and only in a message that addressed the bot; anything else stays words.
 */
export function parseAddressed(text: string): ParsedCommand | undefined {
  const match = /^\s*([a-z]+)(?:\s+([\s\S]*\S))?\s*$/i.exec(text);
  const name = match?.[1]?.toLowerCase() ?? "";
  const args = match?.[2] ?? "";
  if (args === "" ? ALONE.has(name) : WITH_ARGUMENTS.has(name)) return { name, args };
  return undefined;
}
