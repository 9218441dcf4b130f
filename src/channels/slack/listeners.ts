/**
 * What arrives: messages are stored and then acknowledged, interactions the other way round, because their tokens die
 * after 3 s and Slack does not send them again.
 */
import type { App, webApi } from "@slack/bolt";
import { ExecError } from "../../core/errors.ts";
import type { Actor } from "../../core/route.ts";
import { type Messages, messagesFor } from "../../core/words/messages.ts";
import { type AdapterDeps, describeError } from "../adapter-deps.ts";
import type { Inbound, Ingress, MessageRef } from "../channel.ts";
import type { NewerMessages } from "../newer-messages.ts";
import { REASON_BLOCK, REASON_CALLBACK, REASON_INPUT, reasonModal } from "./cards.ts";
import type { HeardChannels } from "./deafness.ts";
import {
  type MessageFacts,
  type MessageRules,
  type PressFacts,
  readCommand,
  readMessage,
  readPress,
  readReason,
  type SlackIdentity,
  standingIn,
  userGroupsIn,
  writeReasonMetadata,
} from "./inbound.ts";
import { INGRESS_MS, LOOKUP_MS, QUICK_LOOKUP_MS } from "./limits.ts";
import type { People, Threads, UserGroups } from "./lookup.ts";
import { escapeMrkdwn } from "./markup.ts";
import type { PrivateAnswers } from "./private-answers.ts";
import type { ResponseUrls } from "./response-urls.ts";

/** What besides a mention and a direct message addresses the bot. */
export interface ImplicitMentions {
  /** A reply in a thread that the bot began. */
  readonly replyToBot: boolean;
  /** A message in a thread the bot took part in. */
  readonly threadParticipation: boolean;
}

export interface ListenerOptions {
  readonly identity: SlackIdentity;
  readonly rules: MessageRules;
  readonly implicitMentions: ImplicitMentions;
  /** `name` false: there is none. */
  readonly wrapper: { readonly name: string | false; readonly answersAll: boolean };
  readonly people: People;
  readonly threads: Threads;
  readonly userGroups: UserGroups;
  readonly newer: NewerMessages;
  readonly heard: HeardChannels;
  readonly privately: PrivateAnswers;
  readonly responseUrls: ResponseUrls;
  readonly ingress: Ingress;
  readonly deps: Pick<AdapterDeps, "clock" | "log" | "redactor" | "locale">;
}

interface Interaction {
  readonly id: string;
  readonly userId: string;
  readonly userName: string | undefined;
  readonly route: Inbound["route"];
}

type InteractionBody =
  | { readonly kind: "command"; readonly name: string; readonly args: string; readonly answersAll?: boolean }
  | {
      readonly kind: "press";
      readonly action: Extract<Inbound, { kind: "press" }>["action"];
      readonly ref: MessageRef;
    };

export class SlackListeners {
  private readonly options: ListenerOptions;

  constructor(options: ListenerOptions) {
    this.options = options;
  }

