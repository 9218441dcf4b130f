/** How a chat account is, in `/status`. */
export const channels = {
  "channel.noBotToken": "no bot token ({key} or {variable})",
  "channel.noAppToken": "no app token ({key} or {variable})",
  "channel.noSigningSecret": "no signing secret ({key} or {variable})",
  "channel.noWebhookSecret": "webhookUrl needs {key}",
  "channel.standsBy": "stands by: another gateway is connected with this account",
  "channel.unreachable": "{platform} can not be reached ({why}); trying again.",
  "channel.nextAttempt": "{why}; next attempt in {seconds} s",
  "channel.discord.token":
    "Discord refused the bot token. Set channels.discord.token to the one of the developer portal.",
  "channel.discord.noToken": "The Discord account has no bot token. Set channels.discord.token or DISCORD_BOT_TOKEN.",
  "channel.discord.application":
    "The token belongs to the application {actual}, channels.discord.applicationId is {configured}.",
  "channel.discord.intents":
    "Discord refused the intents. Switch on “Message Content Intent” in the developer portal, or set channels.discord.intents.messageContent to false (slash commands only).",
  "channel.discord.resuming": "The connection to Discord is lost; resuming.",
  "channel.discord.deaf": "Discord’s connection delivered nothing any more; connecting anew.",
  "channel.lostOften": "The connection to {platform} is lost again and again; next attempt in {seconds} s",
  "channel.discord.ended": "Discord ended the session; connecting anew.",
  "channel.discord.endedWith": "Discord ended the session ({code}); connecting anew.",
  "channel.telegram.token":
    "Telegram refused the bot token ({why}). Set channels.telegram.botToken to the one BotFather shows.",
  "channel.telegram.noToken":
    "The Telegram account has no bot token. Set channels.telegram.botToken or TELEGRAM_BOT_TOKEN.",
  "channel.telegram.port": "The webhook's port is in use ({why}). Set channels.telegram.webhookPort to a free one.",
  "channel.telegram.polling": "Polling Telegram failed ({why}); trying again.",
  "channel.telegram.secret":
    "The Telegram webhook secret must be 1 to 256 characters of A-Z, a-z, 0-9, _ and -. Set channels.telegram.webhookSecret.",
  "channel.slack.account": "@{bot} in {team}",
  "channel.slack.missingScopes": "@{bot} in {team}; missing scopes: {scopes}",
  "channel.slack.listening": "{account}; listening on {path}",
  "channel.slack.listeningOn": "{account}; listening on port {port}, {path}",
  "channel.slack.lostOften": "the connection is lost again and again",
  "channel.slack.closed": "the socket closed",
  "channel.slack.socketModeOff": "Socket Mode is switched off for this app; switch it on in the app's settings",
  "channel.slack.tooMany":
    "the app has more connections open than Slack allows; stop other processes that use this app token",
  "channel.slack.answered": "Slack answered {code}",
  "channel.slack.missing_scope":
    "the app lacks a scope; compare it with `openclaw-exec channels slack-manifest` and reinstall it ({code})",
  "channel.slack.invalid_auth": "the token is not valid; check channels.slack ({code})",
  "channel.slack.token_revoked": "the token was revoked; reinstall the app ({code})",
  "channel.slack.account_inactive": "the app's account is switched off; reinstall the app ({code})",
  "channel.slack.not_allowed_token_type":
    "the token is of the wrong kind: botToken begins with xoxb-, appToken with xapp- ({code})",
} as const;
