/**
 * Per program, what its arguments may be without a question (decisions.md D10). A program that is not here is held to
 * the general rule in `argument-guard.ts`. Written from the manuals of the programs; each table is an accept list
 * unless the program has very many harmless options and few that matter.
 */
import { BUILD_TOOLS } from "./build-tools.ts";
import { FILE_TOOLS } from "./file-tools.ts";
import type { Guard } from "./options.ts";
import { SYSTEM_TOOLS } from "./system-tools.ts";

export const TABLES: Readonly<Record<string, Guard>> = { ...FILE_TOOLS, ...SYSTEM_TOOLS, ...BUILD_TOOLS };
