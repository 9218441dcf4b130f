import { useReader } from "../words/reader.ts";
import { useCardContext } from "./card-context.ts";

const SUGGESTIONS = [
  { text: "/exec uname -a", what: "runs" },
  { text: "/exec", what: "policy" },
  { text: "/process list", what: "background" },
  { text: "/help", what: "help" },
] as const;

/** An empty conversation says what can be done here. */
export function Welcome() {
  const { suggest } = useCardContext();
  const words = useReader().words.welcome;
  return (
    <div class="welcome">
      <h2>{words.title}</h2>
      <p>{words.text}</p>
      <ul>
        {SUGGESTIONS.map(({ text, what }) => (
          <li key={text}>
            <button type="button" onClick={() => suggest(text)}>
              <code>{text}</code>
              <span>{words[what]}</span>
            </button>
          </li>
        ))}
      </ul>
    </div>
  );
}
