/**
 * Who asks to be let in, and who is told: the owners of that channel and the operator get a card with buttons, which
 * becomes its own receipt, whoever answered and by whatever way.
 */

import type { PairingDesk } from "../commands/services.ts";
import type { Pairing, PairingRequest } from "../core/access/pairing.ts";
import { pairingCard } from "../core/access/pairing-card.ts";
import { atLeast } from "../core/access/rank.ts";
import type { Audit } from "../core/audit/audit.ts";
import { ExecError } from "../core/errors.ts";
import type { Deliveries } from "../core/events/deliveries.ts";
import type { Actor } from "../core/route.ts";
import { inEnglish, phrase } from "../core/words/phrase.ts";
import type { PairingEntry } from "../protocol/frames.ts";

const PENDING_VERSION = 1;
const SETTLED_VERSION = 2;

export interface GatewayPairingDesk extends PairingDesk {
  start(): Promise<void>;
  /** A stranger asked: those who may let them in see it. */
  show(request: PairingRequest): Promise<void>;
  /** For the command line. */
  readonly methods: {
    list(channel?: string): Promise<readonly PairingEntry[]>;
    approve(code: string, by: Actor): Promise<PairingEntry>;
    dismiss(code: string, by: Actor): Promise<PairingEntry>;
  };
}

export function createPairingDesk(options: {
  readonly pairing: Pairing;
  readonly audit: Audit;
  /** Made later than the desk. */
  readonly deliveries: () => Deliveries;
}): GatewayPairingDesk {
  const { pairing, audit } = options;

  async function show(request: PairingRequest): Promise<void> {
    const pending = request.status === "pending";
    for (const route of request.shownAt) {
      await options.deliveries().upsert({
        entity: `pairing:${request.id}`,
        version: pending ? PENDING_VERSION : SETTLED_VERSION,
        route,
        card: pairingCard(request),
        ...(pending ? { notAfterMs: request.expiresAtMs } : {}),
      });
    }
  }

  async function settled(request: PairingRequest): Promise<void> {
    await show(request);
    if (request.status !== "approved") return;
    await options.deliveries().post({
      key: `paired:${request.id}`,
      route: request.route,
      card: { kind: "text", tone: "success", text: phrase("pairing.letIn") },
    });
  }

  return {
    show,
    start: () => pairing.start(settled),
    list: () => pairing.list(),
    decide: pairing.decide,
    async answer(requestId, decision, { actor, rank, route }) {
      if (!atLeast(rank, "owner")) {
        const refused = phrase("error.pairing.onlyOwner");
        const reason = `pairing ${requestId}: ${inEnglish(refused)}`;
        await audit.record({ type: "access-refused", surface: "channel", reason, actor, route });
        throw new ExecError("not-authorized", refused);
      }
      return pairing.answer(requestId, decision, actor);
    },
    methods: {
      list: async (channel) =>
        (await pairing.list()).filter((one) => channel === undefined || one.channel === channel).map(entryOf),
      approve: async (code, by) => entryOf((await pairing.decide(code, "approve", by)).request),
      dismiss: async (code, by) => entryOf((await pairing.decide(code, "dismiss", by)).request),
    },
  };
}

/** The trail of what was decided; an expiry lets nobody in and is not recorded. */
export async function recordPairing(audit: Audit, request: PairingRequest): Promise<void> {
  const { actor, decidedBy: by } = request;
  if (!by || request.status === "pending") return;
  if (request.status === "approved")
    await audit.record({ type: "access-granted", actor, grant: "direct messages", by });
  else if (request.status === "dismissed") await audit.record({ type: "access-dismissed", actor, by });
}

function entryOf(request: PairingRequest): PairingEntry {
  return {
    code: request.code,
    channel: request.channel,
    accountId: request.accountId,
    actorId: request.actor.id,
    expiresAtMs: request.expiresAtMs,
    ...(request.actor.display ? { display: request.actor.display } : {}),
  };
}