  attach(app: App): void {
    for (const name of ["message", "app_mention"]) app.event(name, ({ event }) => this.onMessage(event));
    app.command(/^\//, async ({ ack, command }) => {
      await ack();
      await this.onCommand(command);
    });
    app.action(/^/, async ({ ack, body, client }) => {
      await ack();
      await this.onPress(body, client);
    });
    app.view(REASON_CALLBACK, async ({ ack, body }) => {
      await ack();
      await this.onReason(body);
    });
  }

  /** @throws ExecError when it could not be stored: then it must come again. */
  async onMessage(event: unknown): Promise<void> {
    this.options.heard.note(event);
    for (const { place, ts } of standingIn(event)) this.options.newer.note(place, ts);
    const { identity, rules, userGroups } = this.options;
    const facts = readMessage(event, identity, rules, await userGroups.withBot(userGroupsIn(event)));
    if (facts === undefined) return;
    const [addressed, actor] = await Promise.all([
      this.isAddressed(facts),
      this.actor(facts.userId, undefined, LOOKUP_MS, facts.fromBot ? "agent" : "person"),
    ]);
    const { id, route, text } = facts;
    const receivedAtMs = this.options.deps.clock.now();
    const mentionsOthers = facts.mentionsOthers && !facts.mentionsBot;
    await storedInTime(
      this.options.ingress({
        kind: "message",
        id,
        route,
        actor,
        text,
        addressed,
        receivedAtMs,
        ...(mentionsOthers ? { mentionsOthers } : {}),
      }),
    );
  }

  private async onCommand(payload: unknown): Promise<void> {
    const { identity, wrapper, responseUrls } = this.options;
    const facts = readCommand(payload, identity, wrapper.name);
    if (facts === undefined) return;
    responseUrls.remember(facts.userId, facts.route.chatId, facts.responseUrl);
    const answersAll = facts.wrapped && wrapper.answersAll;
    await this.take(facts, {
      kind: "command",
      name: facts.name,
      args: facts.args,
      ...(answersAll ? { answersAll } : {}),
    });
  }

  private async onPress(body: unknown, client: webApi.WebClient): Promise<void> {
    const facts = readPress(body, this.options.identity);
    if (facts === undefined) return;
    const { responseUrls } = this.options;
    responseUrls.remember(facts.userId, facts.route.chatId, facts.responseUrl);
    responseUrls.rememberPressed(facts.route.chatId, facts.messageTs, facts.responseUrl);
    const { action } = facts;
    if (action === undefined || action.kind === "more") {
      await this.tell(facts, (await this.messages(facts.userId)).notice.buttonOutdated);
    } else if (action.kind === "deny-reason") {
      await this.askReason(facts, action.approvalId, client);
    } else {
      await this.take(facts, { kind: "press", action, ref: this.refOf(facts) });
    }
  }

  private async askReason(facts: PressFacts, approvalId: string, client: webApi.WebClient): Promise<void> {
    const messages = await this.messages(facts.userId);
    try {
      const view = reasonModal(messages, writeReasonMetadata(facts, approvalId));
      await client.views.open({ trigger_id: facts.triggerId, view });
    } catch (error) {
      this.options.deps.log.warn({ why: this.describe(error) }, "The reason dialog could not be opened");
      await this.tell(facts, messages.notice.tryAgain);
    }
  }

  private async onReason(body: unknown): Promise<void> {
    const facts = readReason(body, this.options.identity, { block: REASON_BLOCK, input: REASON_INPUT });
    if (facts === undefined) return;
    const { approvalId, comment } = facts;
    const action = { kind: "approval", approvalId, decision: "deny", ...(comment === "" ? {} : { comment }) } as const;
    await this.take(facts, { kind: "press", action, ref: this.refOf(facts) });
  }

  /** Slack was told already: when it can not be stored, the person must hear it. */
  private async take(facts: Interaction, body: InteractionBody): Promise<void> {
    const { id, route, userId, userName } = facts;
    const actor = await this.actor(userId, userName, QUICK_LOOKUP_MS);
    try {
      const receivedAtMs = this.options.deps.clock.now();
      await this.options.ingress({ id, route, actor, addressed: true, receivedAtMs, ...body });
    } catch (error) {
      this.options.deps.log.error(
        { event: body.kind, why: this.describe(error) },
        "An interaction could not be stored",
      );
      await this.tell(facts, messagesFor(actor.locale, this.options.deps.locale).notice.tryAgain);
    }
  }

  private async tell(facts: Interaction, text: string): Promise<void> {
    await this.options.privately.respond(facts.userId, facts.route.chatId, { text: escapeMrkdwn(text) });
  }

  private async isAddressed(facts: MessageFacts): Promise<boolean> {
    if (facts.route.chatType === "dm" || facts.mentionsBot) return true;
    const { inThread } = facts;
    const { replyToBot, threadParticipation } = this.options.implicitMentions;
    if (inThread === undefined) return false;
    if (inThread.startedByBot) return replyToBot || threadParticipation;
    return threadParticipation && (await this.options.threads.tookPart(facts.route.chatId, inThread.ts));
  }

  private async actor(
    id: string,
    name: string | undefined,
    waitMs: number,
    kind: "person" | "agent" = "person",
  ): Promise<Actor> {
    const person = await this.options.people.find(id, waitMs);
    const display = person.display ?? name;
    return {
      kind,
      channel: "slack",
      accountId: this.options.identity.accountId,
      id,
      ...(display === undefined ? {} : { display }),
      ...(person.locale === undefined ? {} : { locale: person.locale }),
    };
  }

  private async messages(userId: string): Promise<Messages> {
    const person = await this.options.people.find(userId, LOOKUP_MS);
    return messagesFor(person.locale, this.options.deps.locale);
  }

  private refOf(facts: { readonly route: Inbound["route"]; readonly messageTs: string }): MessageRef {
    const { accountId, chatId, threadId } = facts.route;
    const base = { channel: "slack", accountId, chatId, messageId: facts.messageTs } as const;
    return threadId === undefined ? base : { ...base, threadId };
  }

  private describe(error: unknown): string {
    return describeError(error, this.options.deps.redactor);
  }
}

/** Not stored within Slack's patience: fail, so that it is not acknowledged and comes again; the id keeps it single. */
async function storedInTime(stored: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new ExecError("internal", "The event was not stored in time.")), INGRESS_MS);
  });
  try {
    await Promise.race([stored, late]);
  } finally {
    clearTimeout(timer);
  }
}
