/**
 * Secrets: where a configuration value points to (`env:NAME`, `file:/path`) or what it is, and the variables that
 * stand in for a key that is not set. The only place that turns a reference into a secret.
 */
import { closeSync, constants, fstatSync, openSync, readFileSync } from "node:fs";
import { isAbsolute } from "node:path";
import type { Environment } from "./environment.ts";
import { expandHome } from "./paths.ts";
import type { Config } from "./schema.ts";

export interface Secrets {
  readonly gatewayToken?: string;
  readonly redisUrl?: string;
  readonly slack: Readonly<Record<string, SlackSecrets>>;
  readonly discord: Readonly<Record<string, DiscordSecrets>>;
  readonly telegram: Readonly<Record<string, TelegramSecrets>>;
  /** API keys by provider name. */
  readonly models: Readonly<Record<string, string>>;
  /** Every secret above: what logs, cards and output must never contain. */
  readonly values: readonly string[];
}

export interface SlackSecrets {
  readonly botToken?: string;
  readonly appToken?: string;
  readonly signingSecret?: string;
}
export interface DiscordSecrets {
  readonly token?: string;
}
export interface TelegramSecrets {
  readonly botToken?: string;
  readonly webhookSecret?: string;
}

export interface SecretProblem {
  readonly at: readonly string[];
  readonly message: string;
  /** The reference, never the secret. */
  readonly value?: string;
}

const MAX_SECRET_BYTES = 65_536;

/** Docker and Kubernetes hand secrets to a container here, readable by all inside it. */
const CONTAINER_SECRETS = /^\/(var\/)?run\/secrets\//;

export function resolveSecrets(
  config: Config,
  env: Environment,
  home: string,
): { secrets: Secrets; problems: readonly SecretProblem[] } {
  const problems: SecretProblem[] = [];
  const values: string[] = [];

  const resolve = (at: readonly string[], written: string | undefined, variable?: string): string | undefined => {
    const reference =
      written ?? (variable !== undefined && env.get(variable) !== undefined ? `env:${variable}` : undefined);
    if (reference === undefined) return undefined;
    const result = dereference(reference, env, home);
    if ("error" in result) {
      problems.push({ at, value: reference, message: result.error });
      return undefined;
    }
    values.push(result.secret);
    return result.secret;
  };

  /** Tokens in the environment belong to the `default` account. */
  const perAccount = <A extends { enabled: boolean }, S>(
    channel: string,
    accounts: Readonly<Record<string, A>> | undefined,
    read: (account: A, at: (key: string) => string[], variable: (name: string) => string | undefined) => S,
  ): Record<string, S> =>
    Object.fromEntries(
      Object.entries(accounts ?? {})
        .filter(([, account]) => account.enabled)
        .map(([id, account]) => [
          id,
          read(
            account,
            (key) => (id === "default" ? ["channels", channel, key] : ["channels", channel, "accounts", id, key]),
            (name) => (id === "default" ? name : undefined),
          ),
        ]),
    );

  const need = (at: string[], what: string, secret: string | undefined, variable?: string): void => {
    if (secret !== undefined || problems.some((problem) => problem.at.join() === at.join())) return;
    const or = variable === undefined ? "" : ` or the variable ${variable}`;
    problems.push({
      at,
      message: `missing; ${what} is needed to connect. Set it here${or}, or set \`enabled: false\``,
    });
  };

  const slack = perAccount("slack", config.channels.slack?.accounts, (account, at, variable): SlackSecrets => {
    const botToken = resolve(at("botToken"), account.botToken, variable("SLACK_BOT_TOKEN"));
    const appToken = resolve(at("appToken"), account.appToken, variable("SLACK_APP_TOKEN"));
    const signingSecret = resolve(at("signingSecret"), account.signingSecret, variable("SLACK_SIGNING_SECRET"));
    need(at("botToken"), "a bot token (xoxb-…)", botToken, variable("SLACK_BOT_TOKEN"));
    if (account.mode === "socket") need(at("appToken"), "an app token (xapp-…)", appToken, variable("SLACK_APP_TOKEN"));
    else need(at("signingSecret"), "the signing secret", signingSecret, variable("SLACK_SIGNING_SECRET"));
    if (botToken?.startsWith("xapp-")) {
      problems.push({ at: at("botToken"), message: "this is an app token (xapp-…); the bot token starts with xoxb-" });
    }
    if (appToken?.startsWith("xoxb-")) {
      problems.push({ at: at("appToken"), message: "this is a bot token (xoxb-…); the app token starts with xapp-" });
    }
    return defined({ botToken, appToken, signingSecret });
  });

  const discord = perAccount("discord", config.channels.discord?.accounts, (account, at, variable): DiscordSecrets => {
    const token = resolve(at("token"), account.token, variable("DISCORD_BOT_TOKEN"));
    need(at("token"), "a bot token", token, variable("DISCORD_BOT_TOKEN"));
    return defined({ token });
  });

  const telegram = perAccount(
    "telegram",
    config.channels.telegram?.accounts,
    (account, at, variable): TelegramSecrets => {
      const botToken = resolve(at("botToken"), account.botToken, variable("TELEGRAM_BOT_TOKEN"));
      const webhookSecret = resolve(at("webhookSecret"), account.webhookSecret, variable("TELEGRAM_WEBHOOK_SECRET"));
      need(at("botToken"), "a token from BotFather", botToken, variable("TELEGRAM_BOT_TOKEN"));
      if (account.webhookUrl !== undefined) {
        need(at("webhookSecret"), "a secret of your own choice", webhookSecret, variable("TELEGRAM_WEBHOOK_SECRET"));
      }
      return defined({ botToken, webhookSecret });
    },
  );

  const bots = (
    channel: string,
    token: string,
    accounts: Readonly<Record<string, Readonly<Record<string, string>>>>,
  ) => {
    const first = new Map<string, string>();
    for (const [id, secrets] of Object.entries(accounts)) {
      const secret = secrets[token];
      if (secret === undefined) continue;
      const other = first.get(secret);
      first.set(secret, other ?? id);
      if (other === undefined) continue;
      problems.push({
        at: ["channels", channel, "accounts", id, token],
        message: `this is the bot of the account "${other}" too, and one bot can not be two accounts; remove one of them`,
      });
    }
  };
  // Two connections of one bot end each other for ever (Telegram) or hear everything twice (Discord).
  bots("telegram", "botToken", telegram as never);
  bots("discord", "token", discord as never);

  const models: Record<string, string> = {};
  for (const [name, provider] of Object.entries(config.models.providers)) {
    const key = resolve(["models", "providers", name, "apiKey"], provider.apiKey);
    if (key !== undefined) models[name] = key;
  }

  const gatewayToken = resolve(["gateway", "auth", "token"], config.gateway.auth.token, "OPENCLAW_GATEWAY_TOKEN");
  const redisUrl = resolve(["redis", "url"], config.redis.url, "REDIS_URL");
  if (redisUrl !== undefined && !/^rediss?:\/\//.test(redisUrl)) {
    problems.push({
      at: ["redis", "url"],
      message: "expected an address such as redis://127.0.0.1:6379 or rediss://…",
    });
  }
  return {
    secrets: { ...defined({ gatewayToken, redisUrl }), slack, discord, telegram, models, values: [...new Set(values)] },
    problems,
  };
}

