/** What zod found wrong with a value, as a phrase in our own words: zod's are in English only. Pure; costs no import at run time. */
import type { core } from "zod";
import { type Phrase, phrase, type Wording } from "./phrase.ts";

type Issue = core.$ZodIssue;
type Bound = Extract<Issue, { code: "too_small" | "too_big" }>;

/** Without a full stop, to stand behind a colon. A message that the schema words itself stays as it is. */
export function issueWording(issue: Issue): Wording {
  switch (issue.code) {
    case "invalid_type":
      return own(issue) ?? phrase("issue.type", { type: nounOf(issue.expected) });
    case "too_small":
    case "too_big":
      return own(issue) ?? bound(issue);
    case "invalid_value":
      return own(issue) ?? phrase("issue.oneOf", { allowed: issue.values.map(String) });
    case "unrecognized_keys":
      return phrase("issue.unknown", { keys: issue.keys });
    default:
      return issue.message;
  }
}

function own({ message }: Issue): string | undefined {
  return /^(Invalid|Too |Unrecognized)/.test(message) ? undefined : message;
}

function bound(issue: Bound): Phrase {
  const isLeast = issue.code === "too_small";
  const limit = String(isLeast ? issue.minimum : issue.maximum);
  if (issue.origin === "string") {
    if (isLeast && limit === "1") return phrase("issue.empty");
    return phrase(isLeast ? "issue.characters.least" : "issue.characters.most", { limit });
  }
  const isStrict = issue.inclusive === false;
  return phrase(isLeast ? (isStrict ? "issue.more" : "issue.least") : isStrict ? "issue.less" : "issue.most", {
    limit,
  });
}

function nounOf(type: string): Wording {
  switch (type) {
    case "int":
      return phrase("issue.int");
    case "number":
    case "nan":
      return phrase("issue.number");
    case "boolean":
      return phrase("issue.boolean");
    case "string":
      return phrase("issue.string");
    case "array":
      return phrase("issue.array");
    case "object":
    case "record":
      return phrase("issue.object");
    default:
      return type;
  }
}
