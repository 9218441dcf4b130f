/**
 * What is asked of Slack. Each method has its own limit by its tier, and a question over it is not asked: a look-up for an
 * event goes on without its answer, a delivery comes back later. A refusal (HTTP 429) holds the method up for as long as
 * Slack says, and nothing else.
 */
import { webApi } from "@slack/bolt";
import { NotYet } from "../pacing/paced.ts";
import type { SendBudget } from "../pacing/send-budget.ts";
import { READ_METHODS, type ReadMethod, readLane } from "./rates.ts";

type WebClient = webApi.WebClient;
type Arguments<F extends (...given: never[]) => unknown> = Parameters<F>[0];

export interface SlackReadsOptions {
  /** Rejects calls that Slack refuses for their number; what fails otherwise it may try again. */
  readonly client: WebClient;
  readonly budget: SendBudget;
  /** Gateways that ask with the same token. */
  readonly gateways: () => number;
}

/** Every method rejects with `NotYet` when it was not asked, else with Slack's error. */
export class SlackReads {
  private readonly options: SlackReadsOptions;

  constructor(options: SlackReadsOptions) {
    this.options = options;
  }

  history(query: Arguments<WebClient["conversations"]["history"]>) {
    return this.ask("conversations.history", (client) => client.conversations.history(query));
  }

  replies(query: Arguments<WebClient["conversations"]["replies"]>) {
    return this.ask("conversations.replies", (client) => client.conversations.replies(query));
  }

  openDirect(user: string) {
    return this.ask("conversations.open", (client) => client.conversations.open({ users: user }));
  }

  user(user: string) {
    return this.ask("users.info", (client) => client.users.info({ user, include_locale: true }));
  }

  groupMembers(usergroup: string) {
    return this.ask("usergroups.users.list", (client) => client.usergroups.users.list({ usergroup }));
  }

  private async ask<T>(method: ReadMethod, call: (client: WebClient) => Promise<T>): Promise<T> {
    const { budget, client, gateways } = this.options;
    const lane = readLane(method, READ_METHODS[method], gateways());
    const permit = budget.tryNow([lane]);
    if (permit.kind === "wait") throw new NotYet(permit.afterMs);
    try {
      return await call(client);
    } catch (error) {
      if (!(error instanceof webApi.WebAPIRateLimitedError)) throw error;
      const afterMs = Math.max(error.retryAfter, 1) * 1_000;
      budget.refused(lane, afterMs);
      throw new NotYet(afterMs);
    } finally {
      permit.done();
    }
  }
}