function defined<T extends object>(value: T): { [K in keyof T]?: NonNullable<T[K]> } {
  return Object.fromEntries(Object.entries(value).filter(([, entry]) => entry !== undefined)) as never;
}

/** What one value stands for. */
function dereference(written: string, env: Environment, home: string): { secret: string } | { error: string } {
  const reference = written.trim();
  if (reference.startsWith("env:")) {
    const name = reference.slice("env:".length).trim();
    if (!/^[A-Za-z_]\w*$/.test(name)) return { error: `"${name}" is not the name of a variable` };
    const secret = env.get(name);
    return secret === undefined
      ? { error: `the variable ${name} is not set, neither in the environment nor in ${env.searched.join(" or ")}` }
      : { secret };
  }
  if (reference.startsWith("file:")) return readSecretFile(reference.slice("file:".length).trim(), home);
  return { secret: reference };
}

function readSecretFile(written: string, home: string): { secret: string } | { error: string } {
  const path = written.startsWith("~/") ? expandHome(written, home) : written;
  if (!isAbsolute(path)) return { error: "a secret file needs an absolute path, such as file:/run/secrets/slack" };
  let fd: number;
  try {
    fd = openSync(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0));
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code === "ELOOP" || code === "EMLINK") return { error: "this file is a symbolic link; name the file itself" };
    return { error: `this file can not be read (${code})` };
  }
  try {
    const stat = fstatSync(fd);
    if (!stat.isFile()) return { error: "this is not a regular file" };
    if (stat.size > MAX_SECRET_BYTES) return { error: "this file is too large to be a secret" };
    const loose = CONTAINER_SECRETS.test(path) ? 0o022 : 0o077;
    if (process.platform !== "win32" && (stat.mode & loose) !== 0) {
      return { error: `others on this machine can get at this file; run: chmod 600 ${path}` };
    }
    const secret = readFileSync(fd, "utf8").trim();
    return secret === "" ? { error: "this file is empty" } : { secret };
  } finally {
    closeSync(fd);
  }
}
