/** The one place that decides who may talk to the bot, use commands and decide approvals. */
import type { ApprovalRecord } from "../approvals/record.ts";
import type { UnspokenCard } from "../cards.ts";
import type { Actor, Route } from "../route.ts";
import type { Wording } from "../words/phrase.ts";
import type { Rank } from "./rank.ts";

/** What access needs to know of an inbound event. */
export interface Knock {
  /** The platform event, to tell one that comes again from a new one. */
  readonly id?: string;
  readonly kind: "message" | "command" | "press";
  readonly route: Route;
  readonly actor: Actor;
  /** The bot was addressed: a DM, a mention, a reply to it. */
  readonly addressed: boolean;
  /** Other people are mentioned and the bot is not. */
  readonly mentionsOthers?: boolean;
  /** Name of the command, also of one typed as text. */
  readonly command?: string;
}

export type Admission =
  | { readonly kind: "admit"; readonly rank: Rank }
  /** Nothing is said: the person or room is not ours to answer. */
  | { readonly kind: "ignore"; readonly why: string }
  | { readonly kind: "answer"; readonly card: UnspokenCard };

export interface Access {
  admit(knock: Knock): Promise<Admission>;
  /** Of this person there, `unknown` for who would not be let in. Asks nobody to let them in. */
  rank(actor: Actor, route: Route | undefined): Promise<Rank>;
  /** Whether this person, speaking to the bot there, is let in. Asks nobody and starts nothing, no pairing either. */
  listens(actor: Actor, route: Route): Promise<boolean>;
  /** `undefined`: yes. Else the sentence that says why not. */
  mayDecide(actor: Actor, record: ApprovalRecord, route: Route | undefined): Promise<Wording | undefined>;
}
