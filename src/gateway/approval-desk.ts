/**
 * What a request's card can do besides being decided: show the whole command to one person, be put off, and, when nobody
 * decided it, be asked once more.
 */
import { displayCommand } from "../channels/cards/command-display.ts";
import type { Redactor } from "../channels/text/redact.ts";
import type { ApprovalDesk } from "../commands/services.ts";
import { atLeast } from "../core/access/rank.ts";
import type { Approvals } from "../core/approvals/approvals.ts";
import { settledError } from "../core/approvals/late-answer.ts";
import { type ApprovalRecord, isAskable, slugOf } from "../core/approvals/record.ts";
import { placeOfPress } from "../core/approvals/snooze.ts";
import type { TextCard } from "../core/cards.ts";
import type { Clock } from "../core/clock.ts";
import { ExecError } from "../core/errors.ts";
import type { Announcements } from "../core/events/announcements.ts";
import type { ExecTool } from "../core/exec/exec-tool.ts";
import { actorLabel, type Route } from "../core/route.ts";
import { phrase, type Wording } from "../core/words/phrase.ts";

/**
 * Share of a message that a command may take before it comes as a file: escaping can make it several times as long, and a
 * command that is cut into messages is not seen as one.
 */
const INLINE_SHARE = 1 / 3;
/** More lines are easier read in a file. */
const INLINE_LINES = 15;

export interface ApprovalDeskOptions {
  readonly approvals: Approvals;
  readonly exec: Pick<ExecTool, "begin">;
  readonly announcements: Pick<Announcements, "askedAgain" | "redraw">;
  readonly redactor: Redactor;
  readonly clock: Clock;
  /** What a message of this route's channel holds. */
  readonly roomOf: (route: Route) => { readonly maxText: number; readonly files: boolean };
}

export function createApprovalDesk(options: ApprovalDeskOptions): ApprovalDesk {
  const { approvals, exec, announcements, redactor, clock } = options;

  return {
    async tooLate(id, { actor, route }) {
      const record = await approvals.get(id);
      if (!record || record.status === "pending") return;
      const at = placeOfPress(record.shownAt, route, actor);
      if (at) await announcements.redraw(record.id, at);
    },

    async fullCommand(id, { actor, route }) {
      const { record } = await approvals.examine(id, actor, { route });
      const slug = slugOf(record.id);
      const display = displayCommand(record.request.command, redactor);
      const { characters, sha256, masked } = display;
      const card: TextCard<Wording> = {
        kind: "text",
        tone: "info",
        title: phrase("request.command", { slug }),
        // Over a command that hides a secret a fingerprint would let others try which secret it is.
        text:
          masked > 0
            ? phrase("request.command.masked", { characters, masked })
            : phrase("request.command.print", { characters, hash: sha256 }),
      };
      const { maxText, files } = options.roomOf(route);
      const isShort = display.text.length <= maxText * INLINE_SHARE && display.text.split("\n").length <= INLINE_LINES;
      if (isShort || !files) return { card: { ...card, code: display.text } };
      return { card, file: { name: `command-${slug}.txt`, text: display.text } };
    },

    async snooze(id, { actor, route }) {
      const { record, snooze, isNew, shortened } = await approvals.snooze(id, actor, { route });
      const nowMs = clock.now();
      const time = roughly(snooze.untilMs - nowMs);
      if (!isNew)
        return {
          kind: "text",
          tone: "info",
          text: alreadyPutOff(snooze.by.id === actor.id, actorLabel(snooze.by), time),
        };
      const left = roughly(record.expiresAtMs - nowMs);
      return {
        kind: "text",
        tone: "success",
        text: shortened ? phrase("request.snoozed.short", { left, time }) : phrase("request.snoozed", { time }),
      };
    },

    async askAgain(id, { actor, route, rank }) {
      const { record, as } = await approvals.examine(id, actor, { route });
      if (as === "requester" && !atLeast(rank, "authorized")) {
        throw new ExecError("not-authorized", phrase("error.access.buttons"));
      }
      if (!isAskable(record)) throw notAskable(record);
      const newId = await begin(record);
      // After the request, so that a kill in between leaves a button that can be pressed again: the ids are the same then.
      if (!(await approvals.markAskedAgain(record.id, actor, newId))) {
        throw notAskable((await approvals.get(record.id)) ?? record);
      }
      await announcements.askedAgain(record.id);
    },
  };

  /**
   * The same words in the same folder with the same variables, for the same requester and chat, decided by the policy as it
   * is now, and never asked less strictly than then. Two that press at once make one request: its ids come from the old one.
   */
  async function begin({ id, request }: ApprovalRecord): Promise<string | undefined> {
    const begun = await exec.begin(
      {
        command: request.command,
        workdir: request.cwd,
        env: request.env,
        host: request.host,
        ask: request.ask,
        pty: request.pty,
        stdin: request.stdin,
        timeout: (request.timeoutMs ?? 0) / 1000,
        ...(request.node === undefined ? {} : { node: request.node.id }),
      },
      {
        requestId: `asked-again:${id}`,
        agentId: request.agentId,
        sessionKey: request.sessionKey,
        actor: request.requester,
        // From a channel, `ask` of a call counts for nothing where asking is off by now.
        fromChannel: false,
        ...(request.route ? { route: request.route } : {}),
      },
    );
    return begun.kind === "approval" ? begun.record.id : undefined;
  }
}

/** As people say it: nobody wants the moment that went by since. */
function roughly(ms: number): Wording {
  const seconds = Math.ceil(Math.max(0, ms) / 1000);
  if (seconds < 60) return phrase("time.seconds", { seconds });
  const minutes = Math.round(seconds / 60);
  if (minutes < 60) return phrase("time.minutes", { minutes });
  return phrase("time.hours", { hours: Math.floor(minutes / 60), minutes: minutes % 60 });
}

function alreadyPutOff(isOwn: boolean, who: string, time: Wording): Wording {
  return isOwn ? phrase("request.snoozed", { time }) : phrase("request.snoozed.already", { who, time });
}

function notAskable(record: ApprovalRecord): ExecError {
  const slug = slugOf(record.id);
  if (record.askedAgain) {
    const who = actorLabel(record.askedAgain.by);
    return new ExecError("approval-already-decided", phrase("error.approval.askedAgain", { slug, who }));
  }
  if (record.status === "pending") {
    return new ExecError("approval-not-offered", phrase("error.approval.stillWaits", { slug }));
  }
  if (record.status === "expired") {
    return new ExecError("approval-not-offered", phrase("error.approval.ranUnanswered", { slug }));
  }
  return settledError(record);
}
