/** What every dialog shows alike: its title with the way out, and what could not be loaded. */
import type { RefObject } from "preact";
import { useReader } from "../words/reader.ts";
import { Revealed } from "./facts.tsx";

export interface DialogHeadProps {
  readonly dialog: RefObject<HTMLDialogElement | null>;
  /** What the dialog is labelled by. */
  readonly titleId: string;
  readonly title: string;
  readonly command?: string;
}

export function DialogHead({ dialog, titleId, title, command }: DialogHeadProps) {
  const { words } = useReader();
  return (
    <header class="dialog-head">
      <h2 id={titleId}>{title}</h2>
      {command !== undefined && (
        <code class="dialog-command">
          <Revealed text={command} />
        </code>
      )}
      <button type="button" class="quiet-button" onClick={() => dialog.current?.close()}>
        {words.log.close}
      </button>
    </header>
  );
}

export function LoadTrouble({ why, again }: { readonly why: string | undefined; again(): unknown }) {
  const { words } = useReader();
  if (why === undefined) return null;
  return (
    <p class="notice notice-warning" role="alert">
      {why}{" "}
      <button type="button" class="quiet-button" onClick={again}>
        {words.connection.tryAgain}
      </button>
    </p>
  );
}
