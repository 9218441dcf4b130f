import { useEffect, useState } from "preact/hooks";
import { copy, later } from "../platform.ts";
import { useReader } from "../words/reader.ts";
import { CheckIcon, CopyIcon } from "./icons.tsx";

const SHOWN_MS = 1600;

export function CopyButton({ text, label: idle }: { readonly text: () => string; readonly label: string }) {
  const { copied, notCopied } = useReader().words.card;
  const [result, setResult] = useState<"copied" | "failed" | undefined>(undefined);
  useEffect(() => (result === undefined ? undefined : later(SHOWN_MS, () => setResult(undefined))), [result]);
  const label = result === "copied" ? copied : result === "failed" ? notCopied : idle;
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
