import type { Chat } from "../chat.ts";
import { useReader } from "../words/reader.ts";

/** Says what is wrong with the connection and when it is tried again. Nothing while all is well. */
export function ConnectionLine({ chat }: { readonly chat: Chat }) {
  const words = useReader().words.connection;
  const state = chat.connection.value;
  const waiting = chat.outgoing.value.filter((message) => message.refused === undefined).length;
  const queued = waiting > 0 ? ` ${words.queued(waiting)}` : "";

  if (state.kind === "waiting") {
    // The wait is counted on this device's clock, which `now` follows only in its pace.
    void chat.now.value;
    const seconds = Math.max(0, Math.ceil((state.retryAtMs - Date.now()) / 1000));
    return (
      <div class="connection-line">
        <span>
          <span role="status">{state.why ?? words.lost}</span> {words.tryingAgain(seconds)}
          {queued}
        </span>
        <button type="button" class="quiet-button" onClick={() => chat.retryNow()}>
          {words.tryNow}
        </button>
      </div>
    );
  }
  if (state.kind === "connecting" && chat.loaded.value) {
    return (
      <div class="connection-line connection-busy">
        {words.reconnecting}
        {queued}
      </div>
    );
  }
  if (state.kind === "connected" && chat.trouble.value !== undefined) {
    return (
      <div class="connection-line">
        <span role="status">{words.notLoaded(chat.trouble.value)}</span>
        <button type="button" class="quiet-button" onClick={() => chat.retryOpen()}>
          {words.tryAgain}
        </button>
      </div>
    );
  }
  return null;
}
