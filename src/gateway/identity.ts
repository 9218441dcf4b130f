/**
 * Who this gateway is, across restarts: approvals and runs name the gateway that has to finish them. Eight hex digits
 * in the state directory; short enough to read out.
 */
import { randomBytes } from "node:crypto";
import { constants } from "node:fs";
import { open } from "node:fs/promises";
import { join } from "node:path";
import { ExecError } from "../core/errors.ts";

const GATEWAY_ID_FILE = "gateway-id";
const ID_BYTES = 4;

export async function gatewayIdentity(stateDir: string): Promise<string> {
  const path = join(stateDir, GATEWAY_ID_FILE);
  const existing = await readId(path);
  if (existing !== undefined) return existing;
  const id = randomBytes(ID_BYTES).toString("hex");
  try {
    const file = await open(
      path,
      constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW,
      0o600,
    );
    await file.writeFile(`${id}\n`);
    await file.sync();
    await file.close();
    return id;
  } catch (error) {
    const raced = (error as NodeJS.ErrnoException).code === "EEXIST" ? await readId(path) : undefined;
    if (raced !== undefined) return raced;
    throw error;
  }
}

async function readId(path: string): Promise<string | undefined> {
  let text: string;
  try {
    const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW);
    text = (await file.readFile("utf8")).trim();
    await file.close();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw new ExecError("state-damaged", `${path} can not be read (${(error as NodeJS.ErrnoException).code}).`);
  }
  if (/^[0-9a-f]{8}$/.test(text)) return text;
  throw new ExecError(
    "state-damaged",
    `${path} does not hold a gateway id (8 hex digits). Restore it, or remove it to get a new one.`,
  );
}
