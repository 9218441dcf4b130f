import { useEffect, useState } from "preact/hooks";
import { copy, later } from "../platform.ts";
import { CheckIcon, CopyIcon } from "./icons.tsx";

const SHOWN_MS = 1600;

/** `what` completes the sentence "Copy …". */
export function CopyButton({ text, what }: { readonly text: () => string; readonly what: string }) {
  const [result, setResult] = useState<"copied" | "failed" | undefined>(undefined);
  useEffect(() => (result === undefined ? undefined : later(SHOWN_MS, () => setResult(undefined))), [result]);
  const label = result === "copied" ? "Copied" : result === "failed" ? "Could not copy" : `Copy ${what}`;
  return (
    <button
      type="button"
      class="quiet-button copy-button"
      aria-label={label}
      title={label}
      onClick={async () => setResult((await copy(text())) ? "copied" : "failed")}
    >
      {result === "copied" ? <CheckIcon /> : <CopyIcon />}
      <span class="copy-result" aria-live="polite">
        {result === undefined ? "" : label}
      </span>
    </button>
  );
}
