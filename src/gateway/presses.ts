/** What a press on a button does, once whoever pressed it was let in. */
import type { CommandContext } from "../commands/command.ts";
import { type Menu, type Menus, type StoredMenu, staleMenu } from "../commands/menus.ts";
import type { CommandServices } from "../commands/services.ts";
import { atLeast } from "../core/access/rank.ts";
import { revokedCard } from "../core/approvals/revoked-card.ts";
import type { PressAction } from "../core/cards.ts";
import { ExecError } from "../core/errors.ts";
import type { Deliveries } from "../core/events/deliveries.ts";
import { phrase } from "../core/words/phrase.ts";

/** Of one event, before it is known whether and with what arguments it is a command. */
export type EventContext = Omit<CommandContext, "args" | "offer"> & {
  offer(command: string, menu: Menu): Promise<void>;
};

export interface PressesOptions {
  readonly menus: Menus;
  readonly services: CommandServices;
  readonly deliveries: Pick<Deliveries, "post">;
  /** The whole output of a run, as far as it was kept. */
  readonly logFile: (runId: string) => Promise<{ readonly name: string; readonly path: string } | undefined>;
  /** As if it had been typed. */
  readonly command: (name: string, args: string, context: EventContext) => Promise<void>;
}

/** `asked`: the menu that a choice belongs to. Rejects with an `ExecError` that is for whoever pressed. */
export type Presses = (action: PressAction, context: EventContext, asked?: StoredMenu) => Promise<void>;

export function createPresses({ menus, services, deliveries, logFile, command }: PressesOptions): Presses {
  async function ofRun({ action, runId }: Extract<PressAction, { kind: "run" }>, context: EventContext): Promise<void> {
    if (!atLeast(context.rank, "authorized")) {
      throw new ExecError("not-authorized", phrase("error.access.buttons"));
    }
    const record = await services.runs.get(runId);
    if (!record) throw new ExecError("session-unknown", phrase("error.run.unknown"));
    switch (action) {
      case "stop":
        if (!(await services.stopRun(runId))) {
          throw new ExecError("session-unknown", phrase("error.run.notRunning", { session: record.sessionId }));
        }
        return;
      case "run-again":
        await services.exec.begin(
          {
            command: record.command,
            workdir: record.cwd,
            // Where it ran, never on another machine.
            ...(record.node ? { host: "node", node: record.node.id } : {}),
            ...(record.timeoutMs !== undefined ? { timeout: record.timeoutMs / 1000 } : {}),
          },
          {
            requestId: context.eventId,
            agentId: record.agentId,
            sessionKey: context.sessionKey,
            actor: context.actor,
            route: context.route,
            fromChannel: true,
          },
        );
        return;
      case "full-log": {
        const file = await logFile(runId);
        await deliveries.post({
          key: `full-log:${context.eventId}`,
          route: context.route,
          card: file
            ? { kind: "text", tone: "info", text: phrase("chat.log", { session: record.sessionId }) }
            : { kind: "text", tone: "warning", text: phrase("chat.log.gone", { session: record.sessionId }) },
          onlyFor: context.actor,
          ...(file ? { file } : {}),
        });
      }
    }
  }

  /** Whoever comes too late is told what was decided, and sees it on the card (channels.md 5.6). */
  async function decide(action: Extract<PressAction, { kind: "approval" }>, context: EventContext): Promise<void> {
    const { approvalId, decision, comment } = action;
    try {
      const { applied } = await services.approvals.resolve(approvalId, decision, context.actor, {
        route: context.route,
        ...(comment ? { comment } : {}),
      });
      if (!applied) await services.approvalDesk.tooLate(approvalId, context);
    } catch (error) {
      const isLate =
        error instanceof ExecError && (error.code === "approval-already-decided" || error.code === "approval-expired");
      if (isLate) await services.approvalDesk.tooLate(approvalId, context);
      throw error;
    }
  }

  async function besides(
    { action, approvalId }: Extract<PressAction, { kind: "approval-action" }>,
    context: EventContext,
  ): Promise<void> {
    const { approvalDesk } = services;
    switch (action) {
      case "full-command": {
        const { card, file } = await approvalDesk.fullCommand(approvalId, context);
        await deliveries.post({
          key: `full-command:${context.eventId}`,
          route: context.route,
          card,
          onlyFor: context.actor,
          ...(file ? { file } : {}),
        });
        return;
      }
      case "snooze":
        await context.reply(await approvalDesk.snooze(approvalId, context), { private: true });
        return;
      case "ask-again":
        await approvalDesk.askAgain(approvalId, context);
    }
  }

  return async (action, context, asked) => {
    switch (action.kind) {
      case "menu":
        if (asked === undefined) throw staleMenu();
        // As if whoever chose had typed it: their rank is asked, and the command's own checks are the same.
        return command(asked.command, await menus.choose(asked, action.choice, context), context);
      case "approval":
        return decide(action, context);
      case "revoke": {
        const done = await services.approvals.revoke(action.approvalId, context.actor, { route: context.route });
        return context.reply(revokedCard(done), { private: true });
      }
      case "approval-action":
        return besides(action, context);
      case "pairing":
        await services.pairingDesk.answer(action.requestId, action.decision, context);
        return;
      case "run":
        return ofRun(action, context);
    }
  };
}
