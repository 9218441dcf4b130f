/**
 * For long-running children that are started outside the exec and process tools (a gateway that restarts itself, helper
 * programs): signals that end us are passed on, so that no child is orphaned under systemd, and nothing keeps listening
 * once the child is gone (exec.md section 4.1).
 *
 * Listening to SIGTERM takes Node's own reaction away: the parent must exit by itself when the child has.
 */
import type { ChildProcess } from "node:child_process";

const BRIDGED: readonly NodeJS.Signals[] =
  process.platform === "win32" ? ["SIGTERM", "SIGINT", "SIGBREAK"] : ["SIGTERM", "SIGINT", "SIGHUP", "SIGQUIT"];

export interface SignalBridge {
  /** Idempotent. */
  detach(): void;
}

export function bridgeSignals(
  child: ChildProcess,
  options: { readonly signals?: readonly NodeJS.Signals[]; readonly onSignal?: (signal: NodeJS.Signals) => void } = {},
): SignalBridge {
  const listeners = new Map<NodeJS.Signals, () => void>();
  const detach = (): void => {
    for (const [signal, listener] of listeners) process.off(signal, listener);
    listeners.clear();
    for (const event of ["exit", "close", "error"]) child.off(event, detach);
  };
  for (const signal of options.signals ?? BRIDGED) {
    const listener = (): void => {
      options.onSignal?.(signal);
      try {
        child.kill(signal);
      } catch {
        // The child can not be signalled any more; its exit will tell.
      }
    };
    try {
      process.on(signal, listener);
      listeners.set(signal, listener);
    } catch {
      // This platform does not have that signal.
    }
  }
  for (const event of ["exit", "close", "error"]) child.once(event, detach);
  return { detach };
}
