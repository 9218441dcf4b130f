/**
 * What comes in from every channel: taken durably first, then judged and worked on. The queue's idempotency is the
 * dedupe (one job per platform event, for 24 h), so a redelivered event, a second socket or a crash in the middle
 * never runs a command twice: ids of runs, approvals and replies are made from the event's own id.
 */

import type { BatchLimitsOf } from "../agents/batches.ts";
import type { SpokenTo } from "../agents/turns.ts";
import type { Inbound } from "../channels/channel.ts";
import type { CommandContext } from "../commands/command.ts";
import { createMenus, type Menu, type StoredMenu } from "../commands/menus.ts";
import { type ParsedCommand, parseAddressed, parseCommand } from "../commands/parse.ts";
import { findCommand, nearestCommand } from "../commands/registry.ts";
import type { CommandServices } from "../commands/services.ts";
import type { Access, Knock } from "../core/access/access.ts";
import { addressedByPattern } from "../core/access/mention-patterns.ts";
import { atLeast } from "../core/access/rank.ts";
import type { UnspokenCard } from "../core/cards.ts";
import type { Clock } from "../core/clock.ts";
import type { Config } from "../core/config/schema.ts";
import { ExecError } from "../core/errors.ts";
import type { Deliveries } from "../core/events/deliveries.ts";
import { type Job, type Queue, RetryLater } from "../core/events/queue.ts";
import type { Readers } from "../core/events/readers.ts";
import { type Actor, type Route, routeKey } from "../core/route.ts";
import { sessionKey } from "../core/sessions/sessions.ts";
import type { Store } from "../core/store/store.ts";
import { phrase } from "../core/words/phrase.ts";
import { asRest, CutTexts, isControl } from "./cut-texts.ts";
import { createPresses, type EventContext } from "./presses.ts";

const INBOUND_JOB = "inbound";
const INBOUND_ATTEMPTS = 3;
const INBOUND_CONCURRENCY = 16;
/** An event this old is answered by nobody: its platform token is dead and the person has moved on. */
const INBOUND_MAX_AGE_MS = 15 * 60_000;
/** While the state can not be reached an event is tried again and again; after this long its sender is told. */
const OUTAGE_PATIENCE_MS = 5 * 60_000;
const OUTAGE_RETRY_MS = 1_000;
const DRAIN_RETRY_MS = 1_000;
/** As long as an event can come again. */
const BEGUN_TTL_MS = 24 * 3_600_000;
const BEGUN_NS = "inbound-begun";

export interface IngressOptions {
  readonly store: Store;
  readonly queue: Queue;
  readonly clock: Clock;
  readonly config: () => Config;
  readonly access: Access;
  readonly services: CommandServices;
  readonly deliveries: Deliveries;
  readonly readers: Readers;
  /** The same person with the access groups that their platform finds them in. Never rejects. */
  readonly withGroups: (actor: Actor) => Promise<Actor>;
  readonly agentFor: (event: Inbound) => string;
  /** Words for the agent. Resolves once they are durable; `full`: too many wait already. */
  readonly talk: (message: SpokenTo) => Promise<"taken" | "full" | "no-model">;
  /** True the first time it is asked for this conversation. */
  readonly firstWithoutModel: (sessionKey: string) => Promise<boolean>;
  /** How the words of one person in a row belong together on this route. */
  readonly batchLimits: BatchLimitsOf;
  /** Somebody who may speak to the agent did so here. */
  readonly spokeIn: (agentId: string, route: Route) => Promise<void>;
  readonly onError: (error: unknown, what: string) => void;
  /** The full output of a run as a file, for channels that can show one. */
  readonly logFile: (runId: string) => Promise<{ readonly name: string; readonly path: string } | undefined>;
}

/** Of one event, before it is known whether and with what arguments it is a command. */

export interface Ingress {
  start(): Promise<void>;
  /** Resolves once the event is durable. */
  accept(event: Inbound): Promise<void>;
}

