/** Cards that stand beside those of requests and runs. Pure. */

import { type ApprovalRecord, isAskable, slugOf } from "../approvals/record.ts";
import type { TextCard } from "../cards.ts";
import { endLine } from "../exec/run-card.ts";
import type { RunRecord } from "../exec/runs.ts";
import { actorLabel, type Route } from "../route.ts";
import { phrase, type Wording } from "../words/phrase.ts";
import type { Upsert } from "./deliveries.ts";

/** Versions of the line in a chat whose request is shown elsewhere. */
const NOTICE_PENDING_VERSION = 1;
const NOTICE_SETTLED_VERSION = 2;
const NOTICE_ASKED_AGAIN_VERSION = 3;

/** What is left of a card that newer messages have buried. */
export function leftBehind(record: RunRecord): TextCard<Wording> {
  return {
    kind: "text",
    tone: "info",
    text: phrase("run.cameDown", { session: record.sessionId, end: endLine(record) }),
    hint: phrase("run.cameDown.hint"),
  };
}

/** What is left where a request stood that is asked again below. */
export function askedBelow(record: ApprovalRecord): TextCard<Wording> {
  return { kind: "text", tone: "info", text: phrase("request.askedBelow", { slug: slugOf(record.id) }) };
}

/** The line that tells of a no, with the button to ask again where nobody decided it. */
export function refusedCard(record: ApprovalRecord, line: TextCard<Wording>): TextCard<Wording> {
  if (record.status !== "expired" && record.status !== "cancelled") return line;
  const press = { kind: "approval-action", action: "ask-again", approvalId: record.id } as const;
  const label = phrase("request.askAgain");
  return { ...line, actions: isAskable(record) ? [{ label, style: "plain", press }] : [] };
}

type Notice = Upsert & { readonly card: TextCard<Wording> };

/** The line in a chat whose request is shown elsewhere. */
export function noticeOf(record: ApprovalRecord, route: Route, link?: string): Notice {
  const slug = slugOf(record.id);
  const entity = `approval-notice:${record.id}`;
  const who = record.decidedBy ? actorLabel(record.decidedBy) : phrase("request.somebody");
  const settled = (tone: TextCard["tone"], text: Wording, hint?: Wording): Notice => ({
    entity,
    version: NOTICE_SETTLED_VERSION,
    route,
    card: { kind: "text", tone, text, ...(hint === undefined ? {} : { hint }) },
  });
  if (record.askedAgain) {
    const text = phrase("request.askedAgain", { slug, who: actorLabel(record.askedAgain.by) });
    return { ...settled("info", text), version: NOTICE_ASKED_AGAIN_VERSION };
  }
  switch (record.status) {
    case "pending":
      return {
        entity,
        version: NOTICE_PENDING_VERSION,
        route,
        card: {
          kind: "text",
          tone: "info",
          text: phrase("request.waits", { slug }),
          hint: link === undefined ? phrase("request.waits.hint") : phrase("request.waits.at", { link }),
        },
        notAfterMs: record.expiresAtMs,
      };
    case "allowed":
      return settled("success", phrase("request.allowed", { slug, who }), phrase("request.waits.hint"));
    case "denied":
      return settled("warning", phrase("request.denied", { slug, who }), record.comment);
    case "expired":
      return settled("warning", phrase("request.expired", { slug }));
    case "cancelled":
      return settled("info", phrase("request.cancelled", { slug }));
  }
}
