/** What the person who took a rule back is told. Pure. */
import type { TextCard } from "../cards.ts";
import { describeGrants } from "./allow-always.ts";
import type { RevokeResult } from "./approvals.ts";
import { slugOf } from "./record.ts";

export function revokedCard({ record, removed, elsewhere }: RevokeResult): TextCard {
  const slug = slugOf(record.id);
  if (elsewhere) {
    return {
      kind: "text",
      tone: "info",
      text: `The rule of ${slug} is kept by another gateway, which takes it back now. Its card says when it is done.`,
    };
  }
  if (removed.length === 0) {
    return { kind: "text", tone: "info", text: `The rule of ${slug} was gone already. It asks again next time.` };
  }
  const rules = describeGrants(removed, record.request.agentId, record.request.cwd);
  return {
    kind: "text",
    tone: "success",
    text: [`Taken back: ${slug} asks again next time. Removed:`, ...rules.map((rule) => `- ${rule}`)].join("\n"),
  };
}
