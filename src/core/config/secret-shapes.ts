/** What must never be shown: keys that hold secrets, and values that look like one wherever they stand. */

/** What is shown instead. */
export const HIDDEN = "(hidden)";

const SECRET_KEY = /(token|secret|password|passwd|apikey|api_key|credential)s?$/i;

/** Shapes of the platforms' own tokens (channels.md 1.4) and of addresses with a password in them. */
const SECRET_VALUE = [
  /^x(ox[a-z]|app)-/,
  /\b\d{6,}:[A-Za-z0-9_-]{35}\b/,
  /^[\w-]{23,28}\.[\w-]{6,7}\.[\w-]{27,}$/,
  /^(sk|gh[pousr]|github_pat|glpat)[-_]/,
  /^[a-z][a-z0-9+.-]*:\/\/[^/\s]*:[^/\s]*@/i,
  /-----BEGIN [A-Z ]*PRIVATE KEY-----/,
];

/** References are not secrets: they only say where one is kept. */
export function isReference(value: string): boolean {
  return /^(env|file):/.test(value.trim());
}

export function isSecretName(name: PropertyKey): boolean {
  // `maxOutputTokens` counts tokens, it holds none.
  return SECRET_KEY.test(String(name)) && !/^max[A-Z]/.test(String(name));
}

/** Must this value of that key stay unseen? */
export function isHidden(value: unknown, at: readonly PropertyKey[]): boolean {
  if (typeof value === "string" && isReference(value)) return false;
  if (at.some(isSecretName)) return typeof value === "string" || typeof value === "number";
  return typeof value === "string" && SECRET_VALUE.some((shape) => shape.test(value.trim()));
}
