/** What the person who took a rule back is told. Pure. */
import type { TextCard } from "../cards.ts";
import { phrase, type Wording } from "../words/phrase.ts";
import { describeGrants } from "./allow-always.ts";
import { slugOf } from "./record.ts";
import type { RevokeResult } from "./revocation.ts";

export function revokedCard({ record, removed, elsewhere }: RevokeResult): TextCard<Wording> {
  const slug = slugOf(record.id);
  if (elsewhere) return { kind: "text", tone: "info", text: phrase("revoke.elsewhere", { slug }) };
  if (removed.length === 0) return { kind: "text", tone: "info", text: phrase("revoke.gone", { slug }) };
  const rules = describeGrants(removed, record.request.agentId, record.request.cwd);
  return {
    kind: "text",
    tone: "success",
    text: { lines: [phrase("revoke.done", { slug }), ...rules.map((rule) => phrase("revoke.rule", { rule }))] },
  };
}
