import { useState } from "preact/hooks";
import { tokenFrom } from "../session.ts";
import { useReader } from "../words/reader.ts";

export interface SignInProps {
  readonly tokenGiven: boolean;
  readonly message: string;
  signIn(token: string): void;
}

export function SignIn({ tokenGiven, message, signIn }: SignInProps) {
  const words = useReader().words.signIn;
  const [text, setText] = useState("");
  return (
    <main class="front">
      <form
        class="front-card"
        onSubmit={(event) => {
          event.preventDefault();
          const token = tokenFrom(text);
          if (token !== "") signIn(token);
        }}
      >
        <img src="/favicon.svg" alt="" width="40" height="40" />
        <h1>{tokenGiven ? words.titleWrong : words.title}</h1>
        <p>{tokenGiven ? words.textWrong : words.text}</p>
        <label>
          {words.label}
          <input
            class="field"
            type="password"
            name="token"
            autocomplete="off"
            autofocus
            value={text}
            onInput={(event) => setText(event.currentTarget.value)}
          />
        </label>
        <button type="submit" class="button button-primary" disabled={text.trim() === ""}>
          {words.open}
        </button>
        <p class="front-hint">
          {words.printAgain}
          <code>openclaw-exec gateway --print-link</code>
        </p>
        {message !== "" && <p class="front-detail">{message}</p>}
      </form>
    </main>
  );
}

export function Refused({ message }: { readonly message: string }) {
  const words = useReader().words.signIn;
  return (
    <main class="front">
      <div class="front-card">
        <img src="/favicon.svg" alt="" width="40" height="40" />
        <h1>{words.mismatch}</h1>
        <p>{message}</p>
        <button type="button" class="button button-primary" onClick={() => location.reload()}>
          {words.reload}
        </button>
      </div>
    </main>
  );
}
