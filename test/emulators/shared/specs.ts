/**
 * Machine-readable platform specs for extra validation. They live beside the project, not in it; without them the
 * emulators validate by their own tables only, and say so once.
 */
import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const FOLDER = fileURLToPath(new URL("../../../../shared/platform-specs/", import.meta.url));

let told = false;

/** The parsed file, or `undefined` when the specs are not there. `name` is relative to the specs folder. */
export function loadPlatformSpec(name: string): unknown {
  const path = `${FOLDER}${name}`;
  if (existsSync(path)) return JSON.parse(readFileSync(path, "utf8"));
  if (!told) {
    told = true;
    process.stderr.write(
      `Platform specs are not at ../shared/platform-specs: emulators validate by their own tables only.\n`,
    );
  }
  return undefined;
}
