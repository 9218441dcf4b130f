/**
 * A route to a person (`U…`) as a route to the conversation with them (`D…`): `chat.postMessage` takes both, but
 * `chat.update`, history and files take the conversation only. docs.slack.dev/reference/methods/conversations.open
 */
import type { Outbound } from "../channel.ts";
import { Recent } from "../recent.ts";
import type { SlackReads } from "./reads.ts";

const PERSON = /^[UW][A-Z0-9]+$/;
const MAX_KNOWN = 5_000;

export class DirectChats {
  private readonly reads: SlackReads;
  private readonly known = new Recent<string>(MAX_KNOWN);

  constructor(reads: SlackReads) {
    this.reads = reads;
  }

  /** Rejects with Slack's error when there can be no conversation with this person. */
  async addressed(message: Outbound): Promise<Outbound> {
    if (!PERSON.test(message.route.chatId)) return message;
    return { ...message, route: { ...message.route, chatId: await this.with(message.route.chatId) } };
  }

  async with(user: string): Promise<string> {
    const known = this.known.get(user);
    if (known !== undefined) return known;
    const { channel } = await this.reads.openDirect(user);
    const id = channel?.id ?? user;
    this.known.set(user, id);
    return id;
  }
}
