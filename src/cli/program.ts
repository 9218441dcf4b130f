/**
 * The command line. A command is one line in `COMMANDS`; what it needs is imported only when it is the one that was
 * called, so that the gateway starts fast and `config get` loads no chat SDK.
 */
import { styleText } from "node:util";
import { Command, CommanderError } from "commander";
import { ExecError } from "../core/errors.ts";
import { type Cli, type CliIo, type Define, EXIT } from "./io.ts";
import { version } from "./version.ts";

const NAME = "openclaw-exec";

interface Entry {
  readonly name: string;
  readonly group: "Run" | "Look" | "Set up";
  readonly about: string;
  readonly define: Define;
}

const later =
  (load: () => Promise<{ readonly define: Define }>): Define =>
  async (command, cli) =>
    (await load()).define(command, cli);

const COMMANDS: readonly Entry[] = [
  {
    name: "gateway",
    group: "Run",
    about: "Start the gateway: web chat, API and connected chats",
    define: later(() => import("./gateway.ts")),
  },
  {
    name: "chat",
    group: "Run",
    about: "Chat with the running gateway in this terminal",
    define: later(() => import("./chat.ts")),
  },
  {
    name: "tool",
    group: "Run",
    about: "Run one tool call and print its result as JSON",
    define: later(() => import("./tool.ts")),
  },
  {
    name: "mcp",
    group: "Run",
    about: "Offer the tools of the running gateway to other agents (MCP)",
    define: later(() => import("./mcp.ts")),
  },
  {
    name: "node",
    group: "Run",
    about: "Let a gateway on another machine run commands here",
    define: later(() => import("./node.ts")),
  },
  {
    name: "audit",
    group: "Look",
    about: "Show or verify who asked, who decided and what ran",
    define: later(() => import("./audit.ts")),
  },
  {
    name: "doctor",
    group: "Look",
    about: "Check this installation, and repair what needs no decision",
    define: later(() => import("./doctor.ts")),
  },
  {
    name: "security",
    group: "Look",
    about: "Find risky settings and rules",
    define: later(() => import("./security.ts")),
  },
  {
    name: "explain",
    group: "Look",
    about: "Say what the policy would do with a command, without running it",
    define: later(() => import("./explain.ts")),
  },
  {
    name: "sandbox",
    group: "Look",
    about: "See what sandboxed sessions see; list and empty their directories",
    define: later(() => import("./sandbox.ts")),
  },
  {
    name: "approvals",
    group: "Set up",
    about: "See, answer and change what may run: rules and waiting requests",
    define: later(() => import("./approvals.ts")),
  },
  {
    name: "exec-policy",
    group: "Set up",
    about: "See or change the policy of this machine",
    define: later(() => import("./exec-policy.ts")),
  },
  {
    name: "cron",
    group: "Set up",
    about: "Let commands run at a later time: add, list, remove, run",
    define: later(() => import("./cron.ts")),
  },
  {
    name: "deliveries",
    group: "Set up",
    about: "See, try again or drop what could not be delivered",
    define: later(() => import("./deliveries.ts")),
  },
  {
    name: "channels",
    group: "Set up",
    about: "See whether chats are connected; print the Slack app's manifest",
    define: later(() => import("./channels.ts")),
  },
  {
    name: "pairing",
    group: "Set up",
    about: "Let people in who wrote to the bot",
    define: later(() => import("./pairing.ts")),
  },
  {
    name: "nodes",
    group: "Set up",
    about: "See, approve and remove machines that run commands as nodes",
    define: later(() => import("./nodes.ts")),
  },
  {
    name: "config",
    group: "Set up",
    about: "Read, change and check the configuration",
    define: later(() => import("./config.ts")),
  },
];

/** @returns the exit code. Never throws, never ends the process. */
export async function runProgram(argv: readonly string[], io: CliIo): Promise<number> {
  let code: number = EXIT.ok;
  const cli: Cli = {
    ...io,
    exit(value) {
      code = value;
    },
  };
  const program = frame(io);
  const called = calledName(argv);
  try {
    for (const entry of COMMANDS) {
      const command = program.command(entry.name).description(entry.about).helpGroup(`${entry.group}:`);
      // The others are only names in the help; they need an action to be listed as plain commands.
      if (entry.name !== called) command.action(() => undefined);
      else await entry.define(command, cli);
    }
    // The help of a command that is not there would be the help of everything, without a word of the mistake.
    const mistaken = called !== undefined && !COMMANDS.some(({ name }) => name === called);
    await program.parseAsync(mistaken ? [called] : [...argv], { from: "user" });
    return code;
  } catch (error) {
    return failure(error, io);
  }
}

function frame(io: CliIo): Command {
  const bold = (text: string) => styleText("bold", text, { validateStream: false });
  return new Command(NAME)
    .description("Run shell commands from chats, under a policy, with approvals.")
    .usage("<command> [options]")
    .version(version(), "-V, --version", "Print the version")
    .helpOption("-h, --help", "Print help; also after a command")
    .helpCommand(false)
    .exitOverride()
    .configureOutput({
      writeOut: (text) => io.out(text.trimEnd()),
      writeErr: (text) => io.err(text.trimEnd()),
      outputError: (text, write) => write(sentence(text)),
    })
    .configureHelp({ styleTitle: bold, sortSubcommands: false })
    .showSuggestionAfterError()
    .showHelpAfterError("Add --help to see what it takes.");
}

/** commander's own wording in the style of our other messages. */
function sentence(text: string): string {
  return text
    .replace(/^error: (.)/, (_, first: string) => first.toUpperCase())
    .replace(/\n?\(Did you mean (.*)\?\)/, "\nDid you mean $1?")
    .replace(/^(.* is invalid)\. /, "$1: ")
    .replace(/^(.*[^.?!\n])(?=\n|$)/, "$1.");
}

/** The first word that is not an option: options of the frame take no value. */
function calledName(argv: readonly string[]): string | undefined {
  const end = argv.indexOf("--");
  return (end === -1 ? argv : argv.slice(0, end)).find((word) => !word.startsWith("-"));
}

function failure(error: unknown, io: CliIo): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage;
  if (error instanceof ExecError) {
    io.err(error.message);
    return EXIT.failed;
  }
  io.err(`Unexpected error: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
  return EXIT.failed;
}
