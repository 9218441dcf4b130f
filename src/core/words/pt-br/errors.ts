import type { errors as english } from "../en/errors.ts";
import { translation } from "../template.ts";

export const errors = translation<typeof english>()({
  "error.internal": "Algo deu errado aqui; o log do operador diz o quê.",
  "error.draining": "O gateway está encerrando e não inicia nada novo. Tente de novo quando ele voltar.",
  "error.stateLost":
    "Não executado: este gateway perdeu contato com o estado que divide com outros. Tente de novo quando /status estiver bem.",
  "error.reportedLost": "Outro gateway deu esta execução como perdida; ela não é iniciada.",
  "error.outOfTouch":
    "Não executado: este gateway ficou tanto tempo sem contato que outro deu isto como perdido. Peça de novo.",

  "error.command.none": "Informe um comando para iniciar.",
  "error.command.nul": "O comando contém um byte NUL, que nenhum shell executa. Nada foi executado.",
  "error.command.characters":
    "O comando tem {characters} caracteres; limits.maxCommandChars permite {most}. Coloque-o em um script e execute o script.",
  "error.command.bytes":
    "O comando tem {bytes} bytes; o sistema aceita no máximo {most}. Coloque-o em um script e execute o script.",
  "error.command.mayBeCut":
    "Seu aplicativo divide mensagens deste tamanho, então isto pode ser só o começo de um comando. Nada foi executado. Coloque o comando em um script, ou use o chat da web.",
  "error.nul": "{parameter} contém um byte NUL. Nada foi executado.",
  "error.host.type": "Host de exec inválido, do tipo {type}. Valores aceitos: {allowed}.",
  "error.host.value":
    'Host de exec inválido "{value}". Valores aceitos: {allowed}. Não é o nome de uma máquina; para uma máquina use host=node com node=<id ou nome>.',
  "error.host.sandbox":
    'host=sandbox precisa de um sandbox, e nenhum está ativo. Defina agents.defaults.sandbox.mode como "all", ou use host=gateway com aprovações. Nada foi executado.',
  "error.host.notAllowed":
    "Host de exec não permitido (pedido {requested}; configurado {configured}). Defina tools.exec.host={fix} para permitir.",
  "error.host.unavailable": "host={host} não está disponível neste gateway. Nada foi executado.",
  "error.exec.deniedOnNode": "exec negado no nó {node}: {why} (definido lá por {layer}).",
  "error.node.none":
    "host=node: nenhum nó está pareado com este gateway. Inicie um lá com: openclaw-exec node run. Nada foi executado.",
  "error.node.noneConnected": "host=node: nenhum nó pareado está conectado. Conhecidos: {nodes}. Nada foi executado.",
  "error.node.noneCanRun":
    "host=node: nenhum nó conectado pode executar comandos (system.run não foi oferecido, aprovado ou permitido). Conectados: {nodes}. Nada foi executado.",
  "error.node.several":
    "host=node: há vários nós conectados: {nodes}. Diga qual com node=<id ou nome>. Nada foi executado.",
  "error.node.unknown": 'Não há nó "{node}". Conhecidos: {nodes}. Nada foi executado.',
  "error.node.ambiguous": 'Vários nós correspondem a "{node}": {nodes}. Informe mais do id. Nada foi executado.',
  "error.node.offline": "O nó {node} não está conectado. Nada foi executado.",
  "error.node.cannotRun":
    "O nó {node} não pode executar comandos aqui: system.run não foi oferecido, aprovado ou permitido (openclaw-exec nodes describe). Nada foi executado.",
  "error.node.bound":
    "nó de exec não permitido (vinculado a {bound}, pedido {requested}). Defina tools.exec.node para permitir. Nada foi executado.",
  "error.node.silent": "O nó {node} não respondeu a tempo. Nada foi executado.",
  "error.node.nonsense":
    "O nó {node} deu uma resposta que não corresponde ao que foi pedido; a versão pode ser outra. Nada foi executado.",
  "error.node.tooLarge":
    "A chamada é grande demais para enviar ao nó {node}: comando e variáveis juntos podem ter cerca de 1 MiB. Nada foi executado.",
  "error.node.refused": "O nó {node} não executou. {why}",
  "error.node.many": "Há {most} nós, o máximo possível. Remova um primeiro.",
  "error.node.noRequest": 'Nenhum nó espera com "{request}". openclaw-exec nodes pending mostra os que esperam.',
  "error.node.severalRequests": 'Vários pedidos correspondem a "{request}": {nodes}. Informe o id inteiro.',
  "error.node.name": "O nome de um nó tem de 1 a {most} letras, dígitos, espaços e . _ -.",
  "error.nodeRun.approvalRequired": "A política de lá pede uma aprovação, e nenhuma veio junto.",
  "error.nodeRun.changed": "O que foi decidido não é o que a política de lá executaria agora. Peça de novo.",
  "error.nodeRun.ticket": "A decisão não foi tomada lá, é antiga demais ou é para outra execução. Peça de novo.",
  "error.nodeRun.duplicate": "Esta execução já foi aceita lá; ela nunca inicia duas vezes.",
  "error.nodeRun.tooLarge":
    "O comando é longo demais para ser avaliado lá. Coloque-o em um arquivo de script e execute-o.",
  "error.nodeRun.cancelled": "Foi cancelado antes de poder iniciar.",
  "error.timeout.two": "timeout e timeoutSeconds são diferentes; informe só um deles, em segundos.",
  "error.timeout": "timeout inválido {value}. Informe segundos (frações valem), ou 0 para sem limite.",
  "error.workdir":
    'A pasta de trabalho "{folder}" não está disponível ou não é uma pasta. Informe um caminho existente; ele é usado literalmente, sem ~ nem $VAR. Nada foi executado.',
  "error.workdir.gone": "A pasta de trabalho {folder} não existe mais ou não é uma pasta. Nada foi executado.",
  "error.env.invalid":
    "Não servem como variáveis de ambiente: {names}. Um nome tem letras, dígitos e sublinhados; um valor não tem NUL e tem no máximo 128 KiB. Nada foi executado.",
  "error.env.nul": "{name} (o valor tem um caractere NUL)",
  "error.env.long": "{name} (o valor é longo demais)",
  "error.env.forbidden": {
    one: "Violação de segurança: a variável {names} é proibida para host={host}, porque pode mudar qual programa é executado. Nada foi executado.{advice}",
    other:
      "Violação de segurança: as variáveis {names} são proibidas para host={host}, porque podem mudar qual programa é executado. Nada foi executado.{advice}",
  },
  "error.env.path":
    " Para PATH, um operador pode definir tools.exec.pathPrepend, ou indique o programa pelo caminho completo.",
  "error.tool.denied":
    "exec está desligado aqui pela política de ferramentas (tools.allow/tools.deny). Um operador pode mudar isso.",
  "error.elevated":
    "O modo elevated não existe nesta versão: nenhuma chamada sai do seu sandbox. Um operador pode enviar comandos a outro lugar com tools.exec.host. Nada foi executado.",
  "error.exec.securityDeny": "exec negado: host={host} security=deny, definido por {layer}.",
  "error.exec.denied": "exec negado: {why} (definido por {layer}).",
  "error.exec.policy": "a política não permite",
  "error.exec.control": "Não executado: {why}.",
  "error.exec.deniedByNow": "Não executado: exec agora está negado, definido por {layer}.",
  "error.approvals.many":
    "{limit} pedidos já esperam por uma pessoa (limits.maxPendingApprovals). Nada foi pedido nem executado.",
  "error.line.full":
    "{running} comandos em execução e {waiting} na fila, o máximo permitido (limits.maxQueuedRuns). Nada foi executado; tente mais tarde.",
  "error.line.own":
    "{own} comandos desta conversa já estão na fila; os outros lugares ficam para outras conversas (limits.maxQueuedRuns é {limit}). Nada foi executado; /stop os tira da fila.",
  "error.preflight": "verificação do exec: {problem}",
  "error.preflight.shebang":
    'Este é um script para {interpreter}, mas um comando é executado pelo shell, que o leria como texto de shell. Salve-o em um arquivo e execute "{interpreter} <file>". Nada foi executado.',
  "error.preflight.shellSyntax":
    "verificação do exec: {place} começa com sintaxe de shell, mas é executado como script. Nada foi executado.",
  "error.preflight.variable":
    "verificação do exec: {place} usa {variable} como variável de shell, o que {language} não conhece. Use {instead}. Nada foi executado.",

  "error.spawn.workdirNul": "A pasta de trabalho tem um caractere NUL. Remova-o e tente de novo.",
  "error.spawn.commandNul": "O comando tem um caractere NUL. Remova-o e tente de novo.",
  "error.spawn.env": "A variável de ambiente {name} não pode ser passada a um programa.",
  "error.spawn.tooBig":
    "O comando ou o ambiente é grande demais para o sistema (cerca de 128 KiB por palavra). Coloque o texto em um arquivo e execute o arquivo.",
  "error.spawn.notFound": "{file} não foi encontrado, ou o interpretador indicado nele não foi. Nada foi executado.",
  "error.spawn.permission": "{file} não pode ser executado aqui (permissão negada). Nada foi executado.",
  "error.spawn.noRoom":
    "O sistema não tem espaço para mais um processo ({errno}). Pare algumas sessões em execução e tente de novo.",
  "error.spawn.other": "{file} não pôde ser iniciado ({problem}).",
  "note.heldOpen": "Um processo iniciado por ele ainda segurava a saída; o que veio depois não foi coletado.",
  "note.leftRunning": {
    one: "1 processo que ficou em execução foi interrompido.",
    other: "{count} processos que ficaram em execução foram interrompidos.",
  },
  "note.notConfirmed": "Não foi possível confirmar que tudo o que ele iniciou terminou.",

  "error.approval.unknown": 'Nenhum pedido com o id "{id}" está pendente. /status lista os que estão.',
  "error.approval.ambiguous": '{matches} pedidos correspondem a "{id}". Use o id completo: {ids}.',
  "error.approval.expired": "O pedido {slug} expirou; nada foi executado. Peça de novo.",
  "error.approval.cancelled": "O pedido {slug} foi cancelado. {why} Nada foi executado.",
  "error.approval.notNeeded": "Não é mais necessário.",
  "error.approval.waiting": "O pedido {slug} ainda está pendente; tente de novo.",
  "error.approval.allowed": "O pedido {slug} já foi permitido por {who}.",
  "error.approval.denied": "O pedido {slug} já foi negado por {who}.",
  "error.approval.noRule": "O pedido {slug} não guardou nenhuma regra, então não há o que desfazer.",
  "error.approval.revoked": "O que o pedido {slug} guardou já foi desfeito por {who}.",
  "error.approval.notOffered": '"{decision}" não está disponível para este pedido. Escolha: {offered}.',
  "error.approval.tooLateToSnooze": "O pedido {slug} expira cedo demais para ser adiado. Decida agora.",
  "error.approval.askedAgain": "O pedido {slug} já foi feito de novo por {who}.",
  "error.approval.stillWaits": "O pedido {slug} ainda espera uma resposta, então não há o que pedir de novo.",
  "error.approval.ranUnanswered":
    "O pedido {slug} foi executado sem resposta (askFallback), então não há o que pedir de novo.",
  "error.approval.onlyPerson": "Só uma pessoa pode decidir um pedido, nunca um agente.",
  "error.approval.notYours": "Você não é aprovador aqui, então nada mudou. /whoami mostra o que você pode fazer.",
  "error.approval.yourOwn": "Foi você quem pediu; outra pessoa precisa decidir (approvals.selfApproval).",
  "error.access.notHere": "Você não tem permissão para usar este bot aqui.",
  "error.access.command": "Você não pode usar /{command} aqui. /whoami mostra o que você pode fazer.",
  "error.access.buttons": "Você não pode usar estes botões. /whoami mostra o que você pode fazer.",
  "error.access.work": "Você não pode me dar trabalho aqui. /whoami mostra o que você pode fazer.",
  "error.pairing.approved": "{who} já foi liberado por {by}.",
  "error.pairing.dismissed": "O pedido de {who} já foi descartado por {by}. A pessoa pode pedir de novo.",
  "error.pairing.expired": "O pedido de {who} expirou. A pessoa pode pedir de novo escrevendo ao bot.",
  "error.pairing.gone": "Este pedido de acesso não está mais guardado. A pessoa pode pedir de novo escrevendo ao bot.",
  "error.exec.loosen":
    "Só um dono pode abrir o que a configuração mantém fechado: aqui vale {before}, e você pediu {after}. Nada mudou.",
  "error.menu.notYours": "Só quem pediu pode escolher aqui. Digite o comando você mesmo.",
  "error.menu.answered": "Já respondido: {choice}. Para escolher de novo, digite /{command} outra vez.",
  "error.menu.stale": "Esta lista não é mais guardada, então nada foi feito. Digite o comando de novo.",
  "error.menu.staleOf": "Esta lista não vale mais, então nada foi feito. Digite /{command} de novo.",
  "error.pairing.onlyOwner": "Só um dono pode liberar pessoas, então nada mudou. /whoami mostra o que você pode fazer.",
  "error.pairing.locked": "Códigos errados demais. As aprovações estão fechadas por dez minutos.",
  "error.pairing.unknown": "Nenhum pedido de pareamento tem este código. Pode ter expirado; peça um novo.",
  "error.run.unknown": "Essa execução não é mais conhecida.",
  "error.run.logGone": "Essa execução não é mais conhecida; o log dela se foi.",
  "error.run.notRunning": "{session} não está mais em execução.",
  "error.agent.full": "Já há mensagens demais esperando o agente aqui; esta não foi aceita. /stop as descarta.",

  "error.cron.ambiguous": '{matches} tarefas correspondem a "{job}": {ids}. Informe o id inteiro.',
  "error.cron.unknown": 'A tarefa "{job}" não existe. /cron list mostra quais existem.',
  "error.cron.many": "Há {most} tarefas, o máximo possível. Remova uma antes.",
  "error.cron.name": 'Já existe uma tarefa chamada "{name}". Escolha outro nome.',
  "error.cron.when": "Diga quando exatamente uma vez: at (2031-04-05T09:00 ou 30m), every (15m) ou cron.",
  "error.cron.tooOften": "every deve ser de pelo menos {least}s, não {every}.",
  "error.cron.what": "Diga o que exatamente uma vez: um comando para executar, ou um evento para avisar a sessão.",
  "error.cron.length": "O que fazer tem de 1 a {most} caracteres.",
  "error.cron.never": "O agendamento {schedule} nunca chega.",
  "error.cron.expression": 'A expressão cron "{cron}" não é válida: {problem}',
  "error.cron.expressionIn": 'A expressão cron "{cron}" no fuso horário "{timezone}" não é válida: {problem}',
  "error.cron.moment":
    '"{text}" não é um momento. Informe um tempo a partir de agora como 30m, ou uma data como 2031-04-05T09:00.',
  "error.cron.passed": "{text} já passou.",
  "error.cron.passedIn": "{text} já passou em {timezone}.",
  "error.cron.interval": '"{text}" não é um intervalo. Informe um como 45s, 15m, 2h ou 1d.',

  "error.argument.unknown": 'Parâmetro desconhecido "{parameter}" para {tool}. Conhecidos: {known}.',
  "error.argument.near":
    'Parâmetro desconhecido "{parameter}" para {tool}. Você quis dizer "{near}"? Conhecidos: {known}.',
  "error.argument.invalid": "Valor inválido de {parameter} para {tool}: {why}.",
  "issue.type": "precisa ser {type}",
  "issue.int": "um número inteiro",
  "issue.number": "um número",
  "issue.boolean": "true ou false",
  "issue.string": "texto",
  "issue.array": "uma lista",
  "issue.object": "um grupo de valores",
  "issue.oneOf": "precisa ser um de {allowed}",
  "issue.unknown": "desconhecido: {keys}",
  "issue.empty": "não pode ficar vazio",
  "issue.characters.least": "precisa de {limit} caracteres ou mais",
  "issue.characters.most": "pode ter no máximo {limit} caracteres",
  "issue.least": "precisa ser {limit} ou mais",
  "issue.more": "precisa ser mais que {limit}",
  "issue.most": "precisa ser {limit} ou menos",
  "issue.less": "precisa ser menos que {limit}",
  "session.arguments": "Estes argumentos não servem: {why}.",
  "error.argument.all": "estes argumentos",
  "error.argument.notAcceptable": "não é aceitável",
  "session.action": 'Ação desconhecida "{action}". Conhecidas: {known}.',
  "session.actionNear": 'Ação desconhecida "{action}". Você quis dizer "{near}"? Conhecidas: {known}.',
  "session.idMissing": 'sessionId é obrigatório para {action}. "list" mostra as sessões.',
  "session.unknown": "Nenhuma sessão encontrada para {session}.",
  "session.noneActive": "Nenhuma sessão ativa encontrada para {session}.",
  "session.noneFinished": "Nenhuma sessão terminada encontrada para {session}.",
  "session.foreground": "A sessão {session} não está em segundo plano: a chamada que a iniciou ainda espera por ela.",
  "session.ended": "A sessão {session} terminou; não é possível escrever em stdin.",
  "session.noInput":
    'Não é possível escrever no stdin da sessão {session}. Inicie o comando com pty: true, ou com stdin: "open", para enviar entrada.',
  "session.inputClosed":
    "Não é possível escrever em stdin: o programa o fechou, terminou ou foi iniciado sem um stdin aberto.",
  "session.notStarted": "A sessão {session} ainda não começou; não é possível escrever em stdin.",
  "session.inputFull":
    "O programa não está lendo a entrada: {bytes} bytes já esperam, e no máximo {most} podem esperar. Nada foi escrito.",
  "session.noTerminal":
    "A sessão {session} não tem terminal, portanto não tem teclas. Use write, ou inicie o comando com pty: true.",
  "session.notStartedTerminal": "A sessão {session} ainda não começou; não há terminal para redimensionar.",
  "session.endedTerminal": "A sessão {session} terminou; não há terminal para redimensionar.",
  "session.terminalGone": "Não há terminal para redimensionar: o programa terminou ou foi iniciado sem um.",
  "session.noSize": "A sessão {session} não tem terminal, portanto não tem tamanho. Inicie o comando com pty: true.",
  "session.sizeMissing": "resize precisa de cols (1 a {cols}), rows (1 a {rows}) ou ambos.",
  "session.sizeBad": "{name} deve ser um número inteiro de 1 a {most}; {value} não é. O tamanho não mudou.",
  "session.resized": "A sessão {session} agora tem um terminal de {cols} colunas e {rows} linhas.",
  "session.keyUnknown":
    'Tecla desconhecida "{key}". Conhecidas: Enter, Tab, Escape, Up, Down, Home, PageUp, F1 a F12 …, um caractere, ^c, C-c, M-x, S-Tab. Texto vai em "literal". Nada foi enviado.',
  "session.keyNear":
    'Tecla desconhecida "{key}". Você quis dizer "{near}"? Conhecidas: Enter, Tab, Escape, Up, Down, Home, PageUp, F1 a F12 …, um caractere, ^c, C-c, M-x, S-Tab. Texto vai em "literal". Nada foi enviado.',
  "session.none": "Nenhuma sessão em execução ou recente.",
  "session.onGateway": "No gateway {gateway}:",
  "session.noOutput": "(nenhuma saída registrada)",
  "session.noOutputYet": "(ainda sem saída)",
  "session.noNewOutput": "(nenhuma saída nova)",
  "session.note": "[{note}]",
  "session.dropped": "[{characters} caracteres se perderam antes deste poll; log talvez ainda os tenha.]",
  "session.outputGone": "[A saída anterior não está mais na memória.]",
  "session.page": "[últimas {shown} de {total} linhas; use offset/limit para navegar]",
  "session.queued": "Espera outros comandos terminarem; começa sozinho. kill o tira da fila.",
  "session.running": "O processo ainda está em execução.",
  "session.waiting":
    "Sem saída há {seconds} s e stdin está aberto: o processo provavelmente espera entrada (write, send-keys, submit, paste).",
  "session.waitingAt":
    "Sem saída há {seconds} s e stdin está aberto: o processo provavelmente espera entrada (write, send-keys, submit, paste). Última linha: {line}",
  "session.how.signal": "sinal {signal}",
  "session.how.code": "código {code}",
  "session.how.unknown": "código de saída desconhecido",
  "session.end.stopped": "Processo interrompido a pedido ({how}).",
  "session.end.timedOut":
    "O processo passou do tempo e foi interrompido ({how}). Ele já pode ter causado efeitos: verifique antes de executar de novo.",
  "session.end.shutdown": "Processo interrompido porque o gateway está encerrando ({how}).",
  "session.end.notStarted": "O processo não pôde ser iniciado.",
  "session.end.lost": "Não se sabe como o processo terminou: a máquina dele ficou inacessível.",
  "session.end.exited": "O processo terminou com {how}.",
  "session.killedInLine": "Retirada da fila: a sessão {session} nunca foi executada.",
  "session.killed": "Término solicitado para a sessão {session}. Use poll para ver o fim.",
  "session.cleared": "A sessão {session} foi limpa.",
  "session.removed": "A sessão {session} foi removida.",
  "session.removedRunning": "A sessão {session} foi removida (término solicitado).",
  "session.sent.wrote": "{bytes} bytes escritos na sessão {session}.{waiting}",
  "session.sent.wroteAndEnded": "{bytes} bytes escritos na sessão {session} e stdin encerrado.{waiting}",
  "session.sent.keys": "{bytes} bytes enviados à sessão {session}.{waiting}",
  "session.sent.submitted": "Enter enviado à sessão {session}.{waiting}",
  "session.sent.pasted": "{characters} caracteres colados na sessão {session}.{waiting}",
  "session.sent.pastedBracketed": "{characters} caracteres colados (bracketed) na sessão {session}.{waiting}",
  "session.sent.waiting": " {bytes} bytes esperam até o programa ler.",
});
