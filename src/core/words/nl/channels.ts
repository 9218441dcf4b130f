import type { channels as english } from "../en/channels.ts";
import { translation } from "../template.ts";

export const channels = translation<typeof english>()({
  "channel.noBotToken": "geen bot-token ({key} of {variable})",
  "channel.noAppToken": "geen app-token ({key} of {variable})",
  "channel.noSigningSecret": "geen signing secret ({key} of {variable})",
  "channel.noWebhookSecret": "webhookUrl heeft {key} nodig",
  "channel.standsBy": "staat klaar: een andere gateway is met dit account verbonden",
  "channel.unreachable": "{platform} is niet bereikbaar ({why}); er wordt opnieuw geprobeerd.",
  "channel.nextAttempt": "{why}; volgende poging over {seconds} s",
  "channel.discord.token":
    "Discord weigert het bot-token. Zet in channels.discord.token het token uit de developer portal.",
  "channel.discord.noToken":
    "Het Discord-account heeft geen bot-token. Stel channels.discord.token of DISCORD_BOT_TOKEN in.",
  "channel.discord.application":
    "Het token hoort bij applicatie {actual}, channels.discord.applicationId is {configured}.",
  "channel.discord.intents":
    "Discord weigert de intents. Zet “Message Content Intent” aan in de developer portal, of zet channels.discord.intents.messageContent op false (alleen slash-commando's).",
  "channel.discord.resuming": "De verbinding met Discord is verbroken; wordt hervat.",
  "channel.discord.deaf": "De verbinding met Discord leverde niets meer; er wordt opnieuw verbonden.",
  "channel.lostOften": "De verbinding met {platform} valt steeds weer weg; volgende poging over {seconds} s",
  "channel.discord.ended": "Discord heeft de sessie beëindigd; er wordt opnieuw verbonden.",
  "channel.discord.endedWith": "Discord heeft de sessie beëindigd ({code}); er wordt opnieuw verbonden.",
  "channel.telegram.token":
    "Telegram weigert het bot-token ({why}). Zet in channels.telegram.botToken het token dat BotFather toont.",
  "channel.telegram.noToken":
    "Het Telegram-account heeft geen bot-token. Stel channels.telegram.botToken of TELEGRAM_BOT_TOKEN in.",
  "channel.telegram.port":
    "De poort van de webhook is in gebruik ({why}). Zet channels.telegram.webhookPort op een vrije poort.",
  "channel.telegram.polling": "Berichten ophalen bij Telegram mislukte ({why}); er wordt opnieuw geprobeerd.",
  "channel.telegram.secret":
    "Het webhook-geheim van Telegram moet uit 1 tot 256 tekens A-Z, a-z, 0-9, _ en - bestaan. Stel channels.telegram.webhookSecret in.",
  "channel.slack.account": "@{bot} in {team}",
  "channel.slack.missingScopes": "@{bot} in {team}; ontbrekende scopes: {scopes}",
  "channel.slack.listening": "{account}; luistert op {path}",
  "channel.slack.listeningOn": "{account}; luistert op poort {port}, {path}",
  "channel.slack.lostOften": "de verbinding valt steeds weer weg",
  "channel.slack.closed": "de verbinding werd gesloten",
  "channel.slack.socketModeOff": "Socket Mode staat uit voor deze app; zet het aan in de instellingen van de app",
  "channel.slack.tooMany":
    "de app heeft meer verbindingen open dan Slack toestaat; stop andere processen die dit app-token gebruiken",
  "channel.slack.answered": "Slack antwoordde {code}",
  "channel.slack.missing_scope":
    "de app mist een scope; vergelijk met `openclaw-exec channels slack-manifest` en installeer de app opnieuw ({code})",
  "channel.slack.invalid_auth": "het token is ongeldig; controleer channels.slack ({code})",
  "channel.slack.token_revoked": "het token is ingetrokken; installeer de app opnieuw ({code})",
  "channel.slack.account_inactive": "het account van de app is uitgeschakeld; installeer de app opnieuw ({code})",
  "channel.slack.not_allowed_token_type":
    "het token is van de verkeerde soort: botToken begint met xoxb-, appToken met xapp- ({code})",
});
