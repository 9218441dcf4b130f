import { useCardContext } from "./card-context.ts";

const SUGGESTIONS: readonly { readonly text: string; readonly what: string }[] = [
  { text: "/exec uname -a", what: "run a command" },
  { text: "/exec", what: "see the policy in force, and where each value comes from" },
  { text: "/process list", what: "see what runs in the background" },
  { text: "/help", what: "see every command" },
];

/** An empty conversation says what can be done here. */
export function Welcome() {
  const { suggest } = useCardContext();
  return (
    <div class="welcome">
      <h2>Run a command</h2>
      <p>Type it after /exec. If the policy wants a person's word first, a card asks for it here.</p>
      <ul>
        {SUGGESTIONS.map(({ text, what }) => (
          <li key={text}>
            <button type="button" onClick={() => suggest(text)}>
              <code>{text}</code>
              <span>{what}</span>
            </button>
          </li>
        ))}
      </ul>
    </div>
  );
}
