/** What the exec pipeline asks of nodes: which one a call means, and what it says of the command. */
import { ExecError } from "../../errors.ts";
import type { ExecArgs } from "../../exec/exec-args.ts";
import { phrase } from "../../words/phrase.ts";
import type { JudgedOnNode, NodeQuery } from "./prepare.ts";
import { type Candidate, selectNode } from "./selection.ts";

export interface NodeWish {
  /** Of the call. */
  readonly call: ExecArgs["node"];
  /** Of the conversation (`/exec node=`). */
  readonly session: string | undefined;
  /** Of the agent, else of `tools.exec.node`: a call may not go elsewhere. */
  readonly bound: string | undefined;
}

export interface ExecNodes {
  judge(wish: NodeWish, query: NodeQuery): Promise<JudgedOnNode>;
}

/** @throws ExecError with what there is to choose from; nothing has been asked or run by then. */
export function chooseNode<C extends Candidate>({ call, session, bound }: NodeWish, nodes: readonly C[]): C {
  const chosen = selectNode(call ?? session ?? bound, nodes);
  if (bound !== undefined && (call ?? session) !== undefined) {
    const binding = selectNode(bound, nodes);
    if (binding.id !== chosen.id) {
      throw new ExecError(
        "host-not-allowed",
        phrase("error.node.bound", { bound: binding.name, requested: chosen.name }),
      );
    }
  }
  return chosen;
}
