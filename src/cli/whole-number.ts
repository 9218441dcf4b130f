/** Options that are whole numbers: whatever else is typed is refused with what is wanted. */
import { InvalidArgumentError } from "commander";

export function wholeNumber(least: number, most: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (/^\d+$/.test(text) && value >= least && value <= most) return value;
    throw new InvalidArgumentError(`give a number from ${least} to ${most}.`);
  };
}
