/** What each WebSocket method does: parse with the protocol's schema, hand on, give back. */
import type { z } from "zod";
import type { Actor } from "../core/route.ts";
import { type MethodName, type MethodResults, methods } from "../protocol/frames.ts";
import type { ServerDeps } from "./server-deps.ts";
import type { Watches } from "./watches.ts";

export interface MethodContext {
  readonly deps: ServerDeps;
  readonly actor: Actor;
  readonly watches: Watches;
}

type Callable = Exclude<MethodName, "connect">;

export interface Answer<M extends Callable = Callable> {
  readonly payload: MethodResults[M];
  /** Called once the payload is on its way, so that no event overtakes it. */
  readonly sent?: () => void;
}

type Handlers = {
  readonly [M in Callable]: (params: z.output<(typeof methods)[M]>, context: MethodContext) => Promise<Answer<M>>;
};

const handlers: Handlers = {
  async "chat.open"(params, { watches }) {
    const { result, start } = await watches.open(params);
    return { payload: result, sent: start };
  },
  async "chat.close"({ chatId }, { watches }) {
    await watches.close(chatId);
    return { payload: { closed: true } };
  },
  async "chat.older"(params, { deps }) {
    return { payload: await deps.webChats.older(params) };
  },
  async "chat.send"(params, { deps, actor }) {
    await deps.webChats.say({ ...params, locale: actor.locale });
    return { payload: { accepted: true } };
  },
  async "chat.press"({ chatId, clientId, action }, { deps, actor }) {
    await deps.webChats.press({ chatId, clientId, action: withoutUndefined(action), locale: actor.locale });
    return { payload: { accepted: true } };
  },
  async "chat.complete"({ text }, { deps, actor }) {
    return { payload: { items: await deps.complete(text, actor) } };
  },
  async "run.log"(params, { deps }) {
    return { payload: await deps.runLog(withoutUndefined(params)) };
  },
  async "recordings.list"(_params, { deps }) {
    return { payload: await deps.recordings.list() };
  },
  async "recordings.read"(params, { deps }) {
    return { payload: await deps.recordings.read(withoutUndefined(params)) };
  },
  async "tools.invoke"(params, { deps, actor }) {
    const { content, details } = await deps.invokeTool({ ...withoutUndefined(params), actor });
    return { payload: { content, details } };
  },
  async "approvals.list"(_params, { deps }) {
    return { payload: { approvals: await deps.listApprovals() } };
  },
  async "approvals.resolve"(params, { deps, actor }) {
    return { payload: await deps.resolveApproval({ ...withoutUndefined(params), actor }) };
  },
  async "cron.list"(_params, { deps }) {
    return { payload: { jobs: await deps.cron.list() } };
  },
  async "cron.add"(params, { deps, actor }) {
    return { payload: await deps.cron.add(withoutUndefined(params), actor) };
  },
  async "cron.remove"({ job }, { deps }) {
    return { payload: await deps.cron.remove(job) };
  },
  async "cron.run"({ job }, { deps }) {
    return { payload: await deps.cron.run(job) };
  },
  async "deliveries.list"(_params, { deps }) {
    return { payload: await deps.deadLetters.list() };
  },
  async "deliveries.retry"({ id }, { deps }) {
    return { payload: { letters: await deps.deadLetters.retry(id) } };
  },
  async "deliveries.drop"({ id }, { deps }) {
    return { payload: { letters: await deps.deadLetters.drop(id) } };
  },
  async "pairing.list"({ channel }, { deps }) {
    return { payload: { requests: await deps.pairing.list(channel) } };
  },
  async "pairing.approve"({ code }, { deps, actor }) {
    return { payload: await deps.pairing.approve(code, actor) };
  },
  async "pairing.dismiss"({ code }, { deps, actor }) {
    return { payload: await deps.pairing.dismiss(code, actor) };
  },
  async "nodes.list"(_params, { deps }) {
    return { payload: await deps.nodes.list() };
  },
  async "nodes.code"(_params, { deps, actor }) {
    return { payload: await deps.nodes.code(actor) };
  },
  async "nodes.approve"({ request }, { deps, actor }) {
    return { payload: await deps.nodes.approve(request, actor) };
  },
  async "nodes.reject"({ request }, { deps, actor }) {
    return { payload: await deps.nodes.reject(request, actor) };
  },
  async "nodes.remove"({ node }, { deps, actor }) {
    return { payload: await deps.nodes.remove(node, actor) };
  },
  async "nodes.rename"({ node, name }, { deps, actor }) {
    return { payload: await deps.nodes.rename(node, name, actor) };
  },
  async "nodes.invoke"(params, { deps }) {
    return { payload: { payload: await deps.nodes.invoke(params) } };
  },
  async "channels.status"(_params, { deps }) {
    return { payload: { channels: deps.channelReports() } };
  },
  async "audit.read"(params, { deps }) {
    return { payload: await deps.audit.read(params) };
  },
};

export function isMethod(name: string): name is Callable {
  return Object.hasOwn(handlers, name);
}

export function answer<M extends Callable>(method: M, params: unknown, context: MethodContext): Promise<Answer> {
  const schema = methods[method] as unknown as z.ZodType<z.output<(typeof methods)[M]>>;
  return handlers[method](schema.parse(params ?? {}), context);
}

type Defined<T> = T extends object
  ? { [K in keyof T as undefined extends T[K] ? never : K]: T[K] } & {
      [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>;
    }
  : T;

/** Parsed optional keys may hold `undefined`; inside the product an absent key is absent. */
function withoutUndefined<T extends object>(value: T): Defined<T> {
  return Object.fromEntries(Object.entries(value).filter(([, member]) => member !== undefined)) as Defined<T>;
}
