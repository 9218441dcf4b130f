import type { Signal } from "@preact/signals";
import type { Chat } from "../chat.ts";
import { nextTheme, type Theme } from "../theme.ts";
import { DeviceIcon, KeyboardIcon, MoonIcon, QuestionIcon, SunIcon } from "./icons.tsx";

const THEME = {
  device: { icon: DeviceIcon, name: "as the device" },
  light: { icon: SunIcon, name: "light" },
  dark: { icon: MoonIcon, name: "dark" },
} as const;

function ThemeButton({ theme }: { readonly theme: Signal<Theme> }) {
  const { icon: Icon, name } = THEME[theme.value];
  const label = `Colours: ${name}. Change`;
  return (
    <button
      type="button"
      class="icon-button"
      aria-label={label}
      title={label}
      onClick={() => {
        theme.value = nextTheme(theme.value);
      }}
    >
      <Icon />
    </button>
  );
}

export interface HeaderProps {
  readonly chat: Chat;
  readonly chatId: string;
  readonly theme: Signal<Theme>;
  showNextPending(): void;
  showShortcuts(): void;
}

export function Header({ chat, chatId, theme, showNextPending, showShortcuts }: HeaderProps) {
  const count = chat.pending.value.length;
  const connected = chat.connection.value.kind === "connected";
  return (
    <header class="top">
      <h1>
        <img src="/favicon.svg" alt="" width="20" height="20" />
        openclaw-exec
        {chatId !== "main" && <span class="chat-name">{chatId}</span>}
      </h1>
      <span class={connected ? "presence presence-on" : "presence"}>{connected ? "Connected" : "Not connected"}</span>
      <span class="top-side">
        {count > 0 && (
          <button type="button" class="pending-chip" onClick={showNextPending} title="Go to the next one (p)">
            <QuestionIcon />
            {count} <span class="pending-words">waiting for you</span>
          </button>
        )}
        <button
          type="button"
          class="icon-button keys-button"
          aria-label="Keyboard shortcuts"
          title="Keyboard shortcuts (?)"
          onClick={showShortcuts}
        >
          <KeyboardIcon />
        </button>
        <ThemeButton theme={theme} />
      </span>
    </header>
  );
}
