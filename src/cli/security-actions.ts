/** The work behind `openclaw-exec security`. */
import { type Cli, EXIT } from "./io.ts";
import { knownAgents, openPolicy, policyFor } from "./policy-context.ts";
import { type SecurityFinding, securityFindings } from "./security-findings.ts";

export async function audit(cli: Cli, options: { json?: boolean }): Promise<number> {
  const context = await openPolicy(cli);
  const findings = securityFindings({
    config: context.loaded.config,
    approvals: context.file.damage() === undefined ? context.file.snapshot().document : undefined,
    agents: knownAgents(context).map((id) => ({ id, policy: policyFor(context, id) })),
    home: context.loaded.home,
  });
  const critical = findings.some((finding) => finding.level === "critical");
  if (options.json) cli.out(JSON.stringify({ ok: !critical, findings }, null, 2));
  else if (findings.length === 0) cli.out("Nothing risky found.");
  else for (const finding of findings) cli.out(printFinding(finding));
  return critical ? EXIT.failed : EXIT.ok;
}

function printFinding({ id, level, message, remedy }: SecurityFinding): string {
  return `${level.padEnd(8)} ${message}\n         ${remedy}  (${id})`;
}
