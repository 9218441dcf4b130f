/** Cards that stand beside those of requests and runs. Pure. */

import { type ApprovalRecord, slugOf } from "../approvals/record.ts";
import type { TextCard } from "../cards.ts";
import { endLine } from "../exec/run-card.ts";
import type { RunRecord } from "../exec/runs.ts";
import { actorLabel, type Route } from "../route.ts";
import { phrase, type Wording } from "../words/phrase.ts";
import type { Upsert } from "./deliveries.ts";

/** Versions of the line in a chat whose request is shown elsewhere. */
const NOTICE_PENDING_VERSION = 1;
const NOTICE_SETTLED_VERSION = 2;

/** What is left of a card that newer messages have buried. */
export function leftBehind(record: RunRecord): TextCard<Wording> {
  return {
    kind: "text",
    tone: "info",
    text: phrase("run.cameDown", { session: record.sessionId, end: endLine(record) }),
    hint: phrase("run.cameDown.hint"),
  };
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
