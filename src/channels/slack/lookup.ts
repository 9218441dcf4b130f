/** What the adapter asks Slack while an event waits: bounded in time, remembered, and never a reason to lose the event. */
import type { webApi } from "@slack/bolt";
import { Recent } from "../recent.ts";
import { LOOKUP_MS } from "./limits.ts";

type ReadClient = webApi.WebClient;

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
  private readonly client: ReadClient;
  private readonly now: () => number;

  constructor(client: ReadClient, now: () => number) {
    this.client = client;
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
    const { user } = await this.client.users.info({ user: userId, include_locale: true });
    const display = user?.profile?.display_name || user?.real_name || user?.name;
    const locale = user?.locale;
    return { ...(display === undefined ? {} : { display }), ...(locale === undefined ? {} : { locale }) };
  }
}

/** Whether the bot has spoken in a thread: then a reply there is meant for it. */
export class Threads {
  private readonly known = new Recent<Promise<boolean>>(5000);
  private readonly client: ReadClient;
  private readonly botUserId: string;

  constructor(client: ReadClient, botUserId: string) {
    this.client = client;
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
    const { messages } = await this.client.conversations.replies({ channel, ts, limit: 200 });
    return (messages ?? []).some((message) => message.user === this.botUserId);
  }
}
