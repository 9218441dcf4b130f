/** What a pairing request says: to the stranger who asked, and to those who may let them in. Pure. */
import type { TextCard } from "../cards.ts";
import { actorLabel } from "../route.ts";
import { phrase, type Wording } from "../words/phrase.ts";
import type { PairingRequest } from "./pairing.ts";

/** To the stranger. */
export function codeCard(request: PairingRequest): TextCard<Wording> {
  return {
    kind: "text",
    tone: "info",
    title: phrase("pairing.title"),
    text: phrase("pairing.text"),
    code: request.code,
    fields: [{ label: phrase("pairing.yourId"), value: `${request.channel}:${request.actor.id}` }],
    hint: phrase("pairing.hint", { code: request.code }),
  };
}

/** To an owner: a question with its two buttons, and afterwards the receipt in its place. */
export function pairingCard(request: PairingRequest): TextCard<Wording> {
  const { id, actor, code } = request;
  const by = request.decidedBy ? actorLabel(request.decidedBy) : phrase("request.somebody");
  const fields = [
    { label: phrase("pairing.who"), value: actor.display ?? actor.id, note: actor.id },
    { label: phrase("pairing.where"), value: placeOf(request) },
  ];
  switch (request.status) {
    case "pending":
      return {
        kind: "text",
        tone: "info",
        title: phrase("pairing.asks"),
        text: phrase("pairing.asks.text"),
        fields: [...fields, { label: phrase("pairing.code"), value: code }],
        hint: phrase("pairing.asks.hint", { code }),
        actions: [
          {
            label: phrase("pairing.approve"),
            style: "success",
            press: { kind: "pairing", requestId: id, decision: "approve" },
          },
          {
            label: phrase("pairing.dismiss"),
            style: "danger",
            press: { kind: "pairing", requestId: id, decision: "dismiss" },
          },
        ],
      };
    case "approved":
      return {
        kind: "text",
        tone: "success",
        title: phrase("pairing.approved"),
        text: phrase("pairing.approved.by", { by }),
        fields,
        actions: [],
      };
    case "dismissed":
      return {
        kind: "text",
        tone: "warning",
        title: phrase("pairing.dismissed"),
        text: phrase("pairing.dismissed.by", { by }),
        fields,
        actions: [],
      };
    case "expired":
      return {
        kind: "text",
        tone: "warning",
        title: phrase("pairing.expired"),
        text: phrase("pairing.expired.text"),
        fields,
        actions: [],
      };
  }
}

function placeOf({ channel, accountId }: PairingRequest): string {
  return accountId === "default" ? channel : `${channel}/${accountId}`;
}
