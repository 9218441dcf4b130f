/** What the adapter asks Slack while an event waits: bounded in time, remembered, and never a reason to lose the event. */
import { Recent } from "../recent.ts";
import { LOOKUP_MS } from "./limits.ts";
import type { SlackReads } from "./reads.ts";

async function within<T>(work: Promise<T>, ms: number): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), ms);
  });
  try {
    return await Promise.race([work.catch(() => undefined), late]);
  } finally {
    clearTimeout(timer);
  }
}

export interface Person {
  readonly display?: string;
  readonly locale?: string;
}

const PERSON_MS = 60 * 60_000;
const NOBODY: Person = {};

export class People {
  private readonly known = new Recent<{ readonly person: Promise<Person>; readonly untilMs: number }>(5000);
  private readonly reads: SlackReads;
  private readonly now: () => number;

  constructor(reads: SlackReads, now: () => number) {
    this.reads = reads;
    this.now = now;
  }

  /** Name and language of a user; empty when Slack does not tell within `waitMs`, and then known the next time. */
  async find(userId: string, waitMs: number): Promise<Person> {
    const known = this.known.get(userId);
    if (known !== undefined && known.untilMs > this.now()) return (await within(known.person, waitMs)) ?? NOBODY;
    const person = this.ask(userId);
    this.known.set(userId, { person, untilMs: this.now() + PERSON_MS });
    person.catch(() => this.known.delete(userId));
    return (await within(person, waitMs)) ?? NOBODY;
  }

  private async ask(userId: string): Promise<Person> {
    const { user } = await this.reads.user(userId);
    const display = user?.profile?.display_name || user?.real_name || user?.name;
    const locale = user?.locale;
    return { ...(display === undefined ? {} : { display }), ...(locale === undefined ? {} : { locale }) };
  }
}

/** How long the members of a user group are remembered. */
const GROUP_MS = 10 * 60_000;

/** Which user groups the bot belongs to: a mention of such a group is one of the bot. Needs `usergroups:read`. */
export class UserGroups {
  private readonly known = new Recent<{ readonly hasBot: Promise<boolean>; readonly untilMs: number }>(500);
  private readonly reads: SlackReads;
  private readonly botUserId: string;
  private readonly now: () => number;
  private readonly onTrouble: (error: unknown) => void;

  constructor(reads: SlackReads, botUserId: string, now: () => number, onTrouble: (error: unknown) => void) {
    this.reads = reads;
    this.botUserId = botUserId;
    this.now = now;
    this.onTrouble = onTrouble;
  }

  /** Those of `groups` with the bot in them; one that Slack does not tell about in time is taken for somebody else's. */
  async withBot(groups: readonly string[]): Promise<ReadonlySet<string>> {
    const asked = groups.slice(0, MAX_GROUPS_ASKED);
    const answers = await Promise.all(asked.map((id) => within(this.hasBot(id), LOOKUP_MS)));
    return new Set(asked.filter((_id, index) => answers[index] === true));
  }

  private hasBot(id: string): Promise<boolean> {
    const known = this.known.get(id);
    if (known !== undefined && known.untilMs > this.now()) return known.hasBot;
    const hasBot = this.ask(id).catch((error: unknown) => {
      this.onTrouble(error);
      return false;
    });
    this.known.set(id, { hasBot, untilMs: this.now() + GROUP_MS });
    return hasBot;
  }

  private async ask(usergroup: string): Promise<boolean> {
    const { users } = await this.reads.groupMembers(usergroup);
    return users?.includes(this.botUserId) ?? false;
  }
}

/** A message that mentions more groups than this is asked about no further. */
const MAX_GROUPS_ASKED = 5;

/** Whether the bot has spoken in a thread: then a reply there is meant for it. */
export class Threads {
  private readonly known = new Recent<Promise<boolean>>(5000);
  private readonly reads: SlackReads;
  private readonly botUserId: string;

  constructor(reads: SlackReads, botUserId: string) {
    this.reads = reads;
    this.botUserId = botUserId;
  }

  remember(chatId: string, threadTs: string): void {
    this.known.set(`${chatId}|${threadTs}`, Promise.resolve(true));
  }

  async tookPart(chatId: string, threadTs: string): Promise<boolean> {
    const key = `${chatId}|${threadTs}`;
    let answer = this.known.get(key);
    if (answer === undefined) {
      answer = this.ask(chatId, threadTs);
      this.known.set(key, answer);
      answer.catch(() => this.known.delete(key));
    }
    return (await within(answer, LOOKUP_MS)) ?? false;
  }

  private async ask(channel: string, ts: string): Promise<boolean> {
    const { messages } = await this.reads.replies({ channel, ts, limit: 200 });
    return (messages ?? []).some((message) => message.user === this.botUserId);
  }
}
