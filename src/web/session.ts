/** Who this page is: the token from the link, the chat, the browser's own id. Read once, when the page opens. */

import type { KeyValue } from "./outbox.ts";
import { newId } from "./platform.ts";

const TOKEN_KEY = "openclaw-exec.token";
const CLIENT_KEY = "openclaw-exec.client";
const DEFAULT_CHAT = "main";
const CHAT_ID = /^[A-Za-z0-9._-]{1,64}$/;

export interface Session {
  readonly token: string | undefined;
  readonly chatId: string;
  readonly clientId: string;
}

/** `#token=…&chat=…`. The token leaves the address bar at once: addresses are shared, bookmarked and synced. */
export function readSession(storage: KeyValue): Session {
  const hash = new URLSearchParams(location.hash.slice(1));
  const token = hash.get("token");
  if (token !== null) {
    keepToken(storage, token);
    hash.delete("token");
    const rest = hash.toString();
    history.replaceState(null, "", location.pathname + location.search + (rest === "" ? "" : `#${rest}`));
  }
  const chat = hash.get("chat") ?? DEFAULT_CHAT;
  return {
    token: token ?? storage.getItem(TOKEN_KEY) ?? undefined,
    chatId: CHAT_ID.test(chat) ? chat : DEFAULT_CHAT,
    clientId: clientId(storage),
  };
}

export function keepToken(storage: KeyValue, token: string): void {
  put(storage, TOKEN_KEY, token.trim());
}

/** A person may paste the whole link instead of the token. */
export function tokenFrom(pasted: string): string {
  const text = pasted.trim();
  const hash = text.indexOf("#");
  const inLink = hash === -1 ? null : new URLSearchParams(text.slice(hash + 1)).get("token");
  return inLink ?? text;
}

function clientId(storage: KeyValue): string {
  const known = storage.getItem(CLIENT_KEY);
  if (known !== null) return known;
  const fresh = newId();
  put(storage, CLIENT_KEY, fresh);
  return fresh;
}

function put(storage: KeyValue, key: string, value: string): void {
  try {
    storage.setItem(key, value);
  } catch {
    // A full or forbidden storage: the page works, and asks for the token again next time.
  }
}
