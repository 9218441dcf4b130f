import { answers } from "./answers.ts";
import { channels } from "./channels.ts";
import { errors } from "./errors.ts";
import { reasons } from "./reasons.ts";
import { sandbox } from "./sandbox.ts";

export const nl = { ...answers, ...channels, ...errors, ...reasons, ...sandbox };
