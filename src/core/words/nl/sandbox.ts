import type { sandbox as english } from "../en/sandbox.ts";
import { translation } from "../template.ts";

export const sandbox = translation<typeof english>()({
  "error.sandbox": "Deze sessie draait in een sandbox, en die kan niet gemaakt worden: {why} Er is niets uitgevoerd.",
  "error.sandbox.workdir":
    'De werkmap "{folder}" is geen map die de sandbox van deze sessie ziet ({seen}). Er is niets uitgevoerd.',
  "error.sandbox.variables":
    "{count} omgevingsvariabelen zijn meer dan een sandbox aankan. Zet ze in een bestand. Er is niets uitgevoerd.",
  "error.sandbox.tool":
    "Dit hulpmiddel staat uit in sessies met een sandbox ({key}). Een beheerder kan dat veranderen.",

  "sandbox.why.platform": "de backend bwrap heeft Linux nodig.",
  "sandbox.why.missing": "bubblewrap is niet geïnstalleerd; installeer het pakket bubblewrap.",
  "sandbox.why.bash": "bash is niet geïnstalleerd; het start de sandbox.",
  "sandbox.why.old": "{bwrap} is te oud; bubblewrap 0.5 of nieuwer is nodig.",
  "sandbox.why.backend": "de backend {backend} is er niet in deze versie; zet {key} op bwrap.",
  "sandbox.why.key": "de backend bwrap kent {key} niet; verwijder die sleutel.",
  "sandbox.why.network": 'de backend bwrap heeft geen netwerk; zet {key} op "none".',
  "sandbox.why.value": '{key} kan niet "{value}" zijn.',
  "sandbox.why.bind": '"{bind}" in {key}: {problem}',
  "sandbox.why.limit": "{key} kan op deze machine niet afgedwongen worden: {why} Verwijder de sleutel, of sta het toe.",
  "sandbox.why.link": "{path} is geen eigen map; verwijder het.",
  "sandbox.why.workspace":
    "de werkmap {path} bevat bestanden van het systeem, sleutels of de toestand van deze gateway; kies een andere, of workspaceAccess none.",
  "sandbox.why.silent": "bubblewrap gaf binnen {seconds} s geen antwoord.",
  "sandbox.why.said": "{line} (melding van bwrap).",
  "sandbox.why.userns": "{line}. Het systeem verbiedt wat nodig is; zie {setting}.",

  "sandbox.limit.none": "er is geen control group voor {controller}.",
  "sandbox.limit.closed": "de control group voor {controller} kan niet beschreven worden ({code}).",
  "sandbox.limit.program": "{program} is niet geïnstalleerd (pakket util-linux).",

  "sandbox.bind.syntax": "schrijf het als bron:doel:ro of bron:doel:rw.",
  "sandbox.bind.source-relative": "de bron moet een absoluut pad zijn, zonder . en .. erin.",
  "sandbox.bind.source-missing": "de bron bestaat niet.",
  "sandbox.bind.source-kind": "de bron is geen map en geen bestand.",
  "sandbox.bind.source-blocked":
    "de bron leidt naar bestanden van het systeem, naar sleutels of naar de toestand van deze gateway.",
  "sandbox.bind.source-external":
    "de bron ligt buiten de werkmappen; docker.dangerouslyAllowExternalBindSources staat dat toe.",
  "sandbox.bind.source-swappable":
    "de bron ligt onder een werkmap waarin opdrachten in een sandbox schrijven, en kan door een link vervangen worden.",
  "sandbox.bind.target-relative": "het doel moet een absoluut pad zijn, zonder . en .. erin.",
  "sandbox.bind.target-system": "het doel hoort in de sandbox bij het systeem.",
  "sandbox.bind.target-reserved":
    "het doel bedekt een werkmap; docker.dangerouslyAllowReservedContainerTargets staat dat toe.",
  "sandbox.bind.target-twice": "daar is al iets anders aangekoppeld.",
});
