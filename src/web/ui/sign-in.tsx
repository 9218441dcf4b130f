import { useState } from "preact/hooks";
import { tokenFrom } from "../session.ts";

export interface SignInProps {
  readonly tokenGiven: boolean;
  readonly message: string;
  signIn(token: string): void;
}

export function SignIn({ tokenGiven, message, signIn }: SignInProps) {
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
        <h1>{tokenGiven ? "This token is not valid" : "Sign in to the gateway"}</h1>
        <p>
          {tokenGiven
            ? "The gateway does not know the token this browser has. It may have been renewed."
            : "The web chat opens with the link that the gateway printed when it started."}
        </p>
        <label>
          Link or token
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
          Open the chat
        </button>
        <p class="front-hint">
          To print the link again, run on the gateway's machine:
          <code>openclaw-exec gateway --print-link</code>
        </p>
        {message !== "" && <p class="front-detail">{message}</p>}
      </form>
    </main>
  );
}

export function Refused({ message }: { readonly message: string }) {
  return (
    <main class="front">
      <div class="front-card">
        <img src="/favicon.svg" alt="" width="40" height="40" />
        <h1>This page and the gateway do not match</h1>
        <p>{message}</p>
        <button type="button" class="button button-primary" onClick={() => location.reload()}>
          Load the page again
        </button>
      </div>
    </main>
  );
}
