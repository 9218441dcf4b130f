import { useEffect, useRef } from "preact/hooks";

const SHORTCUTS: readonly (readonly [keys: string, what: string])[] = [
  ["/ or Ctrl K", "write a message"],
  ["Enter", "send"],
  ["Shift Enter", "new line"],
  ["Up, Down", "what you wrote before"],
  ["Tab", "take a completion"],
  ["p", "go to the next approval that waits"],
  ["a", "on an approval: allow once"],
  ["Shift A", "on an approval: allow always, asks back"],
  ["d", "on an approval: deny"],
  ["Shift D", "on an approval: deny with a reason"],
  ["Esc", "back, or out of the message field"],
  ["?", "this list"],
];

export function Shortcuts({ close }: { close(): void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog ref={dialog} class="dialog dialog-small" aria-labelledby="shortcuts-title" onClose={close}>
      <header class="dialog-head">
        <h2 id="shortcuts-title">Keyboard shortcuts</h2>
        <button type="button" class="quiet-button" onClick={() => dialog.current?.close()}>
          Close
        </button>
      </header>
      <dl class="shortcuts">
        {SHORTCUTS.map(([keys, what]) => (
          <div key={keys}>
            <dt>
              <kbd>{keys}</kbd>
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
    </dialog>
  );
}
