import type { Words } from "./words.ts";

const THEMES = { device: "como no dispositivo", light: "claras", dark: "escuras" } as const;

export const ptBr: Words = {
  connected: "Conectado",
  notConnected: "Sem conexão",
  waitForYou: "à sua espera",
  goToNext: "Ir para o próximo (p)",
  colours: (theme) => `Cores: ${THEMES[theme]}. Mudar`,
  conversation: "Conversa",
  beginning: "A conversa começa aqui.",
  showEarlier: "Mostrar mensagens anteriores",
  latest: "Mais recentes",
  newMessages: (count) => (count === 1 ? "1 mensagem nova" : `${count} mensagens novas`),
  connection: {
    lost: "A conexão foi perdida.",
    tryingAgain: (seconds) => `Nova tentativa em ${seconds} s.`,
    queued: (count) => (count === 1 ? "1 mensagem será enviada então." : `${count} mensagens serão enviadas então.`),
    tryNow: "Tentar agora",
    reconnecting: "Reconectando…",
    notLoaded: (why) => `Não foi possível carregar a conversa: ${why}`,
    tryAgain: "Tentar de novo",
  },
  composer: {
    label: "Mensagem ou comando",
    placeholder: "Mensagem, ou / para comandos",
    send: "Enviar",
    completions: "Sugestões",
    tooLong: (length, max) =>
      `${length} caracteres: uma mensagem pode ter ${max}. Ponha o texto em um arquivo e execute-o.`,
  },
  said: {
    sending: "enviando",
    sentLater: "será enviada quando a conexão voltar",
    notSent: (why) => `Não enviada: ${why}`,
    discard: "Descartar",
  },
  welcome: {
    title: "Execute um comando",
    text: "Digite-o depois de /exec. Se a política pedir antes a palavra de uma pessoa, um cartão pergunta aqui.",
    runs: "executar um comando",
    policy: "ver a política em vigor e de onde vem cada valor",
    background: "ver o que roda em segundo plano",
    help: "ver todos os comandos",
  },
  signIn: {
    title: "Entrar no gateway",
    text: "O chat web abre com o link que o gateway mostrou ao iniciar.",
    titleWrong: "Este token não é válido",
    textWrong: "O gateway não conhece o token deste navegador. Talvez tenha sido renovado.",
    label: "Link ou token",
    open: "Abrir o chat",
    printAgain: "Para mostrar o link de novo, execute na máquina do gateway:",
    mismatch: "Esta página e o gateway não combinam",
    reload: "Recarregar a página",
  },
  card: {
    notShown: "Esta mensagem não pode ser mostrada aqui. Recarregar a página pode ajudar.",
    details: "Detalhes",
    sent: "Enviado. Aguardando o gateway.",
    stopping: "Interrompendo.",
    offline: "Sem conexão: nada pode ser decidido aqui agora.",
    answerLost: "A resposta se perdeu. Se os botões ainda estiverem aqui, aperte de novo.",
    noAnswerYet: "Ainda sem resposta. Pode apertar de novo: vale a primeira resposta, uma segunda não muda nada.",
    hidden: (count) =>
      count === 1
        ? "1 caractere invisível aparece como \\u{…}. Ele faz parte do comando."
        : `${count} caracteres invisíveis aparecem como \\u{…}. Eles fazem parte do comando.`,
    lookalikes: (count) =>
      count === 1
        ? "1 letra marcada não é latina, só parecida."
        : `${count} letras marcadas não são latinas, só parecidas.`,
    output: "Saída",
    copyCommand: "Copiar comando",
    copyOutput: "Copiar saída",
    copied: "Copiado",
    notCopied: "Não foi possível copiar",
  },
  log: {
    title: "Log completo",
    close: "Fechar",
    beginningLost: "O começo se perdeu: foi escrito mais do que se guarda.",
    where: (from, to, total) => `${from} a ${to} de ${total} linhas`,
    stillRunning: "ainda executando",
    earlier: "Anteriores",
    later: "Seguintes",
    wrap: "Quebrar linhas",
    copyPage: "Copiar página",
    download: "Baixar",
    fetching: "Buscando…",
  },
  shortcuts: {
    title: "Atalhos de teclado",
    write: "escrever uma mensagem",
    send: "enviar",
    newLine: "nova linha",
    before: "o que você escreveu antes",
    completion: "aceitar uma sugestão",
    next: "ir para a próxima aprovação pendente",
    allowOnce: "em uma aprovação: permitir uma vez",
    allowAlways: "em uma aprovação: permitir sempre, pede confirmação",
    deny: "em uma aprovação: negar",
    denyWithReason: "em uma aprovação: negar com motivo",
    back: "voltar, ou sair do campo de mensagem",
    list: "esta lista",
  },
};
