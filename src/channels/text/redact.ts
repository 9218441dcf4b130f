/**
 * Masking secrets in anything that goes to a chat or a log. Two sources: values known to this process (bot tokens, the
 * gateway token), and shapes of well-known credentials. Matching also runs on the text with invisible characters and
 * soft line wraps taken out, so that `xoxb-1<U+200B>23` does not slip through.
 */

import { MASK } from "../../core/words/mask.ts";
import { type Span, type Without, without } from "./without.ts";

export interface RedactionResult {
  readonly text: string;
  /** How many places were masked. */
  readonly masked: number;
}

export interface Redactor {
  redact(text: string): RedactionResult;
}

export interface SecretFinder {
  /** Where the secrets are, in UTF-16 units, in order and apart from each other: for texts that must keep their shape. */
  find(text: string): readonly Span[];
}

/** Shorter known values would mask ordinary words. */
const MIN_KNOWN_SECRET = 8;

export { MASK };

interface Shape {
  readonly pattern: RegExp;
  /** Which capture group is the secret; 0 is the whole match. */
  readonly group: number;
}

const whole = (pattern: RegExp): Shape => ({ pattern, group: 0 });
const part = (pattern: RegExp, group = 1): Shape => ({ pattern, group });

const SECRET_NAME =
  "[A-Za-z0-9_.-]*(?:token|secret|passw(?:or)?d|passwd|passphrase|pwd|api[_-]?key|access[_-]?key|private[_-]?key|credentials?)[A-Za-z0-9_]{0,32}";

