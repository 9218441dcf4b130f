/** What the page needs of the browser, with the gaps of plain `http` and private windows filled. */
import type { Surroundings } from "./connection.ts";
import type { KeyValue } from "./outbox.ts";

/** `crypto.randomUUID` exists on secure origins only; a phone on the home network often is not one. */
export function newId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

export function later(ms: number, action: () => void): () => void {
  const timer = setTimeout(action, ms);
  return () => clearTimeout(timer);
}

export function surroundings(): Surroundings {
  const scheme = location.protocol === "https:" ? "wss" : "ws";
  return {
    openSocket: (listener) => {
      const socket = new WebSocket(`${scheme}://${location.host}/ws`);
      socket.onopen = () => listener.open();
      socket.onmessage = (event) => listener.message(event.data);
      socket.onclose = (event) => listener.close(event.code, event.reason);
      return socket;
    },
    now: () => Date.now(),
    later,
    random: () => Math.random(),
  };
}

/** `localStorage`, or memory where the browser forbids it. */
export function browserStorage(): { readonly values: KeyValue; readonly keys: readonly string[] } {
  try {
    const values = localStorage;
    return { values, keys: Array.from({ length: values.length }, (_, at) => values.key(at) ?? "") };
  } catch {
    const memory = new Map<string, string>();
    const values: KeyValue = {
      getItem: (key) => memory.get(key) ?? null,
      setItem: (key, value) => void memory.set(key, value),
      removeItem: (key) => void memory.delete(key),
    };
    return { values, keys: [] };
  }
}

export interface Draft {
  read(): string;
  write(text: string): void;
}

/** What is being written in this tab; it outlives a reload. */
export function draftOf(chatId: string): Draft {
  const key = `openclaw-exec.draft.${chatId}`;
  return {
    read: () => {
      try {
        return sessionStorage.getItem(key) ?? "";
      } catch {
        return "";
      }
    },
    write: (text) => {
      try {
        if (text === "") sessionStorage.removeItem(key);
        else sessionStorage.setItem(key, text);
      } catch {
        // A full or forbidden storage: the draft lives as long as the page does.
      }
    },
  };
}

/** Says whether it worked. The clipboard API too is for secure origins only. */
export async function copy(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const area = document.createElement("textarea");
    area.value = text;
    area.className = "off-screen";
    area.setAttribute("readonly", "");
    const focused = document.activeElement;
    document.body.append(area);
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    if (focused instanceof HTMLElement) focused.focus();
    return done;
  }
}

export function download(name: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: "text/plain;charset=utf-8" }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  URL.revokeObjectURL(url);
}

export function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.closest("input, textarea, select, [contenteditable]") !== null;
}
