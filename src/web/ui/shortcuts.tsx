import { useEffect, useRef } from "preact/hooks";
import { useReader } from "../words/reader.ts";
import type { Words } from "../words/words.ts";
import { DialogHead } from "./dialog.tsx";

const SHORTCUTS: readonly (readonly [keys: string, what: Exclude<keyof Words["shortcuts"], "title">])[] = [
  ["/ , Ctrl K", "write"],
  ["Enter", "send"],
  ["Shift Enter", "newLine"],
  ["↑ ↓", "before"],
  ["Tab", "completion"],
  ["p", "next"],
  ["a", "allowOnce"],
  ["Shift A", "allowAlways"],
  ["d", "deny"],
  ["Shift D", "denyWithReason"],
  ["Space ← →", "replay"],
  ["Esc", "back"],
  ["?", "list"],
];

export function Shortcuts({ close }: { close(): void }) {
  const { words } = useReader();
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog ref={dialog} class="dialog dialog-small" aria-labelledby="shortcuts-title" onClose={close}>
      <DialogHead dialog={dialog} titleId="shortcuts-title" title={words.shortcuts.title} />
      <dl class="shortcuts">
        {SHORTCUTS.map(([keys, what]) => (
          <div key={keys}>
            <dt>
              <kbd>{keys}</kbd>
            </dt>
            <dd>{words.shortcuts[what]}</dd>
          </div>
        ))}
      </dl>
    </dialog>
  );
}
