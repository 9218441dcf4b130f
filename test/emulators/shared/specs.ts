/**
 * Machine-readable platform specs for extra validation. They live beside the project, not in it; without them the
 * emulators validate by their own tables only, and say so once.
 */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const BESIDE = fileURLToPath(new URL("../../../../shared/platform-specs/", import.meta.url));
/** `none`: somebody plays, nobody tests. */
const FOLDER = process.env.OPENCLAW_PLATFORM_SPECS ?? BESIDE;

let told = false;

/** The parsed file, or `undefined` when the specs are not there. `name` is relative to the specs folder. */
export function loadPlatformSpec(name: string): unknown {
  const path = join(FOLDER, name);
  if (process.env.OPENCLAW_PLATFORM_SPECS === "none") return undefined;
  if (existsSync(path)) return JSON.parse(readFileSync(path, "utf8"));
  if (!told) {
    told = true;
    process.stderr.write(
      `\nPLATFORM SPECS NOT FOUND at ${FOLDER}: emulators validate by their own tables only. Set OPENCLAW_PLATFORM_SPECS to their folder to validate by the vendors' specs too.\n\n`,
    );
  }
  return undefined;
}
