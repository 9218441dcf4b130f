/** `~` at the start of a rule stands for the home directory of the gateway's user, nowhere else. */
export function homedirPattern(pattern: string, home: string): string {
  if (pattern === "~") return home;
  return pattern.startsWith("~/") ? home + pattern.slice(1) : pattern;
}
