import { answers } from "./answers.ts";
import { errors } from "./errors.ts";
import { reasons } from "./reasons.ts";

export const nl = { ...answers, ...errors, ...reasons };
