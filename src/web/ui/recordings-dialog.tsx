import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import type { RecordingEntry } from "../../protocol/frames.ts";
import { dayName, fileSize, timeOfDay } from "../format.ts";
import { RequestError } from "../request-error.ts";
import { useReader } from "../words/reader.ts";
import { DialogHead, LoadTrouble } from "./dialog.tsx";
import { Revealed } from "./facts.tsx";
import { PlayIcon } from "./icons.tsx";

export interface RecordingsDialogProps {
  list(): Promise<readonly RecordingEntry[]>;
  show(run: { readonly runId: string; readonly command: string }): void;
  close(): void;
}

export function RecordingsDialog({ list, show, close }: RecordingsDialogProps) {
  const { words: all, language } = useReader();
  const { replay: words } = all;
  const dialog = useRef<HTMLDialogElement>(null);
  const [entries, setEntries] = useState<readonly RecordingEntry[] | undefined>(undefined);
  const [trouble, setTrouble] = useState<string | undefined>(undefined);
  useEffect(() => dialog.current?.showModal(), []);

  const load = useCallback(async () => {
    try {
      setEntries(await list());
      setTrouble(undefined);
    } catch (error) {
      if (!(error instanceof RequestError)) throw error;
      setTrouble(error.message);
    }
  }, [list]);
  useEffect(() => void load(), [load]);

  return (
    <dialog ref={dialog} class="dialog dialog-recordings" aria-labelledby="recordings-title" onClose={close}>
      <DialogHead dialog={dialog} titleId="recordings-title" title={words.recordings} />
      <LoadTrouble why={trouble} again={load} />
      {entries === undefined && trouble === undefined && (
        <p class="recordings-none" role="status">
          {words.loading}
        </p>
      )}
      {entries?.length === 0 && (
        <p class="recordings-none">
          {words.none} {words.howTo}
        </p>
      )}
      {entries !== undefined && entries.length > 0 && (
        <ul class="recordings">
          {entries.map((entry) => (
            <li key={entry.runId}>
              <button type="button" class="recording" onClick={() => show(entry)}>
                <PlayIcon />
                <code>
                  <Revealed text={entry.command} />
                </code>
                <span class="recording-side">
                  {dayName(entry.startedAtMs, Date.now(), language)} {timeOfDay(entry.startedAtMs, language)},{" "}
                  {fileSize(entry.bytes, language)}
                </span>
              </button>
            </li>
          ))}
        </ul>
      )}
    </dialog>
  );
}
