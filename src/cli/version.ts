import { readFileSync } from "node:fs";

/** package.json stands at the same distance from the source and from the build. */
export function version(): string {
  const file = new URL("../../package.json", import.meta.url);
  return (JSON.parse(readFileSync(file, "utf8")) as { version: string }).version;
}