export function createIngress(options: IngressOptions): Ingress {
  const { queue, clock, access, services, deliveries } = options;
  const menus = createMenus({ store: options.store, deliveries });
  const cutTexts = new CutTexts(options.store, options.batchLimits);
  const presses = createPresses({ menus, services, deliveries, logFile: options.logFile, command });

  async function accept(heard: Inbound): Promise<void> {
    const patterned = withPatterns(heard, options.config().messages.groupChat.mentionPatterns);
    const event = { ...patterned, actor: await options.withGroups(patterned.actor) };
    const lane = laneOf(event);
    await queue.add<Inbound>({
      name: INBOUND_JOB,
      id: `inbound:${event.route.channel}:${event.route.accountId}:${event.id}`,
      data: event,
      attempts: INBOUND_ATTEMPTS,
      notAfterMs: clock.now() + INBOUND_MAX_AGE_MS,
      ...(lane ? { key: lane } : {}),
    });
  }

  async function work(job: Job<Inbound>): Promise<void> {
    const asked = await menuOf(job.data);
    let event: Heard = asked === undefined ? job.data : inThreadOf(job.data, asked);
    let replies = 0;
    // Another bot has no private view of a room.
    const canBePrivate = event.actor.kind === "person" && !(event.kind === "command" && event.answersAll);
    const eventId = `${event.route.channel}:${event.route.accountId}:${event.id}`;
    const reply: CommandContext["reply"] = (card, { private: onlyAsker } = {}) =>
      deliveries.post({
        key: `reply:${eventId}:${replies++}`,
        route: event.route,
        card,
        ...(onlyAsker && canBePrivate ? { onlyFor: event.actor } : {}),
      });
    try {
      await options.readers.heard(event);
      const beginning = await cutTexts.restOf(event);
      if (beginning !== undefined) event = { ...asRest(event), isRest: true };
      const admitted = await access.admit(knockOf(event, asked));
      if (admitted.kind === "ignore") return;
      if (admitted.kind === "answer") {
        await reply(admitted.card, { private: true });
        return;
      }
      if (beginning === "command" && !isControl(commandName(event))) {
        // What it would have been the end of was refused, and its sender told.
        await cutTexts.begun(event, "command");
        return;
      }
      const agentId = options.agentFor(event);
      await options.spokeIn(agentId, event.route);
      const context = {
        actor: event.actor,
        route: event.route,
        rank: admitted.rank,
        agentId,
        sessionKey: sessionKey(agentId, event.route, event.actor, options.config().session),
        eventId,
        services,
        reply,
        beginsOnce: () => options.store.setIfAbsent(BEGUN_NS, eventId, true, { ttlMs: BEGUN_TTL_MS }),
        offer: (command: string, menu: Menu) =>
          menus.offer(menu, {
            ...{ command, eventId, actor: event.actor, route: event.route },
            ...(canBePrivate ? { onlyFor: event.actor } : {}),
          }),
      };
      if (event.mayBeCut && givesCommand(event)) {
        // Half a command is another command: `rm -rf build/old` without its end is worse than nothing.
        await cutTexts.begun(event, "command");
        throw new ExecError("command-too-long", phrase("error.command.mayBeCut"));
      }
      if (event.kind === "press") await presses(event.action, context, asked);
      else if (event.kind === "command") await command(event.name, event.args, context);
      else await message(event, context);
    } catch (error) {
      if (!(error instanceof ExecError)) throw error;
      // Taken is taken: what an event starts is started once, however often it is tried.
      const isOutage = error.code === "state-unavailable" && clock.now() - job.enqueuedAtMs < OUTAGE_PATIENCE_MS;
      if (isOutage) throw new RetryLater(OUTAGE_RETRY_MS, error.message);
      // It is kept: the next life of this gateway, or another one, does it.
      if (error.code === "draining") throw new RetryLater(DRAIN_RETRY_MS, error.message);
      await reply(errorCard(error), { private: true });
    }
  }

  function given(event: Extract<Heard, { kind: "message" }>): ParsedCommand | undefined {
    const { text, bash } = options.config().commands;
    return text ? typedCommand(event, bash) : undefined;
  }

  function givesCommand(event: Heard): boolean {
    return event.kind === "command" || (event.kind === "message" && given(event) !== undefined);
  }

  async function message(event: Extract<Heard, { kind: "message" }>, context: EventContext): Promise<void> {
    const parsed = given(event);
    if (parsed) {
      await command(parsed.name, parsed.args, context);
      return;
    }
    // What somebody may not run themselves, an agent does not run for them.
    if (!atLeast(context.rank, "authorized")) {
      if (!event.addressed) return;
      throw new ExecError("not-authorized", phrase("error.access.work"));
    }
    await cutTexts.begun(event, "words");
    const taken = await options.talk({
      eventId: context.eventId,
      atMs: event.receivedAtMs,
      text: event.text,
      actor: event.actor,
      route: event.route,
      agentId: context.agentId,
      sessionKey: context.sessionKey,
      ...(event.mayBeCut ? { mayBeCut: true } : {}),
    });
    if (taken === "full") {
      throw new ExecError("rate-limited", phrase("error.agent.full"));
    }
    if (taken === "no-model" && event.addressed && !event.isRest) await withoutModel(context);
  }

  async function withoutModel(context: EventContext): Promise<void> {
    const isFirst = await options.firstWithoutModel(context.sessionKey);
    await context.reply(
      {
        kind: "text",
        tone: "info",
        text: phrase(isFirst ? "chat.noModel" : "chat.notACommand"),
        hint: phrase(isFirst ? "chat.noModel.hint" : "chat.notACommand.hint"),
      },
      { private: true },
    );
  }

  async function command(name: string, args: string, context: EventContext): Promise<void> {
    const found = findCommand(name);
    if (!found) {
      const near = nearestCommand(name);
      await context.reply(
        {
          kind: "text",
          tone: "warning",
          text: near
            ? phrase("chat.noSuchCommand.near", { name: name.slice(0, 32), near })
            : phrase("chat.noSuchCommand", { name: name.slice(0, 32) }),
          hint: phrase("chat.noSuchCommand.hint"),
        },
        { private: true },
      );
      return;
    }
    if (!atLeast(context.rank, found.rank)) {
      throw new ExecError("not-authorized", phrase("error.access.command", { command: found.name }));
    }
    await found.run({ ...context, args, offer: (menu) => context.offer(found.name, menu) });
  }

  async function menuOf(event: Inbound): Promise<StoredMenu | undefined> {
    if (event.kind !== "press" || event.action.kind !== "menu") return undefined;
    const menu = await menus.find(event.action.menuId);
    const { route } = event;
    const isThere = menu?.route.channel === route.channel && menu.route.accountId === route.accountId;
    return isThere && menu.route.chatId === route.chatId ? menu : undefined;
  }

  return {
    accept,
    start: () =>
      queue.process<Inbound>(
        INBOUND_JOB,
        async (job) => {
          try {
            await work(job);
          } catch (error) {
            if (error instanceof RetryLater) throw error;
            options.onError(error, `working on ${job.id}`);
            if (job.attempt >= INBOUND_ATTEMPTS) {
              await deliveries.post({
                key: `reply:failed:${job.id}`,
                route: job.data.route,
                card: errorCard(new ExecError("internal", phrase("error.internal"))),
                onlyFor: job.data.actor,
              });
            }
            throw error;
          }
        },
        { concurrency: INBOUND_CONCURRENCY },
      ),
  };
}

