/** Runs a chat at a terminal, with prompt, completion and Ctrl-C, or over a pipe, line by line. */
import { createInterface, type Interface } from "node:readline";
import { setTimeout as wait } from "node:timers/promises";
import type { Redactor } from "../channels/text/redact.ts";
import { firstLanguage } from "../core/words/languages.ts";
import { messagesFor } from "../core/words/messages.ts";
import type { ChatFlags } from "./chat.ts";
import { ChatSession } from "./chat-session.ts";
import { findGateway, GatewayClient } from "./client.ts";
import { type Cli, EXIT } from "./io.ts";
import { painter, type TerminalStyle } from "./terminal-cards.ts";

/** Over a pipe: nothing new for so long after an answer means that it is complete. */
const QUIET_MS = 400;
/** Over a pipe: a line nobody answers holds the next one up no longer than this. */
const ANSWER_MS = 10_000;
const LOOK_MS = 50;

/** The gateway masks what leaves it; masking once more would only hide what it chose to show. */
const NOTHING_TO_MASK: Redactor = { redact: (text) => ({ text, masked: 0 }) };

export async function runChat(cli: Cli, flags: ChatFlags): Promise<number> {
  const atTerminal = cli.stdin.isTTY === true && process.stdout.isTTY === true && !flags.plain;
  const language = firstLanguage(cli.env.LC_ALL || cli.env.LC_MESSAGES || cli.env.LANG);
  const client = new GatewayClient({
    address: await findGateway(cli, flags),
    kind: "terminal",
    locale: language,
    reconnect: true,
  });
  const screen: Screen = atTerminal ? new PromptScreen() : { print: (text) => cli.out(text) };
  const messages = messagesFor(language);
  const colour = atTerminal && cli.env.NO_COLOR === undefined;
  const session = new ChatSession({
    client,
    chatId: flags.chat,
    style: (): TerminalStyle => ({ messages, redactor: NOTHING_TO_MASK, colour, nowMs: Date.now() }),
    print: (text) => screen.print(text),
    newId: () => crypto.randomUUID(),
    atTerminal,
  });
  const lost = new Promise<never>((_, reject) => client.once("end", reject));
  lost.catch(() => undefined);
  try {
    await client.start();
    await session.start();
    const talk = screen instanceof PromptScreen ? atPrompt(cli, session, screen, colour) : overPipe(cli, session);
    await Promise.race([talk, lost]);
    return EXIT.ok;
  } finally {
    client.stop();
    if (screen instanceof PromptScreen) screen.close();
  }
}

interface Screen {
  print(text: string): void;
}

/** Keeps the line being typed below what is printed. */
class PromptScreen implements Screen {
  #lines: Interface | undefined;

  attach(lines: Interface): void {
    this.#lines = lines;
    lines.prompt();
  }

  print(text: string): void {
    if (this.#lines) {
      process.stdout.cursorTo(0);
      process.stdout.clearScreenDown();
    }
    process.stdout.write(`${text}\n`);
    this.#lines?.prompt(true);
  }

  close(): void {
    this.#lines?.close();
  }
}

function atPrompt(cli: Cli, session: ChatSession, screen: PromptScreen, colour: boolean): Promise<void> {
  const lines = createInterface({
    input: cli.stdin,
    output: process.stdout,
    prompt: painter(colour)("bold", "> "),
    history: session.history().reverse(),
    removeHistoryDuplicates: true,
    completer: (line: string, done: (error: Error | null, result: [string[], string]) => void) => {
      session.complete(line).then(
        (items) => done(null, [items.map(({ insert }) => insert), line]),
        () => done(null, [[], line]),
      );
    },
  });
  screen.attach(lines);
  return new Promise((resolve) => {
    let leaving = false;
    lines.on("line", (line) => {
      leaving = false;
      if (line.trim() !== "") session.take(line).catch((error: Error) => screen.print(error.message));
      lines.prompt();
    });
    lines.on("SIGINT", () => {
      const [run] = session.runningRuns();
      if (run) {
        screen.print(`Stopping ${run.sessionId} …`);
        session
          .press({ kind: "run", action: "stop", runId: run.runId })
          .catch((error: Error) => screen.print(error.message));
      } else if (leaving) resolve();
      else {
        leaving = true;
        screen.print("Nothing runs here. Press Ctrl-C again to leave.");
      }
    });
    lines.on("close", resolve);
  });
}

async function overPipe(cli: Cli, session: ChatSession): Promise<void> {
  for await (const line of createInterface({ input: cli.stdin, terminal: false })) {
    if (line.trim() === "") continue;
    const before = session.answers;
    await session.take(line);
    await until(() => session.answers > before && session.quietForMs() >= QUIET_MS, ANSWER_MS);
  }
  await until(() => !session.underWay && session.quietForMs() >= QUIET_MS);
  for (const { slug } of session.pendingApprovals()) {
    cli.err(`Approval ${slug} still waits. Answer it with: /approve ${slug} allow-once`);
  }
}

async function until(condition: () => boolean, withinMs = Number.POSITIVE_INFINITY): Promise<void> {
  const deadline = performance.now() + withinMs;
  while (!condition() && performance.now() < deadline) await wait(LOOK_MS);
}
