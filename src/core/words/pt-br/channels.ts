import type { channels as english } from "../en/channels.ts";
import { translation } from "../template.ts";

export const channels = translation<typeof english>()({
  "channel.noBotToken": "sem token do bot ({key} ou {variable})",
  "channel.noAppToken": "sem token do app ({key} ou {variable})",
  "channel.noSigningSecret": "sem signing secret ({key} ou {variable})",
  "channel.noWebhookSecret": "webhookUrl precisa de {key}",
  "channel.standsBy": "de prontidão: outro gateway está conectado com esta conta",
  "channel.unreachable": "Não foi possível alcançar {platform} ({why}); tentando de novo.",
  "channel.nextAttempt": "{why}; próxima tentativa em {seconds} s",
  "channel.discord.token":
    "O Discord recusou o token do bot. Coloque em channels.discord.token o token do portal de desenvolvedores.",
  "channel.discord.noToken":
    "A conta do Discord não tem token do bot. Defina channels.discord.token ou DISCORD_BOT_TOKEN.",
  "channel.discord.application":
    "O token pertence ao aplicativo {actual}, mas channels.discord.applicationId é {configured}.",
  "channel.discord.intents":
    "O Discord recusou os intents. Ative “Message Content Intent” no portal de desenvolvedores ou defina channels.discord.intents.messageContent como false (só comandos de barra).",
  "channel.discord.resuming": "A conexão com o Discord caiu; retomando.",
  "channel.discord.deaf": "A conexão com o Discord não entregava mais nada; conectando de novo.",
  "channel.lostOften": "A conexão com o {platform} cai repetidamente; próxima tentativa em {seconds} s",
  "channel.discord.ended": "O Discord encerrou a sessão; conectando de novo.",
  "channel.discord.endedWith": "O Discord encerrou a sessão ({code}); conectando de novo.",
  "channel.telegram.token":
    "O Telegram recusou o token do bot ({why}). Coloque em channels.telegram.botToken o token que o BotFather mostra.",
  "channel.telegram.noToken":
    "A conta do Telegram não tem token do bot. Defina channels.telegram.botToken ou TELEGRAM_BOT_TOKEN.",
  "channel.telegram.port":
    "A porta do webhook está em uso ({why}). Defina channels.telegram.webhookPort com uma porta livre.",
  "channel.telegram.polling": "A consulta ao Telegram falhou ({why}); tentando de novo.",
  "channel.telegram.secret":
    "O segredo do webhook do Telegram deve ter de 1 a 256 caracteres entre A-Z, a-z, 0-9, _ e -. Defina channels.telegram.webhookSecret.",
  "channel.slack.account": "@{bot} em {team}",
  "channel.slack.missingScopes": "@{bot} em {team}; escopos que faltam: {scopes}",
  "channel.slack.listening": "{account}; escutando em {path}",
  "channel.slack.listeningOn": "{account}; escutando na porta {port}, {path}",
  "channel.slack.lostOften": "a conexão cai repetidamente",
  "channel.slack.closed": "a conexão foi fechada",
  "channel.slack.socketModeOff": "o Socket Mode está desativado neste app; ative-o nas configurações do app",
  "channel.slack.tooMany":
    "o app tem mais conexões abertas do que o Slack permite; pare outros processos que usam este token de app",
  "channel.slack.answered": "o Slack respondeu {code}",
  "channel.slack.missing_scope":
    "falta um escopo ao app; compare com `openclaw-exec channels slack-manifest` e reinstale-o ({code})",
  "channel.slack.invalid_auth": "o token não é válido; verifique channels.slack ({code})",
  "channel.slack.token_revoked": "o token foi revogado; reinstale o app ({code})",
  "channel.slack.account_inactive": "a conta do app está desativada; reinstale o app ({code})",
  "channel.slack.not_allowed_token_type":
    "o token é do tipo errado: botToken começa com xoxb-, appToken com xapp- ({code})",
});
