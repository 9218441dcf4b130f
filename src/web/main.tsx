import { render } from "preact";
import { createChat } from "./chat.ts";
import { browserStorage } from "./platform.ts";
import { readSession } from "./session.ts";
import { themeSignal } from "./theme.ts";
import { App } from "./ui/app.tsx";
import { readerOf } from "./words/reader.ts";

/** Told to the gateway for its log; the page is served by the gateway it talks to, so they are one version. */
const PAGE_VERSION = "web";

const root = document.getElementById("app");
if (root === null) throw new Error("index.html has no element #app");

const storage = browserStorage();
const session = readSession(storage.values);
const theme = themeSignal(storage.values);
const reader = readerOf(navigator.languages);
const chat = createChat({
  session,
  storage: storage.values,
  storageKeys: storage.keys,
  version: PAGE_VERSION,
  locale: reader.language,
});
render(<App chat={chat} chatId={session.chatId} theme={theme} reader={reader} />, root);
