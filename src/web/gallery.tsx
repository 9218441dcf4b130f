/**
 * The card gallery, for people who work on the page: every card in every state, and the states of the page that are
 * hard to bring about. `#view=cards|chat|empty|offline|sign-in|wrong-token|log|replay|recordings|shortcuts|completions`, `&theme=dark`, `&language=nl`.
 * Not part of the product.
 */
import { computed, signal } from "@preact/signals";
import { render } from "preact";
import type { Chat } from "./chat.ts";
import type { ConnectionState } from "./connection.ts";
import { type Conversation, EMPTY, saidTexts, waiting } from "./conversation.ts";
import { GALLERY, GALLERY_NOW } from "./gallery-cards.ts";
import type { OutgoingMessage } from "./outbox.ts";
import type { Theme } from "./theme.ts";
import { App } from "./ui/app.tsx";
import { CardContextProvider } from "./ui/card-context.ts";
import { CardView } from "./ui/card-view.tsx";
import { LogDialog } from "./ui/log-dialog.tsx";
import { RecordingsDialog } from "./ui/recordings-dialog.tsx";
import { ReplayDialog } from "./ui/replay-dialog.tsx";
import { Shortcuts } from "./ui/shortcuts.tsx";
import { ReaderProvider, readerOf } from "./words/reader.ts";

const hash = new URLSearchParams(location.hash.slice(1));
const view = hash.get("view") ?? "cards";
const theme = signal<Theme>(hash.get("theme") === "dark" ? "dark" : "light");
document.documentElement.dataset.theme = theme.value;

const reader = readerOf([hash.get("language") ?? "en"]);
const now = signal(GALLERY_NOW);
const messages = GALLERY.map(([, card], at) => ({
  messageId: `gallery-${at}`,
  order: at + 1,
  seq: at + 1,
  atMs: GALLERY_NOW,
  card,
}));

const STATES: Readonly<Record<string, ConnectionState>> = {
  offline: { kind: "waiting", retryAtMs: Date.now() + 8000 },
  "sign-in": { kind: "signed-out", tokenGiven: false, message: "" },
  "wrong-token": { kind: "signed-out", tokenGiven: true, message: "The token does not match the gateway's." },
};

const OUTGOING: readonly OutgoingMessage[] = [
  { clientId: "c1", chatId: "main", text: "/exec git status", queuedAtMs: GALLERY_NOW },
  { clientId: "c2", chatId: "main", text: "/nosuch", queuedAtMs: GALLERY_NOW, refused: "The gateway is stopping." },
];

function staticChat(conversation: Conversation): Chat {
  return {
    connection: signal(STATES[view] ?? { kind: "connected" }),
    conversation: signal(conversation),
    outgoing: signal(view === "offline" ? OUTGOING : []),
    loaded: signal(true),
    trouble: signal(undefined),
    now,
    pending: computed(() => waiting(conversation)),
    news: signal(undefined),
    said: computed(() => saidTexts(conversation)),
    draft: { read: () => "", write() {} },
    send() {},
    resend() {},
    discard() {},
    press: () => new Promise(() => {}),
    older: () => Promise.resolve(),
    complete: async () => [
      { insert: "/exec ", label: "/exec", detail: "Run a command, or show and set the policy of this conversation" },
      { insert: "/elevated ", label: "/elevated", detail: "Lift the policy for this conversation" },
      { insert: "/events ", label: "/events", detail: "What waits to be told" },
    ],
    runLog,
    recordings: async () => RECORDINGS,
    readRecording,
    signIn() {},
    retryNow() {},
    retryOpen() {},
  };
}

const RECORDINGS = ["npm run build", "htop", "for i in $(seq 1 100); do printf '\\r%3d %%' $i; sleep 0.1; done"].map(
  (command, at) => ({ runId: `run-${at}`, command, startedAtMs: GALLERY_NOW - at * 9e7, bytes: 3_000 * 40 ** at }),
);

/** A screen with everything on it that a terminal can do and a card can not. */
async function readRecording(runId: string) {
  const bar = (percent: number) =>
    `\u001b[5;3H\u001b[32m${"█".repeat(percent / 2)}\u001b[90m${"░".repeat(50 - percent / 2)}\u001b[0m ${percent} %`;
  const opening = [
    "\u001b[?25l\u001b[2J\u001b[1;1H\u001b[7m  build monitor".padEnd(120 + 15),
    "\u001b[0m\u001b[3;3H\u001b[1mCompiling\u001b[0m \u001b[36msrc/core\u001b[0m   日本語 \u001b[38;2;255;140;0mwarm\u001b[0m \u001b[41;97m E \u001b[0m",
    "\u001b[30;1H\u001b[44;97m F1 Help  F10 Quit ".padEnd(120 + 12),
    "\u001b[0m",
  ].join("");
  const events = [
    [0, "o", opening] as const,
    ...Array.from({ length: 51 }, (_, at) => [at * 0.2, "o", bar(at * 2)] as const),
    [10.5, "o", "\u001b[7;3H\u001b[1;32mdone\u001b[0m\u001b[?25h "] as const,
  ];
  return { runId, command: "htop", startedAtMs: GALLERY_NOW, bytes: 1, cols: 120, rows: 30, events };
}

const LOG_LINES = 1240;

async function runLog(_runId: string, offset: number | undefined, limit: number) {
  const from = offset ?? Math.max(0, LOG_LINES - limit);
  const lines = Math.min(limit, LOG_LINES - from);
  const text = Array.from(
    { length: lines },
    (_, at) =>
      `\u001b[2m${String(from + at + 1).padStart(5)}\u001b[0m compiling \u001b[36msrc/module-${from + at}.c\u001b[0m`,
  ).join("\n");
  return { text, offset: from, lines, totalLines: LOG_LINES, lost: true, running: false };
}

function Cards() {
  const context = {
    now,
    connected: signal(true),
    press: () => new Promise<void>(() => {}),
    outputSoFar: async () => "",
    showLog() {},
    showReplay() {},
    suggest() {},
  };
  return (
    <CardContextProvider value={context}>
      <main class="gallery">
        {messages.map((message, at) => (
          <section key={message.messageId}>
            <h2>{GALLERY[at]?.[0]}</h2>
            <CardView message={message} />
          </section>
        ))}
      </main>
    </CardContextProvider>
  );
}

function Page() {
  switch (view) {
    case "cards":
      return <Cards />;
    case "log":
      return <LogDialog runId="run-1" command="make release" runLog={runLog} close={() => {}} />;
    case "replay":
      return <ReplayDialog runId="run-1" command="make monitor" read={readRecording} close={() => {}} />;
    case "recordings":
      return <RecordingsDialog list={async () => RECORDINGS} show={() => {}} close={() => {}} />;
    case "shortcuts":
      return <Shortcuts close={() => {}} />;
    default: {
      const shown = view === "empty" ? EMPTY : { ...EMPTY, messages, seq: messages.length };
      return <App chat={staticChat(shown)} chatId="main" theme={theme} reader={reader} />;
    }
  }
}

const root = document.getElementById("app");
if (root === null) throw new Error("gallery.html has no element #app");
render(
  <ReaderProvider value={reader}>
    <Page />
  </ReaderProvider>,
  root,
);
