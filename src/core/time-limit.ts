/**
 * A deadline beside other reasons to stop. `AbortSignal.any([signal, AbortSignal.timeout(ms)])` is not one: nothing holds the
 * timeout but the combined signal, which does so weakly, and Node 20 collects it as garbage before it has fired.
 */
export interface TimeLimit {
  /** Aborts when the time is up, or as soon as the other signal does. */
  readonly signal: AbortSignal;
  /** Nobody waits any more. */
  done(): void;
}

export function timeLimit(ms: number, other: AbortSignal): TimeLimit {
  const controller = new AbortController();
  const stop = () => controller.abort(other.reason);
  const timer = setTimeout(
    () => controller.abort(new DOMException("The operation was aborted due to timeout", "TimeoutError")),
    ms,
  );
  timer.unref();
  if (other.aborted) stop();
  else other.addEventListener("abort", stop, { once: true });
  return {
    signal: controller.signal,
    done() {
      clearTimeout(timer);
      other.removeEventListener("abort", stop);
    },
  };
}
