import type { errors as english } from "../en/errors.ts";
import { translation } from "../template.ts";

export const errors = translation<typeof english>()({
  "error.internal": "Hier ging iets mis; het logboek van de beheerder zegt wat.",
  "error.draining": "De gateway stopt en begint niets nieuws. Probeer het opnieuw als hij terug is.",
  "error.stateLost":
    "Niet uitgevoerd: deze gateway is de toestand kwijt die hij met anderen deelt. Probeer het opnieuw als /status in orde is.",
  "error.reportedLost": "Een andere gateway heeft dit als verloren gemeld; het wordt niet gestart.",
  "error.outOfTouch":
    "Niet uitgevoerd: deze gateway was zo lang onbereikbaar dat een andere dit als verloren heeft gemeld. Vraag het opnieuw.",

  "error.command.none": "Geef een opdracht om te starten.",
  "error.command.nul": "De opdracht bevat een NUL-byte, en die kan geen shell uitvoeren. Er is niets uitgevoerd.",
  "error.command.characters":
    "De opdracht heeft {characters} tekens; limits.maxCommandChars staat er {most} toe. Zet de opdracht in een scriptbestand en voer dat uit.",
  "error.command.bytes":
    "De opdracht heeft {bytes} bytes; het systeem neemt er hooguit {most}. Zet de opdracht in een scriptbestand en voer dat uit.",
  "error.command.mayBeCut":
    "Je app knipt berichten van deze lengte, dus dit kan alleen het begin van een opdracht zijn. Er is niets uitgevoerd. Zet de opdracht in een scriptbestand, of gebruik de webchat.",
  "error.nul": "{parameter} bevat een NUL-byte. Er is niets uitgevoerd.",
  "error.host.type": "Ongeldige exec-host van het type {type}. Toegestaan: {allowed}.",
  "error.host.value":
    'Ongeldige exec-host "{value}". Toegestaan: {allowed}. Het is geen computernaam; gebruik voor een machine host=node met node=<id of naam>.',
  "error.host.sandbox":
    'host=sandbox heeft een sandbox nodig, en er is er geen actief. Zet agents.defaults.sandbox.mode op "all", of gebruik host=gateway met goedkeuringen. Er is niets uitgevoerd.',
  "error.host.notAllowed":
    "Deze exec-host mag niet (gevraagd {requested}; ingesteld {configured}). Zet tools.exec.host={fix} om het toe te staan.",
  "error.host.unavailable": "host={host} is niet beschikbaar op deze gateway. Er is niets uitgevoerd.",
  "error.exec.deniedOnNode": "exec geweigerd op node {node}: {why} (daar ingesteld door {layer}).",
  "error.node.none":
    "host=node: er is geen node aan deze gateway gekoppeld. Start er daar een met: openclaw-exec node run. Er is niets uitgevoerd.",
  "error.node.noneConnected": "host=node: geen gekoppelde node is verbonden. Bekend: {nodes}. Er is niets uitgevoerd.",
  "error.node.noneCanRun":
    "host=node: geen verbonden node mag commando's uitvoeren (system.run is niet aangeboden, goedgekeurd of toegestaan). Verbonden: {nodes}. Er is niets uitgevoerd.",
  "error.node.several":
    "host=node: er zijn meerdere nodes verbonden: {nodes}. Zeg welke met node=<id of naam>. Er is niets uitgevoerd.",
  "error.node.unknown": 'Er is geen node "{node}". Bekend: {nodes}. Er is niets uitgevoerd.',
  "error.node.ambiguous": 'Meerdere nodes passen bij "{node}": {nodes}. Geef meer van de id. Er is niets uitgevoerd.',
  "error.node.offline": "Node {node} is niet verbonden. Er is niets uitgevoerd.",
  "error.node.cannotRun":
    "Node {node} mag hier geen commando's uitvoeren: system.run is niet aangeboden, goedgekeurd of toegestaan (openclaw-exec nodes describe). Er is niets uitgevoerd.",
  "error.node.bound":
    "exec-node niet toegestaan (gebonden aan {bound}, gevraagd {requested}). Stel tools.exec.node in om het toe te staan. Er is niets uitgevoerd.",
  "error.node.silent": "Node {node} antwoordde niet op tijd. Er is niets uitgevoerd.",
  "error.node.nonsense":
    "Node {node} gaf een antwoord dat niet past bij wat gevraagd is; misschien verschilt de versie. Er is niets uitgevoerd.",
  "error.node.tooLarge":
    "De aanroep is te groot om naar node {node} te sturen: commando en variabelen samen mogen ongeveer 1 MiB zijn. Er is niets uitgevoerd.",
  "error.node.refused": "Node {node} heeft het niet uitgevoerd. {why}",
  "error.node.many": "Er zijn {most} nodes, het hoogste aantal. Verwijder er eerst een.",
  "error.node.noRequest": 'Er wacht geen node onder "{request}". openclaw-exec nodes pending toont wie er wacht.',
  "error.node.severalRequests": 'Meerdere verzoeken passen bij "{request}": {nodes}. Geef de hele id.',
  "error.node.name": "Een naam van een node heeft 1 tot {most} letters, cijfers, spaties en . _ -.",
  "error.nodeRun.approvalRequired": "Het beleid daar vraagt om goedkeuring, en die kwam niet mee.",
  "error.nodeRun.changed": "Wat besloten is, is niet wat het beleid daar nu zou uitvoeren. Vraag het opnieuw.",
  "error.nodeRun.ticket":
    "Het besluit is daar niet genomen, is te oud of geldt voor een andere uitvoering. Vraag het opnieuw.",
  "error.nodeRun.duplicate": "Deze uitvoering is daar al aangenomen; ze start nooit twee keer.",
  "error.nodeRun.tooLarge":
    "Het commando is te lang om daar te beoordelen. Zet het in een scriptbestand en voer dat uit.",
  "error.nodeRun.cancelled": "Het werd afgezegd voordat het kon starten.",
  "error.timeout.two": "timeout en timeoutSeconds verschillen; geef er één, in seconden.",
  "error.timeout": "Ongeldige timeout {value}. Geef seconden (ook met decimalen), of 0 voor geen limiet.",
  "error.workdir":
    'De werkmap "{folder}" is niet beschikbaar of geen map. Geef een bestaand pad; het wordt letterlijk genomen, zonder ~ of $VAR. Er is niets uitgevoerd.',
  "error.workdir.gone": "De werkmap {folder} bestaat niet meer of is geen map. Er is niets uitgevoerd.",
  "error.env.invalid":
    "Niet bruikbaar als omgevingsvariabelen: {names}. Een naam heeft letters, cijfers en underscores; een waarde heeft geen NUL en hooguit 128 KiB. Er is niets uitgevoerd.",
  "error.env.nul": "{name} (de waarde bevat een NUL-teken)",
  "error.env.long": "{name} (de waarde is te lang)",
  "error.env.forbidden": {
    one: "Beveiliging: de variabele {names} is verboden voor host={host}, omdat die kan veranderen welk programma draait. Er is niets uitgevoerd.{advice}",
    other:
      "Beveiliging: de variabelen {names} zijn verboden voor host={host}, omdat die kunnen veranderen welk programma draait. Er is niets uitgevoerd.{advice}",
  },
  "error.env.path":
    " Voor PATH kan een beheerder tools.exec.pathPrepend instellen, of noem het programma met zijn volledige pad.",
  "error.tool.denied":
    "exec staat hier uit door het toolbeleid (tools.allow/tools.deny). Een beheerder kan dat veranderen.",
  "error.elevated":
    "De elevated-modus is er niet in deze versie: geen aanroep verlaat zijn sandbox. Een beheerder kan opdrachten met tools.exec.host elders laten uitvoeren. Er is niets uitgevoerd.",
  "error.exec.securityDeny": "exec geweigerd: host={host} security=deny, ingesteld door {layer}.",
  "error.exec.denied": "exec geweigerd: {why} (ingesteld door {layer}).",
  "error.exec.policy": "het beleid staat het niet toe",
  "error.exec.control": "Niet uitgevoerd: {why}.",
  "error.exec.deniedByNow": "Niet uitgevoerd: exec wordt inmiddels geweigerd, ingesteld door {layer}.",
  "error.approvals.many":
    "Er wachten al {limit} verzoeken op een persoon (limits.maxPendingApprovals). Er is niets gevraagd en niets uitgevoerd.",
  "error.line.full":
    "Er lopen {running} opdrachten en er wachten er {waiting} op hun beurt, meer mag niet (limits.maxQueuedRuns). Er is niets uitgevoerd; probeer het later opnieuw.",
  "error.line.own":
    "Er wachten al {own} opdrachten van dit gesprek op hun beurt; de andere plaatsen zijn voor andere gesprekken (limits.maxQueuedRuns is {limit}). Er is niets uitgevoerd; /stop haalt ze uit de rij.",
  "error.preflight": "exec-controle: {problem}",
  "error.preflight.shebang":
    'Dit is een script voor {interpreter}, maar een opdracht wordt uitgevoerd door de shell, die het als shelltekst zou lezen. Bewaar het in een bestand en voer "{interpreter} <file>" uit. Er is niets uitgevoerd.',
  "error.preflight.shellSyntax":
    "exec-controle: {place} begint met shellsyntaxis, maar wordt als script uitgevoerd. Er is niets uitgevoerd.",
  "error.preflight.variable":
    "exec-controle: {place} gebruikt {variable} als een shellvariabele, en die kent {language} niet. Gebruik {instead}. Er is niets uitgevoerd.",

  "error.spawn.workdirNul": "De werkmap bevat een NUL-teken. Haal het weg en probeer het opnieuw.",
  "error.spawn.commandNul": "De opdracht bevat een NUL-teken. Haal het weg en probeer het opnieuw.",
  "error.spawn.env": "De omgevingsvariabele {name} kan niet aan een programma worden doorgegeven.",
  "error.spawn.tooBig":
    "De opdracht of de omgeving is te groot voor het systeem (ongeveer 128 KiB per woord). Zet de tekst in een bestand en voer dat uit.",
  "error.spawn.notFound": "{file} is niet gevonden, of de interpreter die erin staat niet. Er is niets uitgevoerd.",
  "error.spawn.permission": "{file} mag hier niet worden uitgevoerd (toegang geweigerd). Er is niets uitgevoerd.",
  "error.spawn.noRoom":
    "Het systeem heeft geen ruimte voor nog een proces ({errno}). Stop enkele lopende sessies en probeer het opnieuw.",
  "error.spawn.other": "{file} kon niet worden gestart ({problem}).",
  "note.heldOpen": "Een proces dat hierdoor was gestart hield de uitvoer nog open; latere uitvoer is niet opgevangen.",
  "note.leftRunning": {
    one: "1 proces dat bleef lopen is gestopt.",
    other: "{count} processen die bleven lopen zijn gestopt.",
  },
  "note.notConfirmed": "Het is niet zeker dat alles wat hierdoor was gestart is beëindigd.",

  "error.approval.unknown": 'Er wacht geen verzoek met de id "{id}". /status toont welke er wel wachten.',
  "error.approval.ambiguous": '{matches} verzoeken passen bij "{id}". Gebruik de volledige id: {ids}.',
  "error.approval.expired": "Verzoek {slug} is verlopen; er is niets uitgevoerd. Vraag het opnieuw.",
  "error.approval.cancelled": "Verzoek {slug} is geannuleerd. {why} Er is niets uitgevoerd.",
  "error.approval.notNeeded": "Het is niet meer nodig.",
  "error.approval.waiting": "Verzoek {slug} wacht nog; probeer het opnieuw.",
  "error.approval.allowed": "Verzoek {slug} was al toegestaan door {who}.",
  "error.approval.denied": "Verzoek {slug} was al geweigerd door {who}.",
  "error.approval.noRule": "Verzoek {slug} heeft geen regel vastgelegd, dus er is niets terug te draaien.",
  "error.approval.revoked": "Wat verzoek {slug} vastlegde, is al teruggedraaid door {who}.",
  "error.approval.notOffered": '"{decision}" kan bij dit verzoek niet. Kies uit: {offered}.',
  "error.approval.tooLateToSnooze": "Verzoek {slug} verloopt te snel om het uit te stellen. Beslis er nu over.",
  "error.approval.askedAgain": "Verzoek {slug} was al opnieuw gevraagd door {who}.",
  "error.approval.stillWaits": "Verzoek {slug} wacht nog op antwoord, dus er is niets opnieuw te vragen.",
  "error.approval.ranUnanswered":
    "Verzoek {slug} is uitgevoerd zonder antwoord (askFallback), dus er is niets opnieuw te vragen.",
  "error.approval.onlyPerson": "Alleen een persoon kan over een verzoek beslissen, nooit een agent.",
  "error.approval.notYours": "Je bent hier geen goedkeurder, dus er is niets veranderd. /whoami toont wat je mag.",
  "error.approval.yourOwn": "Je hebt dit zelf gevraagd; iemand anders moet erover beslissen (approvals.selfApproval).",
  "error.access.notHere": "Je mag deze bot hier niet gebruiken.",
  "error.access.command": "Je mag /{command} hier niet gebruiken. /whoami toont wat je mag.",
  "error.access.buttons": "Je mag deze knoppen niet gebruiken. /whoami toont wat je mag.",
  "error.access.work": "Je mag me hier geen werk geven. /whoami toont wat je mag.",
  "error.pairing.approved": "{who} was al toegelaten door {by}.",
  "error.pairing.dismissed": "Het verzoek van {who} was al afgewezen door {by}. Opnieuw vragen mag.",
  "error.pairing.expired": "Het verzoek van {who} is verlopen. Opnieuw vragen kan door de bot te schrijven.",
  "error.pairing.gone": "Dit toelatingsverzoek wordt niet meer bewaard. Opnieuw vragen kan door de bot te schrijven.",
  "error.exec.loosen":
    "Alleen een eigenaar mag openen wat de configuratie dichthoudt: hier geldt {before}, en je vroeg {after}. Er is niets veranderd.",
  "error.menu.notYours": "Alleen wie het vroeg kan hier kiezen. Typ het commando zelf.",
  "error.menu.answered": "Al beantwoord: {choice}. Typ /{command} opnieuw om nog eens te kiezen.",
  "error.menu.stale": "Deze lijst wordt niet meer bewaard, dus er is niets gedaan. Typ het commando opnieuw.",
  "error.menu.staleOf": "Deze lijst klopt niet meer, dus er is niets gedaan. Typ /{command} opnieuw.",
  "error.pairing.onlyOwner":
    "Alleen een eigenaar mag mensen toelaten, dus er is niets veranderd. /whoami toont wat je mag.",
  "error.pairing.locked": "Te veel verkeerde codes. Goedkeuren kan tien minuten lang niet.",
  "error.pairing.unknown": "Geen enkel koppelverzoek heeft deze code. Misschien is hij verlopen; vraag om een nieuwe.",
  "error.run.unknown": "Deze uitvoering is niet meer bekend.",
  "error.run.logGone": "Deze uitvoering is niet meer bekend; het logboek is weg.",
  "error.run.notRunning": "{session} loopt niet meer.",
  "error.agent.full":
    "Er wachten hier al te veel berichten op de agent; dit bericht is niet aangenomen. /stop verwijdert ze.",

  "error.cron.ambiguous": '{matches} taken passen bij "{job}": {ids}. Geef de hele id.',
  "error.cron.unknown": 'De taak "{job}" bestaat niet. /cron list toont ze.',
  "error.cron.many": "Er zijn {most} taken, meer kan niet. Verwijder er eerst een.",
  "error.cron.name": 'Er heet al een taak "{name}". Kies een andere naam.',
  "error.cron.when": "Zeg precies één keer wanneer: at (2031-04-05T09:00 of 30m), every (15m) of cron.",
  "error.cron.tooOften": "every moet minstens {least}s zijn, niet {every}.",
  "error.cron.what":
    "Zeg precies één keer wat: een opdracht om uit te voeren, of een event om aan de sessie te vertellen.",
  "error.cron.length": "Wat er moet gebeuren heeft 1 tot {most} tekens.",
  "error.cron.never": "Het schema {schedule} komt nooit aan de beurt.",
  "error.cron.expression": 'De cron-expressie "{cron}" is niet geldig: {problem}',
  "error.cron.expressionIn": 'De cron-expressie "{cron}" in tijdzone "{timezone}" is niet geldig: {problem}',
  "error.cron.moment":
    '"{text}" is geen moment. Geef een tijd vanaf nu zoals 30m, of een datum zoals 2031-04-05T09:00.',
  "error.cron.passed": "{text} is al voorbij.",
  "error.cron.passedIn": "{text} is al voorbij in {timezone}.",
  "error.cron.interval": '"{text}" is geen interval. Geef er een zoals 45s, 15m, 2h of 1d.',

  "error.argument.unknown": 'Onbekende parameter "{parameter}" voor {tool}. Bekend: {known}.',
  "error.argument.near": 'Onbekende parameter "{parameter}" voor {tool}. Bedoelde je "{near}"? Bekend: {known}.',
  "error.argument.invalid": "Ongeldige waarde van {parameter} voor {tool}: {why}.",
  "issue.type": "het moet {type} zijn",
  "issue.int": "een geheel getal",
  "issue.number": "een getal",
  "issue.boolean": "true of false",
  "issue.string": "tekst",
  "issue.array": "een lijst",
  "issue.object": "een groep waarden",
  "issue.oneOf": "het moet een van {allowed} zijn",
  "issue.unknown": "onbekend: {keys}",
  "issue.empty": "het mag niet leeg zijn",
  "issue.characters.least": "er zijn minstens {limit} tekens nodig",
  "issue.characters.most": "er passen hoogstens {limit} tekens",
  "issue.least": "het moet {limit} of meer zijn",
  "issue.more": "het moet meer zijn dan {limit}",
  "issue.most": "het moet {limit} of minder zijn",
  "issue.less": "het moet minder zijn dan {limit}",
  "session.arguments": "Deze argumenten zijn niet bruikbaar: {why}.",
  "error.argument.all": "deze argumenten",
  "error.argument.notAcceptable": "niet bruikbaar",
  "session.action": 'Onbekende actie "{action}". Bekend: {known}.',
  "session.actionNear": 'Onbekende actie "{action}". Bedoelde je "{near}"? Bekend: {known}.',
  "session.idMissing": '{action} heeft sessionId nodig. "list" toont de sessies.',
  "session.unknown": "Geen sessie gevonden voor {session}.",
  "session.noneActive": "Geen lopende sessie gevonden voor {session}.",
  "session.noneFinished": "Geen beëindigde sessie gevonden voor {session}.",
  "session.foreground": "Sessie {session} loopt niet op de achtergrond: de aanroep die hem startte wacht er nog op.",
  "session.ended": "Sessie {session} is beëindigd; naar stdin kan niet worden geschreven.",
  "session.noInput":
    'Naar stdin van sessie {session} kan niet worden geschreven. Start de opdracht met pty: true, of met stdin: "open", om invoer te kunnen sturen.',
  "session.inputClosed":
    "Naar stdin kan niet worden geschreven: het programma heeft stdin gesloten, is beëindigd of is zonder open stdin gestart.",
  "session.notStarted": "Sessie {session} is nog niet gestart; naar stdin kan niet worden geschreven.",
  "session.inputFull":
    "Het programma leest zijn invoer niet: er wachten al {bytes} bytes, en er mogen er hooguit {most} wachten. Er is niets geschreven.",
  "session.noTerminal":
    "Sessie {session} heeft geen terminal, dus ook geen toetsen. Gebruik write, of start de opdracht met pty: true.",
  "session.notStartedTerminal":
    "Sessie {session} is nog niet gestart; er is geen terminal om van grootte te veranderen.",
  "session.endedTerminal": "Sessie {session} is beëindigd; er is geen terminal om van grootte te veranderen.",
  "session.terminalGone":
    "Er is geen terminal om van grootte te veranderen: het programma is beëindigd, of zonder terminal gestart.",
  "session.noSize": "Sessie {session} heeft geen terminal, dus ook geen grootte. Start de opdracht met pty: true.",
  "session.sizeMissing": "resize heeft cols (1 tot {cols}), rows (1 tot {rows}) of beide nodig.",
  "session.sizeBad":
    "{name} moet een geheel getal van 1 tot {most} zijn; {value} is dat niet. De grootte is niet veranderd.",
  "session.resized": "Sessie {session} heeft nu een terminal van {cols} kolommen en {rows} rijen.",
  "session.keyUnknown":
    'Onbekende toets "{key}". Bekend: Enter, Tab, Escape, Up, Down, Home, PageUp, F1 tot F12 …, één teken, ^c, C-c, M-x, S-Tab. Tekst hoort in "literal". Er is niets gestuurd.',
  "session.keyNear":
    'Onbekende toets "{key}". Bedoelde je "{near}"? Bekend: Enter, Tab, Escape, Up, Down, Home, PageUp, F1 tot F12 …, één teken, ^c, C-c, M-x, S-Tab. Tekst hoort in "literal". Er is niets gestuurd.',
  "session.none": "Geen lopende of recente sessies.",
  "session.onGateway": "Op gateway {gateway}:",
  "session.noOutput": "(geen uitvoer bewaard)",
  "session.noOutputYet": "(nog geen uitvoer)",
  "session.noNewOutput": "(geen nieuwe uitvoer)",
  "session.note": "[{note}]",
  "session.dropped": "[{characters} tekens zijn vóór deze poll weggevallen; log heeft ze misschien nog.]",
  "session.outputGone": "[Eerdere uitvoer is niet meer in het geheugen.]",
  "session.page": "[laatste {shown} van {total} regels; blader met offset/limit]",
  "session.queued": "Wacht tot andere opdrachten klaar zijn; het start vanzelf. kill haalt het uit de rij.",
  "session.running": "Het proces loopt nog.",
  "session.waiting":
    "Al {seconds} s geen uitvoer en stdin is open: het proces wacht waarschijnlijk op invoer (write, send-keys, submit, paste).",
  "session.waitingAt":
    "Al {seconds} s geen uitvoer en stdin is open: het proces wacht waarschijnlijk op invoer (write, send-keys, submit, paste). Laatste regel: {line}",
  "session.how.signal": "signaal {signal}",
  "session.how.code": "code {code}",
  "session.how.unknown": "exitcode onbekend",
  "session.end.stopped": "Het proces is op verzoek gestopt ({how}).",
  "session.end.timedOut":
    "Het proces duurde te lang en is gestopt ({how}). Het kan al iets hebben veranderd: kijk voordat je het opnieuw uitvoert.",
  "session.end.shutdown": "Het proces is gestopt omdat de gateway stopt ({how}).",
  "session.end.notStarted": "Het proces kon niet worden gestart.",
  "session.end.lost": "Hoe het proces is geëindigd is onbekend: de machine was niet meer bereikbaar.",
  "session.end.exited": "Het proces is geëindigd met {how}.",
  "session.killedInLine": "Uit de rij gehaald: sessie {session} is nooit uitgevoerd.",
  "session.killed": "Sessie {session} wordt beëindigd. Met poll zie je hoe het afloopt.",
  "session.cleared": "Sessie {session} is opgeruimd.",
  "session.removed": "Sessie {session} is verwijderd.",
  "session.removedRunning": "Sessie {session} is verwijderd (wordt beëindigd).",
  "session.sent.wrote": "{bytes} bytes geschreven naar sessie {session}.{waiting}",
  "session.sent.wroteAndEnded": "{bytes} bytes geschreven naar sessie {session} en stdin afgesloten.{waiting}",
  "session.sent.keys": "{bytes} bytes gestuurd naar sessie {session}.{waiting}",
  "session.sent.submitted": "Enter gestuurd naar sessie {session}.{waiting}",
  "session.sent.pasted": "{characters} tekens geplakt in sessie {session}.{waiting}",
  "session.sent.pastedBracketed": "{characters} tekens geplakt (bracketed) in sessie {session}.{waiting}",
  "session.sent.waiting": " {bytes} bytes wachten tot het programma leest.",
});
