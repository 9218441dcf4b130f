/** Light, dark, or as the device says. */
import { effect, type Signal, signal } from "@preact/signals";
import type { KeyValue } from "./outbox.ts";

export type Theme = "device" | "light" | "dark";

const KEY = "openclaw-exec.theme";
const ORDER: readonly Theme[] = ["device", "light", "dark"];

export function nextTheme(theme: Theme): Theme {
  return ORDER[(ORDER.indexOf(theme) + 1) % ORDER.length] ?? "device";
}

export function themeSignal(storage: KeyValue): Signal<Theme> {
  const kept = storage.getItem(KEY);
  const theme = signal<Theme>(kept === "light" || kept === "dark" ? kept : "device");
  effect(() => {
    const value = theme.value;
    if (value === "device") {
      delete document.documentElement.dataset.theme;
      storage.removeItem(KEY);
    } else {
      document.documentElement.dataset.theme = value;
      try {
        storage.setItem(KEY, value);
      } catch {
        // Kept for this page only.
      }
    }
  });
  return theme;
}