/** Every pattern is linear: bounded or disjoint repetitions only. The `d` flag gives the span of the secret itself. */
const SHAPES: readonly Shape[] = [
  // Slack: api.slack.com/authentication/token-types
  whole(/\bx(?:ox[a-z]|app|wfp)(?:\.xox[a-z])?-[A-Za-z0-9-]{6,}/dg),
  whole(/\bxoxe\.xox[a-z]-[A-Za-z0-9-]{6,}/dg),
  part(/hooks\.slack\.com\/(?:services|workflows|triggers)\/([A-Za-z0-9/_-]{8,})/dg),
  // Discord: id.timestamp.hmac in base64url; webhooks carry the token in their path
  whole(/(?<![\w.-])[MNO][\w-]{22,27}\.[\w-]{6,7}\.[\w-]{27,45}(?![\w-])/dg),
  part(/discord(?:app)?\.com\/api\/(?:v\d+\/)?webhooks\/\d+\/([\w-]{20,})/dg),
  // Telegram: also inside https://api.telegram.org/bot<token>/
  part(/(?<![\w-])(?:bot)?(\d{6,12}:[A-Za-z0-9_-]{35})(?![A-Za-z0-9_-])/dg),
  // AWS: docs.aws.amazon.com/IAM/latest/UserGuide/reference_identifiers.html#identifiers-prefixes
  whole(/(?<![A-Za-z0-9])(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}(?![A-Za-z0-9])/dg),
  // GitHub, GitLab, npm, PyPI
  whole(/\bgh[pousr]_[A-Za-z0-9]{30,255}/dg),
  whole(/\bgithub_pat_[A-Za-z0-9_]{22,255}/dg),
  whole(/\bgl(?:pat|dt|rt|ptt|cbt|soat|ft|imt|agent)-[A-Za-z0-9_.-]{20,}/dg),
  whole(/\bnpm_[A-Za-z0-9]{36}/dg),
  whole(/\bpypi-[A-Za-z0-9_-]{50,}/dg),
  // Model and payment providers, Google, SendGrid, HashiCorp
  whole(/(?<![A-Za-z0-9])sk-[A-Za-z0-9_-]{6,}/dg),
  whole(/\b[rs]k_(?:live|test)_[A-Za-z0-9]{10,}/dg),
  whole(/\bAIza[A-Za-z0-9_-]{35}/dg),
  whole(/\bya29\.[A-Za-z0-9_-]{20,}/dg),
  whole(/\bSG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}/dg),
  whole(/\bhv[sbr]\.[A-Za-z0-9_-]{20,}/dg),
  whole(/\bdop_v1_[a-f0-9]{64}/dg),
  // JSON web tokens
  whole(/\beyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]*/dg),
  // Private keys; an unfinished block is masked to the end of the text
  part(
    /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----([\s\S]*?)(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----|$)/dg,
  ),
  // Authorization headers and bearer tokens
  part(
    /\bauthorization["']?\s{0,4}[:=]\s{0,4}["']?(?:(?:bearer|basic|token|bot|digest|apikey)\s{1,4})?(?!(?:bearer|basic|token|bot|digest|apikey)\s)([^\s"',;\\]{4,})/dgi,
  ),
  part(/\b(?:bearer|basic)\s{1,4}([A-Za-z0-9._~+/=-]{8,})/dgi),
  part(/\b(?:x-api-key|x-auth-token|private-token|x-gitlab-token)["']?\s{0,4}[:=]\s{0,4}["']?([^\s"',;\\]{4,})/dgi),
  // user:password@ in URLs
  part(/[a-z][a-z0-9+.-]{1,20}:\/\/[^\s:/?#@"']{0,128}:([^\s/?#@"']{1,256})@/dgi),
  // Assignments: FOO_TOKEN=abc, "password": "abc", api_key: abc
  part(
    new RegExp(
      `(?<![A-Za-z0-9_.$-])["']?${SECRET_NAME}["']?\\s{0,2}[=:]\\s{0,2}(?:"([^"\\n]{1,4096})"|'([^'\\n]{1,4096})'|(?![$({\\[])([^\\s"'&;|<>,)]{3,4096}))`,
      "dgi",
    ),
  ),
  // Options: --password abc, --token=abc, curl -u user:abc, mysql -pabc, sshpass -p abc
  part(
    /(?<=\s)--?[a-z0-9-]{0,32}(?:token|secret|password|passwd|passphrase|api-?key|access-?key)(?:=|\s{1,4})(?:"([^"\n]{1,4096})"|'([^'\n]{1,4096})'|(?![-$])([^\s"'&;|<>]{1,4096}))/dgi,
  ),
  part(/\bcurl\b[^\n|;&]{0,512}?\s(?:-u|--user)[=\s]?["']?[^\s:"']{1,128}:([^\s"']{1,256})/dg),
  part(/\b(?:mysql|mysqldump|mysqladmin|mariadb|mariadb-dump)\b[^\n|;&]{0,512}?\s-p["']?([^\s"'-][^\s"']{0,255})/dg),
  part(/\bsshpass\b[^\n|;&]{0,64}?\s-p\s{0,4}["']?([^\s"']{1,256})/dg),
];

/** Characters that may sit inside a secret without showing: zero-width, format, soft hyphen, variation selectors. */
const HIDDEN = /[\p{Cf}\p{Default_Ignorable_Code_Point}]/u;
const WRAP = /[\r\n]/;
const EVERY_HIDDEN = new RegExp(HIDDEN, "gu");
const EVERY_HIDDEN_OR_WRAP = new RegExp(`${HIDDEN.source}|${WRAP.source}`, "gu");

/** `known` are exact values to mask wherever they appear; those shorter than {@link MIN_KNOWN_SECRET} are ignored. */
export function createRedactor(known: Iterable<string> = []): Redactor & SecretFinder {
  const secrets = [...new Set(known)].filter((value) => value.length >= MIN_KNOWN_SECRET);
  const find = (text: string): readonly Span[] => {
    const spans = [...shapeSpans(text), ...knownSpans(text, secrets), ...edgeSpans(text, secrets)];
    if (HIDDEN.test(text)) {
      const bare = without(text, EVERY_HIDDEN);
      const found = [...shapeSpans(bare.text), ...knownSpans(bare.text, secrets)];
      spans.push(...found.flatMap((span) => wholeSpan(bare, span)));
    }
    if (secrets.length > 0 && WRAP.test(text)) {
      const joined = without(text, EVERY_HIDDEN_OR_WRAP);
      spans.push(...knownSpans(joined.text, secrets).flatMap((span) => wholeSpan(joined, span)));
    }
    return merged(spans);
  };
  return { find, redact: (text) => mask(text, find(text)) };
}

function shapeSpans(text: string): Span[] {
  const spans: Span[] = [];
  for (const shape of SHAPES) {
    // Nearly always there is none, and to iterate over matches copies the pattern first.
    if (text.search(shape.pattern) === -1) continue;
    for (const match of text.matchAll(shape.pattern)) {
      const indices = match.indices as RegExpIndicesArray;
      const range = shape.group === 0 ? indices[0] : indices.slice(1).find((group) => group !== undefined);
      if (range !== undefined && range[1] > range[0] && !isMask(text.slice(range[0], range[1]))) {
        spans.push({ start: range[0], end: range[1] });
      }
    }
  }
  return spans;
}

/** Masking twice must not count twice. */
function isMask(text: string): boolean {
  return text.replaceAll(MASK, "").trim() === "";
}

function knownSpans(text: string, secrets: readonly string[]): Span[] {
  const spans: Span[] = [];
  for (const secret of secrets) {
    for (let at = text.indexOf(secret); at !== -1; at = text.indexOf(secret, at + secret.length)) {
      spans.push({ start: at, end: at + secret.length });
    }
  }
  return spans;
}

/** A tail of output may begin, and a live view may end, in the middle of a known secret. */
function edgeSpans(text: string, secrets: readonly string[]): Span[] {
  const spans: Span[] = [];
  for (const secret of secrets) {
    for (let length = Math.min(secret.length - 1, text.length); length >= MIN_KNOWN_SECRET; length--) {
      if (text.startsWith(secret.slice(secret.length - length))) {
        spans.push({ start: 0, end: length });
        break;
      }
    }
    for (let length = Math.min(secret.length - 1, text.length); length >= MIN_KNOWN_SECRET; length--) {
      if (text.endsWith(secret.slice(0, length))) {
        spans.push({ start: text.length - length, end: text.length });
        break;
      }
    }
  }
  return spans;
}

function wholeSpan(shorter: Without, span: Span): Span[] {
  const pieces = shorter.sources(span);
  const [first, last] = [pieces[0], pieces.at(-1)];
  return first === undefined || last === undefined ? [] : [{ start: first.start, end: last.end }];
}

function merged(spans: Span[]): readonly Span[] {
  spans.sort((a, b) => a.start - b.start || b.end - a.end);
  const result: { start: number; end: number }[] = [];
  for (const { start, end } of spans) {
    const last = result.at(-1);
    if (last === undefined || start >= last.end) result.push({ start, end });
    else last.end = Math.max(last.end, end);
  }
  return result;
}

function mask(text: string, spans: readonly Span[]): RedactionResult {
  let result = "";
  let at = 0;
  for (const span of spans) {
    result += text.slice(at, span.start) + MASK;
    at = span.end;
  }
  return { text: result + text.slice(at), masked: spans.length };
}
