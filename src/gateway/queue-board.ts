/** Bull Board at `/queues`: what waits, runs and failed in Redis, for the operator. Loaded with its first request. */
import { createBullBoard } from "@bull-board/api";
import { HonoAdapter } from "@bull-board/hono";
import { serveStatic } from "@hono/node-server/serve-static";
import { Hono } from "hono";
import type { BoardQueue } from "../core/events/bullmq-board.ts";

const BOARD_PATH = "/queues";

export type QueueBoard = Pick<Hono, "fetch">;

/** The page and what it asks for, all below `BOARD_PATH`. */
export async function createQueueBoard(queues: () => Promise<readonly BoardQueue[]>): Promise<QueueBoard> {
  const adapter = new HonoAdapter(serveStatic).setBasePath(BOARD_PATH);
  const first = await queues();
  const board = createBullBoard({
    queues: first,
    serverAdapter: adapter,
    options: { uiConfig: { boardTitle: "openclaw-exec", hideDocsLink: true, showWorkers: false } },
  });
  const pages = new Hono({ strict: false }).route(BOARD_PATH, adapter.registerPlugin());
  const shown = new Set(first.map((queue) => queue.getName()));
  return {
    async fetch(request, ...rest) {
      if (request.url.includes(`${BOARD_PATH}/api/`)) await showNewOnes();
      return pages.fetch(request, ...rest);
    },
  };

  /** Kinds of jobs that were first used after the page was opened. */
  async function showNewOnes(): Promise<void> {
    for (const queue of await queues()) {
      if (shown.has(queue.getName())) continue;
      shown.add(queue.getName());
      board.addQueue(queue);
    }
  }
}