/** Messages of one conversation keep their order; a press or a stop never waits behind them. */
function laneOf(event: Inbound): string | undefined {
  if (event.kind === "press") return undefined;
  return isControl(commandName(event)) ? undefined : routeKey(event.route);
}

/** `isRest`: of a text that began in an earlier message. */
type Heard = Inbound & { readonly isRest?: true };

function commandName(event: Heard): string | undefined {
  switch (event.kind) {
    case "press":
      return undefined;
    case "command":
      return event.name;
    case "message":
      return typedCommand(event, true)?.name;
  }
}

/** A choice is judged as the command that it completes. */
function knockOf(event: Heard, asked: StoredMenu | undefined): Knock {
  if (asked !== undefined) return { ...event, kind: "command", command: asked.command };
  const name = commandName(event);
  return { ...event, ...(name === undefined ? {} : { command: name }) };
}

/** Platforms do not all say which thread a message stands in that one person sees: the choice belongs to where it was asked. */
function inThreadOf(event: Inbound, { route }: StoredMenu): Inbound {
  return route.threadId === undefined ? event : { ...event, route: { ...event.route, threadId: route.threadId } };
}

/** In a room, words of the configuration address the bot as a mention does. */
function withPatterns(event: Inbound, patterns: readonly string[]): Inbound {
  if (event.kind !== "message" || event.addressed || event.route.chatType === "dm") return event;
  const { addressed, text } = addressedByPattern(event.text, patterns);
  return addressed ? { ...event, addressed, text } : event;
}

function typedCommand(event: Extract<Heard, { kind: "message" }>, bash: boolean): ParsedCommand | undefined {
  const found = parseCommand(event.text, { bash }) ?? (event.addressed ? parseAddressed(event.text) : undefined);
  return event.isRest && !isControl(found?.name) ? undefined : found;
}

function errorCard(error: ExecError): UnspokenCard {
  return { kind: "text", tone: "error", text: error.wording };
}
