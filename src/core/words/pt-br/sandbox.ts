import type { sandbox as english } from "../en/sandbox.ts";
import { translation } from "../template.ts";

export const sandbox = translation<typeof english>()({
  "error.sandbox": "Esta sessão roda em um sandbox, e ele não pode ser criado: {why} Nada foi executado.",
  "error.sandbox.workdir":
    'A pasta de trabalho "{folder}" não é uma pasta que o sandbox desta sessão vê ({seen}). Nada foi executado.',
  "error.sandbox.variables":
    "{count} variáveis de ambiente são mais do que um sandbox aceita. Coloque-as em um arquivo. Nada foi executado.",
  "error.sandbox.tool": "Esta ferramenta está desligada em sessões com sandbox ({key}). Um operador pode mudar isso.",

  "sandbox.why.platform": "o backend bwrap precisa de Linux.",
  "sandbox.why.missing": "o bubblewrap não está instalado; instale o pacote bubblewrap.",
  "sandbox.why.bash": "o bash não está instalado; ele inicia o sandbox.",
  "sandbox.why.old": "{bwrap} é antigo demais; é preciso o bubblewrap 0.5 ou mais novo.",
  "sandbox.why.backend": "o backend {backend} não existe nesta versão; defina {key} como bwrap.",
  "sandbox.why.key": "o backend bwrap não tem {key}; remova essa chave.",
  "sandbox.why.network": 'o backend bwrap não tem rede; defina {key} como "none".',
  "sandbox.why.value": '{key} não pode ser "{value}".',
  "sandbox.why.bind": '"{bind}" em {key}: {problem}',
  "sandbox.why.limit": "{key} não pode ser imposto nesta máquina: {why} Remova a chave, ou permita isso.",
  "sandbox.why.link": "{path} não é uma pasta própria; remova-o.",
  "sandbox.why.workspace":
    "a pasta de trabalho {path} contém arquivos do sistema, chaves ou o estado deste gateway; escolha outra, ou workspaceAccess none.",
  "sandbox.why.silent": "o bubblewrap não respondeu em {seconds} s.",
  "sandbox.why.said": "{line} (mensagem do bwrap).",
  "sandbox.why.userns": "{line}. O sistema proíbe o que é necessário; veja {setting}.",

  "sandbox.limit.none": "não há control group para {controller}.",
  "sandbox.limit.closed": "o control group para {controller} não pode ser escrito ({code}).",
  "sandbox.limit.program": "{program} não está instalado (pacote util-linux).",

  "sandbox.bind.syntax": "escreva como origem:destino:ro ou origem:destino:rw.",
  "sandbox.bind.source-relative": "a origem deve ser um caminho absoluto, sem . nem .. nele.",
  "sandbox.bind.source-missing": "a origem não existe.",
  "sandbox.bind.source-kind": "a origem não é uma pasta nem um arquivo.",
  "sandbox.bind.source-blocked": "a origem leva a arquivos do sistema, a chaves ou ao estado deste gateway.",
  "sandbox.bind.source-external":
    "a origem está fora das pastas de trabalho; docker.dangerouslyAllowExternalBindSources permite isso.",
  "sandbox.bind.source-swappable":
    "a origem está em uma pasta de trabalho em que comandos no sandbox escrevem, e poderia ser trocada por um link.",
  "sandbox.bind.target-relative": "o destino deve ser um caminho absoluto, sem . nem .. nele.",
  "sandbox.bind.target-system": "o destino faz parte do sistema no sandbox.",
  "sandbox.bind.target-reserved":
    "o destino cobre uma pasta de trabalho; docker.dangerouslyAllowReservedContainerTargets permite isso.",
  "sandbox.bind.target-twice": "outra coisa já está montada ali.",
});
