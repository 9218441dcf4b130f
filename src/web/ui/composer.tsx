import type { Ref } from "preact";
import { useEffect, useImperativeHandle, useLayoutEffect, useRef, useState } from "preact/hooks";
import { type Chat, MAX_MESSAGE } from "../chat.ts";
import { type CompletionList, enterItem, moveChoice, tabItem, wantsCompletion } from "../completion.ts";
import { later } from "../platform.ts";
import { mayRecall, NOT_RECALLING, recall } from "../recall.ts";
import { useReader } from "../words/reader.ts";
import { SendIcon } from "./icons.tsx";

/** Completions are asked for after a pause of this length. */
const TYPING_PAUSE_MS = 60;
const LIST_ID = "completions";

export interface ComposerHandle {
  focus(): void;
  /** Puts text there to be looked at and sent by hand. */
  fill(text: string): void;
}

function CompletionPopup({
  list,
  label,
  take,
}: {
  readonly list: CompletionList;
  readonly label: string;
  take(at: number): void;
}) {
  const chosen = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => chosen.current?.scrollIntoView({ block: "nearest" }));
  return (
    <div id={LIST_ID} class="completions" role="listbox" aria-label={label}>
      {list.items.map((item, at) => (
        // biome-ignore lint/a11y/useFocusableInteractive: as above
        // biome-ignore lint/a11y/useKeyWithClickEvents: the keys are the text field's
        <div
          key={item.insert}
          ref={at === list.chosen ? chosen : null}
          id={`${LIST_ID}-${at}`}
          role="option"
          aria-selected={at === list.chosen}
          onMouseDown={(event) => event.preventDefault()}
          onClick={() => take(at)}
        >
          <span class="completion-label">{item.label}</span>
          <span class="completion-detail">{item.detail}</span>
        </div>
      ))}
    </div>
  );
}

export function Composer({ chat, handle }: { readonly chat: Chat; readonly handle: Ref<ComposerHandle> }) {
  const {
    words: { composer: words },
    language,
  } = useReader();
  const [text, setText] = useState(() => chat.draft.read());
  const [list, setList] = useState<CompletionList | undefined>(undefined);
  const [walk, setWalk] = useState(NOT_RECALLING);
  const field = useRef<HTMLTextAreaElement>(null);
  const asked = useRef("");
  const connected = chat.connection.value.kind === "connected";
  const tooLong = text.length > MAX_MESSAGE;
  const open = list !== undefined && list.items.length > 0 && list.forText === text;

  const focusAtEnd = (value: string) => {
    requestAnimationFrame(() => {
      field.current?.focus();
      field.current?.setSelectionRange(value.length, value.length);
    });
  };
  const put = (value: string) => {
    setText(value);
    focusAtEnd(value);
  };
  useImperativeHandle(handle, () => ({
    focus: () => field.current?.focus(),
    fill: (value) => {
      setWalk(NOT_RECALLING);
      put(value);
    },
  }));

  // Not behind the next paint: a page that goes right after a keystroke keeps it.
  useLayoutEffect(() => chat.draft.write(text), [text, chat]);

  // Browsers without `field-sizing` grow the field by hand.
  useLayoutEffect(() => {
    const element = field.current;
    if (element === null || CSS.supports("field-sizing", "content")) return;
    element.style.height = "auto";
    element.style.height = `${element.scrollHeight}px`;
  }, [text]);

  useEffect(() => {
    if (!connected || !wantsCompletion(text) || walk.back > 0 || asked.current === text) return undefined;
    return later(TYPING_PAUSE_MS, async () => {
      asked.current = text;
      const items = await chat.complete(text);
      if (asked.current === text) setList({ forText: text, items, chosen: -1 });
    });
  }, [text, connected, walk.back, chat]);

  const take = (insert: string) => {
    setList(undefined);
    put(insert);
  };
  const send = () => {
    if (text.trim() === "" || tooLong) return;
    chat.send(text);
    setText("");
    setList(undefined);
    setWalk(NOT_RECALLING);
    asked.current = "";
  };
  const walkBy = (step: 1 | -1): boolean => {
    const next = recall(walk, chat.said.value, text, step);
    if (next === undefined) return false;
    setWalk(next.state);
    put(next.text);
    return true;
  };

  const onKeyDown = (event: KeyboardEvent & { readonly currentTarget: HTMLTextAreaElement }) => {
    // The Enter that ends an input method's composition is not meant for us.
    if (event.isComposing) return;
    const { selectionStart, selectionEnd } = event.currentTarget;
    const step = event.key === "ArrowUp" ? 1 : event.key === "ArrowDown" ? -1 : undefined;
    const bare = !event.shiftKey && !event.ctrlKey && !event.metaKey && !event.altKey;
    if (event.key === "Escape") {
      if (open) setList(undefined);
      else event.currentTarget.blur();
    } else if (step !== undefined && bare && open && walk.back === 0) {
      setList(moveChoice(list, step === 1 ? -1 : 1));
    } else if (step !== undefined && bare) {
      const walking = walk.back > 0 || step === 1;
      if (!walking || !mayRecall(text, selectionStart, selectionEnd, step) || !walkBy(step)) return;
    } else if (event.key === "Tab" && bare && open) {
      const item = tabItem(list);
      if (item !== undefined) take(item.insert);
    } else if (event.key === "Enter" && !event.shiftKey) {
      const item = open ? enterItem(list, text) : undefined;
      if (item === undefined) send();
      else take(item.insert);
    } else {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
  };

  return (
    <form
      class="composer"
      onSubmit={(event) => {
        event.preventDefault();
        send();
        field.current?.focus();
      }}
    >
      {open && (
        <CompletionPopup list={list} label={words.completions} take={(at) => take(list.items[at]?.insert ?? text)} />
      )}
      <div class="composer-box">
        <textarea
          ref={field}
          rows={1}
          class={/^[/!]/.test(text) ? "composer-command" : ""}
          placeholder={words.placeholder}
          aria-label={words.label}
          aria-controls={open ? LIST_ID : undefined}
          aria-autocomplete="list"
          aria-activedescendant={open && list.chosen >= 0 ? `${LIST_ID}-${list.chosen}` : undefined}
          aria-invalid={tooLong}
          autocomplete="off"
          autocapitalize="off"
          spellcheck={false}
          enterkeyhint="send"
          value={text}
          onInput={(event) => {
            setText(event.currentTarget.value);
            setWalk(NOT_RECALLING);
          }}
          onBlur={() => setList(undefined)}
          onKeyDown={onKeyDown}
        />
        <button
          type="submit"
          class="send-button"
          aria-label={words.send}
          title={`${words.send} (Enter)`}
          disabled={text.trim() === "" || tooLong}
        >
          <SendIcon />
        </button>
      </div>
      {tooLong && (
        <p class="notice notice-warning" role="alert">
          {words.tooLong(text.length.toLocaleString(language), MAX_MESSAGE.toLocaleString(language))}
        </p>
      )}
    </form>
  );
}
