/** Keeps a replayable recording of runs, as `tools.exec.record` says: of terminal sessions, of all, or of none. */
import type { Clock } from "../clock.ts";
import type { RECORD_MODES } from "../config/schema/exec.ts";
import { PTY_COLS, PTY_ROWS } from "../process/pty.ts";
import type { Recording, Recordings } from "../process/recording.ts";
import type { ProcessHandle } from "../process/types.ts";

export type RecordMode = (typeof RECORD_MODES)[number];

export interface RunRecorderOptions {
  readonly recordings: Recordings;
  readonly clock: Clock;
  /** What counts for this agent at this moment. */
  readonly mode: (agentId: string) => RecordMode;
  readonly onError: (error: unknown, what: string) => void;
}

interface RecordedRun {
  readonly record: { readonly runId: string; readonly agentId: string; readonly command: string };
  readonly handle: ProcessHandle;
}

export interface RunRecorder {
  /** Before anybody else listens to the handle, so that nothing is missing. Whether it is recorded. */
  started(run: RecordedRun): boolean;
  /** Resolves when the recording of this run is whole on disk; at once when there is none. */
  finished(record: { readonly runId: string }): Promise<void>;
}

export function createRunRecorder(options: RunRecorderOptions): RunRecorder {
  const open = new Map<string, Recording>();
  return {
    started({ record, handle }) {
      const mode = options.mode(record.agentId);
      if (mode === "off" || (mode === "pty" && !handle.pty)) return false;
      try {
        const recording = options.recordings.record(handle, {
          runId: record.runId,
          command: record.command,
          cols: PTY_COLS,
          rows: PTY_ROWS,
          clock: options.clock,
        });
        open.set(record.runId, recording);
        return true;
      } catch (error) {
        // A command is never kept from running by its recording.
        options.onError(error, `recording run ${record.runId}`);
        return false;
      }
    },
    async finished({ runId }) {
      const recording = open.get(runId);
      open.delete(runId);
      await recording?.finished;
    },
  };
}
