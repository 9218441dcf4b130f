import { useReader } from "../words/reader.ts";
import { useCardContext } from "./card-context.ts";

/** Below buttons: why they do nothing now, and what became of a press that did not get through. */
export function PressNotices({ trouble }: { readonly trouble: string | undefined }) {
  const { connected } = useCardContext();
  const { words: own } = useReader();
  return (
    <>
      {!connected.value && <p class="notice">{own.card.offline}</p>}
      {trouble !== undefined && (
        <p class="notice notice-warning" role="alert">
          {trouble}
        </p>
      )}
    </>
  );
}
