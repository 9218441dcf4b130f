import { useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Chat } from "../chat.ts";
import type { Message } from "../conversation.ts";
import { dayKey, dayName } from "../format.ts";
import { earlier, later, type RenderWindow, stretch } from "../render-window.ts";
import { RequestError } from "../request-error.ts";
import { useReader } from "../words/reader.ts";
import { CardView } from "./card-view.tsx";
import { DownIcon } from "./icons.tsx";
import { OutgoingView } from "./said.tsx";
import { Welcome } from "./welcome.tsx";

/** Pixels from the end within which new messages are followed. */
const NEAR_END = 48;
/** Pixels from an edge at which the next stretch is drawn or asked for. */
const NEAR_EDGE = 600;

interface Anchor {
  readonly element: Element;
  readonly top: number;
}

/** The first message in view: what the eye holds on to while the list changes above it. */
function anchorIn(box: HTMLElement): Anchor | undefined {
  const edge = box.getBoundingClientRect().top;
  for (const element of box.querySelectorAll("[data-order]")) {
    const rect = element.getBoundingClientRect();
    if (rect.bottom > edge) return { element, top: rect.top };
  }
  return undefined;
}

function Day({
  message,
  before,
  now,
}: {
  readonly message: Message;
  readonly before: Message | undefined;
  readonly now: number;
}) {
  const { language } = useReader();
  if (before !== undefined && dayKey(before.atMs) === dayKey(message.atMs)) return null;
  return (
    <li class="day">
      <span>{dayName(message.atMs, now, language)}</span>
    </li>
  );
}

export function MessageList({ chat }: { readonly chat: Chat }) {
  const { messages, hasOlder } = chat.conversation.value;
  const outgoing = chat.outgoing.value.filter((message) => message.echoed === undefined);
  const connected = chat.connection.value.kind === "connected";
  const { words } = useReader();
  const box = useRef<HTMLDivElement>(null);
  const list = useRef<HTMLOListElement>(null);
  const following = useRef(true);
  const anchor = useRef<Anchor | undefined>(undefined);
  const reaching = useRef(false);
  const [window, setWindow] = useState<RenderWindow | undefined>(undefined);
  const [seenOrder, setSeenOrder] = useState(0);
  const [away, setAway] = useState(false);

  const orders = useMemo(() => messages.map((message) => message.order), [messages]);
  const { start, end } = stretch(window, orders);
  const newest = orders.at(-1) ?? 0;
  const unread = away ? orders.length - orders.findLastIndex((order) => order <= seenOrder) - 1 : 0;

  const toEnd = useCallback(() => {
    following.current = true;
    setAway(false);
    setWindow(undefined);
    requestAnimationFrame(() => box.current?.scrollTo({ top: box.current.scrollHeight }));
  }, []);

  // Own words are always followed.
  const sent = outgoing.at(-1)?.clientId;
  useEffect(() => {
    if (sent !== undefined) toEnd();
  }, [sent, toEnd]);

  // Whatever makes the content grow, live output included, keeps the end in view while it is followed.
  useEffect(() => {
    const [outer, inner] = [box.current, list.current];
    if (outer === null || inner === null) return undefined;
    const observer = new ResizeObserver(() => {
      if (following.current) outer.scrollTop = outer.scrollHeight;
    });
    observer.observe(inner);
    observer.observe(outer);
    return () => observer.disconnect();
  }, []);

  // Messages that came in above must not move what is being read.
  useLayoutEffect(() => {
    const held = anchor.current;
    if (box.current === null || held === undefined || following.current || !held.element.isConnected) return;
    box.current.scrollTop += held.element.getBoundingClientRect().top - held.top;
  }, [start, end, messages]);

  const showEarlier = async () => {
    if (reaching.current) return;
    reaching.current = true;
    try {
      if (start === 0) await chat.older();
      const all = chat.conversation.peek().messages.map((message) => message.order);
      setWindow((before) => earlier(stretch(before, all), all));
    } catch (error) {
      // Without a connection there is nothing earlier to show; the button stays.
      if (!(error instanceof RequestError)) throw error;
    } finally {
      reaching.current = false;
    }
  };

  const onScroll = () => {
    const element = box.current;
    if (element === null) return;
    const below = element.scrollHeight - element.scrollTop - element.clientHeight;
    const atEnd = below < NEAR_END && end === messages.length;
    following.current = atEnd;
    if (atEnd) {
      anchor.current = undefined;
      if (away) setAway(false);
      if (window !== undefined) setWindow(undefined);
      return;
    }
    anchor.current = anchorIn(element);
    if (!away) {
      setSeenOrder(newest);
      setAway(true);
      // From now on the stretch must not slide on by itself.
      if (window === undefined) setWindow({ from: orders[start] ?? 0 });
    }
    if (element.scrollTop < NEAR_EDGE && (start > 0 || (hasOlder && connected))) void showEarlier();
    else if (below < NEAR_EDGE && end < messages.length) setWindow(later({ start, end }, orders));
  };

  const drawn = messages.slice(start, end);
  const now = chat.now.peek();
  return (
    <div class="conversation">
      <h2 class="off-screen">{words.conversation}</h2>
      <div ref={box} class="scroller" onScroll={onScroll}>
        <ol ref={list} class="messages" aria-label={words.conversation} aria-busy={!chat.loaded.value}>
          {start === 0 && !hasOlder && messages.length > 0 && <li class="beginning">{words.beginning}</li>}
          {(start > 0 || hasOlder) && (
            <li class="beginning">
              <button
                type="button"
                class="quiet-button"
                onClick={() => {
                  if (box.current !== null) anchor.current = anchorIn(box.current);
                  following.current = false;
                  void showEarlier();
                }}
              >
                {words.showEarlier}
              </button>
            </li>
          )}
          {drawn.flatMap((message, at) => [
            <Day
              key={`day-${message.messageId}`}
              message={message}
              before={at === 0 ? undefined : drawn[at - 1]}
              now={now}
            />,
            <li key={message.messageId} class="message" data-order={message.order}>
              <CardView message={message} />
            </li>,
          ])}
          {end === messages.length &&
            outgoing.map((message) => (
              <li key={message.clientId} class="message">
                <OutgoingView
                  message={message}
                  connected={connected}
                  resend={() => chat.resend(message.clientId)}
                  discard={() => chat.discard(message.clientId)}
                />
              </li>
            ))}
        </ol>
        {chat.loaded.value && messages.length === 0 && outgoing.length === 0 && <Welcome />}
      </div>
      {away && (
        <button type="button" class={unread > 0 ? "pill pill-new" : "pill"} onClick={toEnd}>
          <DownIcon />
          {unread > 0 ? words.newMessages(unread) : words.latest}
        </button>
      )}
    </div>
  );
}
