import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import type { MethodResults, ReplayEvent } from "../../protocol/frames.ts";
import type { ReplayScreen } from "../replay/screen.ts";
import { RequestError } from "../request-error.ts";
import { useReader } from "../words/reader.ts";
import { DialogHead, LoadTrouble } from "./dialog.tsx";
import { ReplayPlayer } from "./replay-player.tsx";

type Page = MethodResults["recordings.read"];

export interface ReplayDialogProps {
  readonly runId: string;
  readonly command: string;
  read(runId: string, offset: number): Promise<Page>;
  close(): void;
}

interface Loaded {
  readonly screen: ReplayScreen;
  readonly events: readonly ReplayEvent[];
}

async function allEvents({ runId, read }: ReplayDialogProps, wanted: () => boolean) {
  const first = await read(runId, 0);
  const events = [...first.events];
  for (let { next } = first; next !== undefined && wanted(); ) {
    const page = await read(runId, next);
    for (const event of page.events) events.push(event);
    next = page.next;
  }
  return { cols: first.cols, rows: first.rows, events };
}

export function ReplayDialog(props: ReplayDialogProps) {
  const { command, close } = props;
  const { words: all } = useReader();
  const { replay: words } = all;
  const dialog = useRef<HTMLDialogElement>(null);
  const [loaded, setLoaded] = useState<Loaded | undefined>(undefined);
  const [trouble, setTrouble] = useState<string | undefined>(undefined);
  const open = useRef(true);
  useEffect(() => dialog.current?.showModal(), []);

  const load = useCallback(async () => {
    setTrouble(undefined);
    // The terminal is large and few people replay anything: it comes when it is needed.
    const terminal = import("../replay/screen.ts").catch(() => undefined);
    try {
      const { cols, rows, events } = await allEvents(props, () => open.current);
      const code = await terminal;
      if (!open.current) return;
      if (code === undefined) setTrouble(words.notLoaded);
      else setLoaded({ screen: new code.ReplayScreen(cols, rows), events });
    } catch (error) {
      if (!(error instanceof RequestError)) throw error;
      setTrouble(error.message);
    }
  }, [props.runId, props.read, words]);
  useEffect(() => {
    open.current = true;
    void load();
    return () => {
      open.current = false;
    };
  }, [load]);
  useEffect(() => () => loaded?.screen.dispose(), [loaded]);

  return (
    <dialog ref={dialog} class="dialog dialog-replay" aria-labelledby="replay-title" onClose={close}>
      <DialogHead dialog={dialog} titleId="replay-title" title={words.title} command={command} />
      <LoadTrouble why={trouble} again={load} />
      {loaded === undefined && trouble === undefined && (
        <p class="replay-note" role="status">
          {words.loading}
        </p>
      )}
      {loaded !== undefined && loaded.events.length === 0 && <p class="replay-note">{words.nothingShown}</p>}
      {loaded !== undefined && loaded.events.length > 0 && (
        <ReplayPlayer screen={loaded.screen} events={loaded.events} dialog={dialog} />
      )}
    </dialog>
  );
}
