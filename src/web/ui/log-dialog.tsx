import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import type { MethodResults } from "../../protocol/frames.ts";
import { plainText } from "../ansi.ts";
import { copy, download, later } from "../platform.ts";
import { RequestError } from "../request-error.ts";
import { useReader } from "../words/reader.ts";
import { DialogHead, LoadTrouble } from "./dialog.tsx";
import { DownloadIcon } from "./icons.tsx";
import { Output } from "./output.tsx";

type Page = MethodResults["run.log"];

/** Lines shown at once. */
const PAGE_LINES = 500;
/** Lines asked for at once while the whole log is fetched for a download. */
const DOWNLOAD_LINES = 5000;
/** A running command's last page is asked for again after this long. */
const REFRESH_MS = 2000;

export interface LogDialogProps {
  readonly runId: string;
  readonly command: string;
  runLog(runId: string, offset: number | undefined, limit: number): Promise<Page>;
  close(): void;
}

async function wholeLog(props: LogDialogProps): Promise<string> {
  const parts: string[] = [];
  for (let offset = 0; ; ) {
    const page = await props.runLog(props.runId, offset, DOWNLOAD_LINES);
    parts.push(page.text.endsWith("\n") || page.text === "" ? page.text : `${page.text}\n`);
    offset = page.offset + page.lines;
    if (page.lines === 0 || offset >= page.totalLines) return parts.join("");
  }
}

export function LogDialog(props: LogDialogProps) {
  const { runId, command, runLog, close } = props;
  const {
    words: { log: words, card },
    language,
    messages,
  } = useReader();
  const dialog = useRef<HTMLDialogElement>(null);
  const [page, setPage] = useState<Page | undefined>(undefined);
  const [trouble, setTrouble] = useState<string | undefined>(undefined);
  const [wrap, setWrap] = useState(true);
  const [fetching, setFetching] = useState(false);
  useEffect(() => dialog.current?.showModal(), []);

  const guarded = useCallback(async (work: () => Promise<void>) => {
    try {
      await work();
      setTrouble(undefined);
    } catch (error) {
      if (!(error instanceof RequestError)) throw error;
      setTrouble(error.message);
    }
  }, []);
  /** Without an offset: the end of the log. */
  const load = useCallback(
    (offset: number | undefined) =>
      guarded(async () => {
        setPage(await runLog(runId, offset, PAGE_LINES));
      }),
    [runLog, runId, guarded],
  );
  useEffect(() => void load(undefined), [load]);

  const last = page !== undefined && page.offset + page.lines >= page.totalLines;
  useEffect(() => {
    if (page === undefined || !page.running || !last) return undefined;
    return later(REFRESH_MS, () => void load(undefined));
  }, [page, last, load]);

  const number = (value: number) => value.toLocaleString(language);
  const save = () =>
    guarded(async () => {
      setFetching(true);
      try {
        download(`${runId}.log`, await wholeLog(props));
      } finally {
        setFetching(false);
      }
    });

  return (
    <dialog ref={dialog} class="dialog dialog-log" aria-labelledby="log-title" onClose={close}>
      <DialogHead dialog={dialog} titleId="log-title" title={words.title} command={command} />
      {page?.lost && page.offset === 0 && <p class="notice notice-warning">{words.beginningLost}</p>}
      <LoadTrouble why={trouble} again={() => load(page?.offset)} />
      <div class="log-body" aria-busy={page === undefined && trouble === undefined}>
        {page !== undefined && page.totalLines === 0 && <p class="no-output">{messages.run.noOutput}</p>}
        {page !== undefined && page.totalLines > 0 && (
          <Output key={page.offset} text={page.text} label={card.output} wrap={wrap} follow={last} />
        )}
      </div>
      <footer class="dialog-foot">
        <div class="pager">
          <button
            type="button"
            class="button button-small"
            disabled={page === undefined || page.offset === 0}
            onClick={() => load(Math.max(0, (page?.offset ?? 0) - PAGE_LINES))}
          >
            {words.earlier}
          </button>
          <button
            type="button"
            class="button button-small"
            disabled={page === undefined || last}
            onClick={() => load((page?.offset ?? 0) + (page?.lines ?? 0))}
          >
            {words.later}
          </button>
          {page !== undefined && page.totalLines > 0 && (
            <span class="pager-where" role="status">
              {words.where(number(page.offset + 1), number(page.offset + page.lines), number(page.totalLines))}
              {page.running && `, ${words.stillRunning}`}
            </span>
          )}
        </div>
        <label class="wrap-toggle">
          <input type="checkbox" checked={wrap} onChange={(event) => setWrap(event.currentTarget.checked)} />
          {words.wrap}
        </label>
        <button
          type="button"
          class="button button-small"
          disabled={page === undefined}
          onClick={() => void copy(plainText(page?.text ?? ""))}
        >
          {words.copyPage}
        </button>
        <button type="button" class="button button-small" disabled={page === undefined || fetching} onClick={save}>
          <DownloadIcon />
          {fetching ? words.fetching : words.download}
        </button>
      </footer>
    </dialog>
  );
}
