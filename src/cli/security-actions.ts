/** The work behind `openclaw-exec security`. */
import { sandboxSettings } from "../core/exec/sandbox-settings.ts";
import { type Cli, EXIT } from "./io.ts";
import { knownAgents, openPolicy, policyFor } from "./policy-context.ts";
import { type SecurityFinding, securityFindings } from "./security-findings.ts";

export async function audit(cli: Cli, options: { json?: boolean }): Promise<number> {
  const context = await openPolicy(cli);
  const { config, stateDir } = context.loaded;
  const agents = knownAgents(context);
  const findings = securityFindings({
    config,
    approvals: context.file.damage() === undefined ? context.file.snapshot().document : undefined,
    agents: agents.map((id) => ({ id, policy: policyFor(context, id) })),
    home: context.loaded.home,
    sandboxes: agents.map((id) => sandboxSettings(config, id, stateDir)),
    root: process.getuid?.() === 0,
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
