/**
 * What a card says around its facts. One interface, so a language that misses a key does not compile. Sentences that
 * travel through the core (answers, reasons, errors) are phrases: `phrase.ts`.
 */
import type { RunOutcome } from "../cards.ts";

export interface Messages {
  readonly approval: {
    readonly titlePending: string;
    readonly titleAllowedOnce: string;
    readonly titleAllowedAlways: string;
    readonly titleDenied: string;
    readonly titleExpired: string;
    readonly titleCancelled: string;
    /** Before what a shell inside the command would run, unquoted. */
    readonly inner: string;
    readonly requester: string;
    readonly agent: string;
    readonly folder: string;
    readonly host: string;
    readonly environment: string;
    readonly why: string;
    readonly decidedBy: (who: string) => string;
    readonly comment: (text: string) => string;
    /** Before the platform's own rendering of a time. */
    readonly expires: string;
    readonly id: string;
    readonly allowOnce: string;
    readonly allowAlways: string;
    readonly deny: string;
    readonly denyWithReason: string;
    /** Opens what a card can do besides being decided. */
    readonly more: string;
    readonly moreFor: (slug: string) => string;
    readonly fullCommand: string;
    readonly snooze: string;
    /** Before the platform's own rendering of a time. */
    readonly snoozedUntil: (who: string) => string;
    readonly snoozeOver: (who: string) => string;
    readonly askAgain: string;
    /** `slug` of the new request, when there had to be one. */
    readonly askedAgain: (who: string, slug: string | undefined) => string;
    readonly alwaysStores: string;
    readonly alwaysConfirmTitle: string;
    /** Over the rules, on the receipt. */
    readonly alwaysStored: string;
    readonly takeBack: string;
    readonly takeBackTitle: string;
    readonly takenBack: (who: string) => string;
    readonly cancel: string;
    readonly alwaysNotOffered: string;
    readonly alwaysUnavailableHidden: string;
    readonly alwaysUnavailableMasked: string;
    readonly masked: (count: number) => string;
    readonly disguised: (words: string) => string;
    readonly hidden: (characters: number) => string;
    readonly fullCommandIn: (file: string) => string;
    readonly fingerprint: (characters: number, sha256: string) => string;
    /** `form` is what to type, already complete. */
    readonly typeInstead: (form: string) => string;
    /** Above the lines to type, where buttons are switched off. */
    readonly typeBecauseOff: string;
    readonly reasonTitle: string;
    readonly reasonLabel: string;
    readonly notShown: string;
  };
  readonly run: {
    readonly started: string;
    readonly running: (clock: string) => string;
    /** It waits for a place among the commands that run. */
    readonly queued: (clock: string) => string;
    readonly outcome: Readonly<Record<RunOutcome, string>>;
    readonly exitCode: (code: number) => string;
    readonly signal: (name: string) => string;
    readonly took: (duration: string) => string;
    readonly session: string;
    readonly folder: string;
    readonly host: string;
    readonly noOutput: string;
    readonly noOutputYet: string;
    readonly lastOf: (shown: number, total: number) => string;
    /** Between the beginning and the end of an output. */
    readonly linesLeftOut: (lines: number) => string;
    readonly charactersLeftOut: (characters: number) => string;
    readonly fullLogIn: (file: string) => string;
    readonly logNotAttached: (why: string) => string;
    readonly stop: string;
    readonly fullLog: string;
    readonly runAgain: string;
  };
  readonly menu: {
    /** In a list of options that is still closed. */
    readonly choose: string;
    /** `form` is what to type, with its holes. */
    readonly orType: (form: string) => string;
    /** A platform holds only so many choices. */
    readonly more: (count: number, form: string) => string;
    readonly chosen: (choice: string) => string;
    readonly tooLong: string;
  };
  readonly notice: {
    /** Put under a message that could not go into its topic. */
    readonly topicGone: string;
    /** Where the platform can not be asked whether a message arrived. */
    readonly mayRepeat: string;
    readonly buttonsOff: string;
    /** Under a thread while a request waits. */
    readonly waitingForApproval: string;
    readonly buttonOutdated: string;
    /** Below the beginning of long code that is attached. */
    readonly codeIn: (file: string, lines: number) => string;
    /** Slack runs commands also where the bot is no member. `bot` is its name there. */
    readonly notInChannel: (bot: string) => string;
    readonly tryAgain: string;
    readonly workingOnIt: string;
    /** A file that only its asker may see could not go below a private answer. */
    readonly sentDirectly: string;
  };
}
