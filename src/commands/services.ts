/** What commands may use: the same services the HTTP tools, the CLI and the cards use. Built by the gateway. */
import type { PairingAnswer, PairingDecision, PairingRequest } from "../core/access/pairing.ts";
import type { Rank } from "../core/access/rank.ts";
import type { PreparedPattern } from "../core/approvals/allow-always.ts";
import type { Approvals } from "../core/approvals/approvals.ts";
import type { ApprovalRecord } from "../core/approvals/record.ts";
import type { PolicyChange } from "../core/audit/policy-change.ts";
import type { UnspokenCard } from "../core/cards.ts";
import type { Cron } from "../core/events/cron.ts";
import type { DeadLetterDesk } from "../core/events/dead-letters.ts";
import type { ExecTool } from "../core/exec/exec-tool.ts";
import type { ToolResult } from "../core/exec/results.ts";
import type { RunRecord, Runs } from "../core/exec/runs.ts";
import type { OutboundFile } from "../core/outbound.ts";
import type { AllowlistEntry } from "../core/policy/types.ts";
import type { Actor, Route } from "../core/route.ts";
import type { SessionOverrides, Sessions } from "../core/sessions/sessions.ts";
import type { Wording } from "../core/words/phrase.ts";
import type { CommandDefinition } from "./command.ts";

export interface PolicyField {
  readonly label: string;
  readonly value: Wording;
  /** Where the value comes from: `config: tools.exec.mode`, `/exec of this chat`. */
  readonly note: Wording;
}

export interface StatusReport {
  readonly version: string;
  readonly gatewayId: string;
  readonly upMs: number;
  readonly state: "ready" | "draining" | "not-ready";
  readonly problems: readonly string[];
  readonly channels: readonly {
    readonly name: string;
    readonly state: "connected" | "connecting" | "stopped" | "failed";
    readonly detail?: Wording;
  }[];
  readonly queue: {
    readonly waiting: number;
    readonly delayed: number;
    readonly active: number;
    readonly dead: number;
  };
}

export interface CommandScope {
  readonly actor: Actor;
  readonly route: Route;
  readonly agentId: string;
  readonly sessionKey: string;
}

/** Lets strangers in. Throws `not-found`, `approval-already-decided`, `approval-expired` or `rate-limited`. */
export interface PairingDesk {
  /** Those that wait, oldest first. */
  list(): Promise<readonly PairingRequest[]>;
  /** By the code that the person was shown; whoever calls has made sure that this is an owner. */
  decide(code: string, decision: PairingDecision, by: Actor): Promise<PairingAnswer>;
  /** A button of the card was pressed. Throws `not-authorized` unless an owner did. */
  answer(
    requestId: string,
    decision: PairingDecision,
    by: { readonly actor: Actor; readonly rank: Rank; readonly route: Route },
  ): Promise<PairingAnswer>;
}

/** What else can be done with a request. Each throws what `Approvals` throws, `not-authorized` above all. */
export interface ApprovalDesk {
  /** A decision came for what is over: the card it came from is drawn as it is now, once more. */
  tooLate(id: string, by: Pick<CommandScope, "actor" | "route">): Promise<void>;
  /** The whole command as its card would show it, with its length and fingerprint: for the asker and for who may decide. */
  fullCommand(
    id: string,
    by: Pick<CommandScope, "actor" | "route">,
  ): Promise<{ readonly card: UnspokenCard; readonly file?: OutboundFile }>;
  /** Put off; resolves to what the person is told. */
  snooze(id: string, by: Pick<CommandScope, "actor" | "route">): Promise<UnspokenCard>;
  /** Nobody decided it: the same is asked once more. */
  askAgain(id: string, by: Pick<CommandScope, "actor" | "route"> & { readonly rank: Rank }): Promise<void>;
}

export interface ListedRule {
  /** An agent's id, or `*` for every agent. */
  readonly scope: string;
  readonly rule: AllowlistEntry;
}

/** The allowlist of this host. Throws `invalid-argument` while its file is damaged. */
export interface AllowlistDesk {
  /** `commands.allowlist`. */
  mayChange(): boolean;
  agents(): readonly string[];
  list(): readonly ListedRule[];
  /** What this would be stored as, and what is to be said about that. */
  prepare(typed: string): Promise<PreparedPattern>;
  /** Resolves to the rule's id, or to `undefined` when it was there already. */
  add(scope: string, rule: AllowlistEntry): Promise<string | undefined>;
  /** By pattern, or by the first eight characters of an id or more; resolves to what was removed. */
  remove(typed: string, agent?: string): Promise<readonly ListedRule[]>;
}

export interface CommandServices {
  readonly commands: readonly CommandDefinition[];
  readonly exec: ExecTool;
  readonly runs: Runs;
  readonly approvals: Approvals;
  /** Requests that wait and that this person may decide, oldest first. */
  decidable(actor: Actor, route: Route): Promise<readonly ApprovalRecord[]>;
  readonly sessions: Sessions;
  readonly pairingDesk: PairingDesk;
  readonly approvalDesk: ApprovalDesk;
  /** `commands.bash`: are `!cmd` and `/bash` on? */
  bashEnabled(): boolean;
  /** `commands.bashForegroundMs`: a command of theirs that ends within this shows its end alone. */
  bashForegroundMs(): number;
  readonly cron: Cron;
  readonly allowlist: AllowlistDesk;
  /** What could not be delivered. */
  readonly deadLetters: DeadLetterDesk;
  /** Takes it out of the line or stops it, on whichever gateway it is. True when it was waiting or running. */
  stopRun(runId: string): Promise<boolean>;
  /** The same for a conversation, or for all of them; resolves to how many were stopped. */
  stopAll(wish: { readonly sessionKey?: string }): Promise<number>;
  /** Ends the agent's turn in a conversation, or in all of them, and drops the messages that wait for it. */
  stopTurns(wish: { readonly sessionKey?: string }): Promise<{ readonly turns: number; readonly messages: number }>;
  /** The agent forgets what was said in this conversation. True when there was something. */
  forgetConversation(sessionKey: string): Promise<boolean>;
  /** Runs one call of the `process` tool for this agent. */
  process(args: Readonly<Record<string, unknown>>, agentId: string): Promise<ToolResult>;
  /** The effective exec policy of this conversation, each value with its source. */
  policy(scope: CommandScope): Promise<readonly PolicyField[]>;
  /**
   * What would change when `/exec` sets this, both as `security=… ask=…`, if that lets more happen than the configuration
   * and than what holds now. `undefined`: it does not.
   */
  loosening(
    change: Pick<SessionOverrides, "security" | "ask">,
    scope: CommandScope,
  ): Promise<{ readonly before: string; readonly after: string } | undefined>;
  /** Written down, and told to the owners who did not do it. */
  policyChanged(change: PolicyChange): Promise<void>;
  /** What `node=` takes for each connected node. */
  nodes(): readonly string[];
  /** Without its secrets: for what is shortened, where half of one would not be known any more. */
  mask(text: string): string;
  /** What the policy would say of this command, without running it. */
  explain(command: string, scope: CommandScope): Promise<UnspokenCard>;
  status(): Promise<StatusReport>;
  runCard(record: RunRecord): UnspokenCard;
}
