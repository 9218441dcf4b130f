import { type ReadonlySignal, type Signal, useComputed, useSignal, useSignalEffect } from "@preact/signals";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Chat } from "../chat.ts";
import { isTyping } from "../platform.ts";
import type { Theme } from "../theme.ts";
import { type Reader, ReaderProvider } from "../words/reader.ts";
import { Announcer } from "./announcer.tsx";
import { type CardContext, CardContextProvider } from "./card-context.ts";
import { Composer, type ComposerHandle } from "./composer.tsx";
import { ConnectionLine } from "./connection-line.tsx";
import { Header } from "./header.tsx";
import { LogDialog } from "./log-dialog.tsx";
import { MessageList } from "./message-list.tsx";
import { RecordingsDialog } from "./recordings-dialog.tsx";
import { ReplayDialog } from "./replay-dialog.tsx";
import { Shortcuts } from "./shortcuts.tsx";
import { Refused, SignIn } from "./sign-in.tsx";

/** Lines of a running command's output that a page shows which was opened late. */
const TAIL_LINES = 40;
const TITLE = "openclaw-exec";

/** Goes to the question after the focused one, so that pressing again walks through all of them. */
function focusNextPending(): void {
  const cards = [...document.querySelectorAll<HTMLElement>("[data-waiting]")];
  const at = cards.findIndex((card) => card.contains(document.activeElement));
  const next = cards[(at + 1) % cards.length];
  next?.scrollIntoView({ block: "center" });
  next?.focus({ preventScroll: true });
}

/** Whether something came while nobody was looking at the page. */
function useUnseen(chat: Chat): ReadonlySignal<boolean> {
  const unseen = useSignal(false);
  useSignalEffect(() => {
    if (chat.news.value !== undefined && document.visibilityState === "hidden") unseen.value = true;
  });
  useEffect(() => {
    const look = () => {
      if (document.visibilityState === "visible") unseen.value = false;
    };
    document.addEventListener("visibilitychange", look);
    return () => document.removeEventListener("visibilitychange", look);
  }, [unseen]);
  return unseen;
}

export interface AppProps {
  readonly chat: Chat;
  readonly chatId: string;
  readonly theme: Signal<Theme>;
  readonly reader: Reader;
}

export function App({ reader, ...page }: AppProps) {
  useLayoutEffect(() => {
    document.documentElement.lang = reader.language;
  }, [reader]);
  return (
    <ReaderProvider value={reader}>
      <Room {...page} />
    </ReaderProvider>
  );
}

function Room({ chat, chatId, theme }: Omit<AppProps, "reader">) {
  const composer = useRef<ComposerHandle>(null);
  const [log, setLog] = useState<{ readonly runId: string; readonly command: string } | undefined>(undefined);
  const [replay, setReplay] = useState<{ readonly runId: string; readonly command: string } | undefined>(undefined);
  const [recordings, setRecordings] = useState(false);
  const [shortcuts, setShortcuts] = useState(false);
  const connected = useComputed(() => chat.connection.value.kind === "connected");

  const unseen = useUnseen(chat);
  useSignalEffect(() => {
    const count = chat.pending.value.length;
    document.title = count > 0 ? `(${count}) ${TITLE}` : unseen.value ? `• ${TITLE}` : TITLE;
  });

  // On a touch screen the focus would bring up the keyboard over the conversation.
  useEffect(() => {
    if (matchMedia("(pointer: fine)").matches) composer.current?.focus();
  }, []);

  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      const command = event.ctrlKey || event.metaKey;
      if (command && event.key.toLowerCase() === "k") composer.current?.focus();
      else if (command || event.altKey || isTyping(event.target) || document.querySelector("dialog[open]")) return;
      else if (event.key === "/") composer.current?.fill("/");
      else if (event.key === "p") focusNextPending();
      else if (event.key === "?") setShortcuts(true);
      else return;
      event.preventDefault();
    };
    document.addEventListener("keydown", onKeyDown);
    return () => document.removeEventListener("keydown", onKeyDown);
  }, []);

  const context = useMemo<CardContext>(
    () => ({
      now: chat.now,
      connected,
      press: (action) => chat.press(action),
      outputSoFar: async (runId) => (await chat.runLog(runId, undefined, TAIL_LINES)).text,
      showLog: setLog,
      showReplay: setReplay,
      suggest: (text) => composer.current?.fill(text),
    }),
    [chat, connected],
  );

  const state = chat.connection.value;
  if (state.kind === "signed-out") {
    return <SignIn tokenGiven={state.tokenGiven} message={state.message} signIn={(token) => chat.signIn(token)} />;
  }
  if (state.kind === "refused") return <Refused message={state.message} />;
  return (
    <CardContextProvider value={context}>
      <div class="app">
        <Header
          chat={chat}
          chatId={chatId}
          theme={theme}
          showNextPending={focusNextPending}
          showShortcuts={() => setShortcuts(true)}
          showRecordings={() => setRecordings(true)}
        />
        <ConnectionLine chat={chat} />
        <main class="room">
          <MessageList chat={chat} />
          <Composer chat={chat} handle={composer} />
        </main>
        <Announcer chat={chat} />
        {log !== undefined && (
          <LogDialog
            runId={log.runId}
            command={log.command}
            runLog={(runId, offset, limit) => chat.runLog(runId, offset, limit)}
            close={() => setLog(undefined)}
          />
        )}
        {recordings && <RecordingsDialog list={chat.recordings} show={setReplay} close={() => setRecordings(false)} />}
        {replay !== undefined && (
          <ReplayDialog
            runId={replay.runId}
            command={replay.command}
            read={chat.readRecording}
            close={() => setReplay(undefined)}
          />
        )}
        {shortcuts && <Shortcuts close={() => setShortcuts(false)} />}
      </div>
    </CardContextProvider>
  );
}
