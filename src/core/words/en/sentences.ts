import { answers } from "./answers.ts";
import { errors } from "./errors.ts";
import { reasons } from "./reasons.ts";

export const en = { ...answers, ...errors, ...reasons } as const;
