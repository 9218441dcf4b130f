/** One outbound message as the queue carries it. */
import type { UnspokenCard } from "../cards.ts";
import type { OutboundFile } from "../outbound.ts";
import type { Actor, Route } from "../route.ts";
import { inEnglish } from "../words/phrase.ts";

export const DELIVERY_JOB = "delivery";

export interface DeliveryData {
  readonly key: string;
  readonly route: Route;
  readonly card: UnspokenCard;
  readonly entity?: string;
  readonly version?: number;
  readonly leftBehind?: UnspokenCard;
  readonly bringDown?: string;
  readonly redraw?: true;
  readonly onlyFor?: Actor;
  readonly file?: OutboundFile;
}

/** What a job of deliveries is about, as far as it can be told from its data. */
export function deliveryOf(
  data: unknown,
): (Pick<DeliveryData, "key" | "route" | "entity" | "version"> & { readonly about: string }) | undefined {
  const { key, route, entity, version, card } = (data ?? {}) as Partial<DeliveryData>;
  if (key === undefined || route === undefined || card === undefined) return undefined;
  return { key, route, about: aboutOf(card), ...(entity === undefined ? {} : { entity, version: version ?? 0 }) };
}

function aboutOf(card: UnspokenCard): string {
  switch (card.kind) {
    case "approval":
    case "run":
      return card.command;
    case "text":
      return inEnglish(card.title ?? card.text ?? card.code ?? "");
    case "menu":
      return inEnglish(card.title);
    case "said":
      return card.text;
    default:
      return "";
  }
}
