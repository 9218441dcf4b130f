/** `approvals pending` and `approvals resolve`: a view of the running gateway's requests. */
import { visible } from "../core/policy/explain.ts";
import { APPROVAL_DECISIONS, type ApprovalDecision } from "../core/policy/types.ts";
import type { AddressFlags } from "./client.ts";
import { type Cli, EXIT } from "./io.ts";
import { withGateway } from "./with-gateway.ts";

export async function pending(cli: Cli, options: AddressFlags & { json?: boolean }): Promise<number> {
  const { approvals } = await withGateway(cli, options, (client) => client.request("approvals.list", {}));
  if (options.json) {
    cli.out(JSON.stringify(approvals, null, 2));
    return EXIT.ok;
  }
  if (approvals.length === 0) cli.out("Nothing waits for an answer.");
  for (const one of approvals) {
    cli.out(
      [
        `${one.slug}  ${visible(one.command)}`,
        `          in ${visible(one.cwd)}, agent ${one.agentId}, asked by ${visible(one.requester)}, until ${new Date(one.expiresAtMs).toISOString()}`,
        `          openclaw-exec approvals resolve ${one.slug} ${one.offered.join("|")}`,
      ].join("\n"),
    );
  }
  return EXIT.ok;
}

export async function resolve(
  cli: Cli,
  id: string,
  typed: string,
  options: AddressFlags & { comment?: string },
): Promise<number> {
  const decision = APPROVAL_DECISIONS.find((item) => item === typed.toLowerCase()) as ApprovalDecision | undefined;
  if (decision === undefined) {
    cli.err(`${JSON.stringify(typed)} is not a decision. Use one of: ${APPROVAL_DECISIONS.join(", ")}.`);
    return EXIT.usage;
  }
  const { comment } = options;
  const answer = await withGateway(cli, options, (client) =>
    client.request("approvals.resolve", { id, decision, ...(comment === undefined ? {} : { comment }) }),
  );
  cli.out(`${answer.id}: ${answer.state}${answer.decision === undefined ? "" : ` (${answer.decision})`}`);
  return EXIT.ok;
}
