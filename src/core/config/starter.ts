/** The configuration a fresh installation starts with (decisions.md D6): it asks before commands run, and says so. */
import { closeSync, constants, fsyncSync, mkdirSync, openSync, writeSync } from "node:fs";
import { dirname } from "node:path";

export const STARTER_CONFIG = `// openclaw-exec configuration. JSON5: comments and trailing commas are fine.
// Every key is explained in docs/configuration.md; \`openclaw-exec config validate\` checks this file.
{
  tools: {
    exec: {
      // Who decides whether a command runs:
      //   ask        listed commands run, a person is asked about the rest
      //   auto       the same, but a model may approve what is clearly harmless
      //   allowlist  listed commands run, the rest is refused
      //   full       everything runs, nobody is asked
      //   deny       nothing runs
      mode: "ask",
    },
  },

  // People who approve and administer, as "channel:id". Whoever holds the gateway token may always.
  commands: {
    ownerAllowFrom: [], // ["slack:U0123456789", "discord:123456789012345678", "telegram:42"]
  },

  // Chats to connect. Tokens belong in ~/.openclaw/.env or the environment (see .env.example).
  channels: {
    // slack: {},    // SLACK_BOT_TOKEN and SLACK_APP_TOKEN
    // discord: {},  // DISCORD_BOT_TOKEN
    // telegram: {}, // TELEGRAM_BOT_TOKEN
  },
}
`;

/**
 * Writes the starter configuration unless there is a file already; its own or anybody's.
 *
 * @returns true when it was written
 */
export function writeStarterConfig(path: string): boolean {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  let fd: number;
  try {
    fd = openSync(path, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o600);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
  try {
    writeSync(fd, STARTER_CONFIG);
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
  return true;
}
