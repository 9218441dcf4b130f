/**
 * `messages.groupChat.mentionPatterns`: other words that address the bot in a room, for platforms and people that do not
 * mention it natively (channels.md section 2.3). Pure.
 */

/** Only the start of a message is searched: patterns are the operator's, messages are anybody's. */
export const MENTION_WINDOW = 1_000;

export interface Addressed {
  readonly addressed: boolean;
  /** Without the words that addressed the bot, when the message begins with them: what follows may be a command. */
  readonly text: string;
}

/** The first pattern that fits counts; case does not. */
export function addressedByPattern(text: string, patterns: readonly string[]): Addressed {
  const said = text.trimStart();
  const head = said.slice(0, MENTION_WINDOW);
  for (const pattern of patterns) {
    const match = new RegExp(pattern, "iu").exec(head);
    if (match === null || match[0] === "") continue;
    if (match.index > 0) return { addressed: true, text };
    return { addressed: true, text: said.slice(match[0].length).replace(/^[\s:,]+/, "") };
  }
  return { addressed: false, text };
}
