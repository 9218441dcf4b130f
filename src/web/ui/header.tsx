import type { Signal } from "@preact/signals";
import type { Chat } from "../chat.ts";
import { nextTheme, type Theme } from "../theme.ts";
import { useReader } from "../words/reader.ts";
import { DeviceIcon, KeyboardIcon, MoonIcon, QuestionIcon, RecordingsIcon, SunIcon } from "./icons.tsx";

const ICONS = { device: DeviceIcon, light: SunIcon, dark: MoonIcon } as const;

function ThemeButton({ theme }: { readonly theme: Signal<Theme> }) {
  const Icon = ICONS[theme.value];
  const label = useReader().words.colours(theme.value);
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
  showRecordings(): void;
}

export function Header({ chat, chatId, theme, showNextPending, showShortcuts, showRecordings }: HeaderProps) {
  const { words } = useReader();
  const count = chat.pending.value.length;
  const connected = chat.connection.value.kind === "connected";
  return (
    <header class="top">
      <h1>
        <img src="/favicon.svg" alt="" width="20" height="20" />
        openclaw-exec
        {chatId !== "main" && <span class="chat-name">{chatId}</span>}
      </h1>
      <span class={connected ? "presence presence-on" : "presence"}>
        {connected ? words.connected : words.notConnected}
      </span>
      <span class="top-side">
        {count > 0 && (
          <button type="button" class="pending-chip" onClick={showNextPending} title={words.goToNext}>
            <QuestionIcon />
            {count} <span class="pending-words">{words.waitForYou}</span>
          </button>
        )}
        <button
          type="button"
          class="icon-button"
          aria-label={words.replay.recordings}
          title={words.replay.recordings}
          onClick={showRecordings}
        >
          <RecordingsIcon />
        </button>
        <button
          type="button"
          class="icon-button keys-button"
          aria-label={words.shortcuts.title}
          title={`${words.shortcuts.title} (?)`}
          onClick={showShortcuts}
        >
          <KeyboardIcon />
        </button>
        <ThemeButton theme={theme} />
      </span>
    </header>
  );
}
