import type { Words } from "./words.ts";

const THEMES = { device: "zoals het apparaat", light: "licht", dark: "donker" } as const;

export const nl: Words = {
  connected: "Verbonden",
  notConnected: "Niet verbonden",
  waitForYou: "wacht op jou",
  goToNext: "Naar de volgende (p)",
  colours: (theme) => `Kleuren: ${THEMES[theme]}. Wijzigen`,
  conversation: "Gesprek",
  beginning: "Hier begint het gesprek.",
  showEarlier: "Eerdere berichten tonen",
  latest: "Nieuwste",
  newMessages: (count) => (count === 1 ? "1 nieuw bericht" : `${count} nieuwe berichten`),
  connection: {
    lost: "De verbinding is verbroken.",
    tryingAgain: (seconds) => `Nieuwe poging over ${seconds} s.`,
    queued: (count) => (count === 1 ? "Dan wordt 1 bericht verstuurd." : `Dan worden ${count} berichten verstuurd.`),
    tryNow: "Nu proberen",
    reconnecting: "Opnieuw verbinden…",
    notLoaded: (why) => `Het gesprek kon niet worden geladen: ${why}`,
    tryAgain: "Opnieuw proberen",
  },
  composer: {
    label: "Bericht of opdracht",
    placeholder: "Bericht, of / voor opdrachten",
    send: "Versturen",
    completions: "Aanvullingen",
    tooLong: (length, max) =>
      `${length} tekens: een bericht mag er ${max} hebben. Zet de tekst in een bestand en voer dat uit.`,
  },
  said: {
    sending: "wordt verstuurd",
    sentLater: "wordt verstuurd zodra de verbinding terug is",
    notSent: (why) => `Niet verstuurd: ${why}`,
    discard: "Weggooien",
  },
  welcome: {
    title: "Voer een opdracht uit",
    text: "Typ die achter /exec. Wil het beleid eerst het woord van een mens, dan vraagt een kaart er hier om.",
    runs: "een opdracht uitvoeren",
    policy: "zien welk beleid geldt en waar elke waarde vandaan komt",
    background: "zien wat er op de achtergrond loopt",
    help: "alle opdrachten zien",
  },
  signIn: {
    title: "Aanmelden bij de gateway",
    text: "De webchat opent met de link die de gateway bij het starten heeft getoond.",
    titleWrong: "Dit token is niet geldig",
    textWrong: "De gateway kent het token van deze browser niet. Misschien is het vernieuwd.",
    label: "Link of token",
    open: "Chat openen",
    printAgain: "De link opnieuw tonen, op de machine van de gateway:",
    mismatch: "Deze pagina en de gateway passen niet bij elkaar",
    reload: "Pagina opnieuw laden",
  },
  card: {
    notShown: "Dit bericht kan hier niet worden getoond. Misschien helpt het de pagina opnieuw te laden.",
    details: "Details",
    sent: "Verstuurd. Wacht op de gateway.",
    stopping: "Wordt gestopt.",
    offline: "Niet verbonden: hier kan nu niet worden beslist.",
    answerLost: "Het antwoord is verloren gegaan. Staan de knoppen er nog, druk dan opnieuw.",
    noAnswerYet: "Nog geen antwoord. Opnieuw drukken mag: het eerste antwoord telt, een tweede verandert niets.",
    hidden: (count) =>
      count === 1
        ? "1 onzichtbaar teken is getoond als \\u{…}. Het hoort bij de opdracht."
        : `${count} onzichtbare tekens zijn getoond als \\u{…}. Ze horen bij de opdracht.`,
    lookalikes: (count) =>
      count === 1
        ? "1 gemarkeerde letter is niet Latijns, maar lijkt erop."
        : `${count} gemarkeerde letters zijn niet Latijns, maar lijken erop.`,
    output: "Uitvoer",
    copyCommand: "Opdracht kopiëren",
    copyOutput: "Uitvoer kopiëren",
    copied: "Gekopieerd",
    notCopied: "Kopiëren lukte niet",
  },
  log: {
    title: "Volledig logboek",
    close: "Sluiten",
    beginningLost: "Het begin is weg: er is meer geschreven dan bewaard wordt.",
    where: (from, to, total) => `${from} tot ${to} van ${total} regels`,
    stillRunning: "loopt nog",
    earlier: "Eerder",
    later: "Later",
    wrap: "Regels afbreken",
    copyPage: "Pagina kopiëren",
    download: "Downloaden",
    fetching: "Ophalen…",
  },
  shortcuts: {
    title: "Sneltoetsen",
    write: "een bericht schrijven",
    send: "versturen",
    newLine: "nieuwe regel",
    before: "wat je eerder schreef",
    completion: "een aanvulling overnemen",
    next: "naar de volgende wachtende toestemming",
    allowOnce: "bij een toestemming: eenmalig toestaan",
    allowAlways: "bij een toestemming: altijd toestaan, vraagt na",
    deny: "bij een toestemming: weigeren",
    denyWithReason: "bij een toestemming: weigeren met reden",
    back: "terug, of het berichtveld uit",
    list: "deze lijst",
  },
};
