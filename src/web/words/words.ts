/**
 * Every sentence the page says by itself, beside those of the cards (core/words). One interface, so a
 * language that misses a key does not compile.
 */
import type { Theme } from "../theme.ts";

export interface Words {
  readonly connected: string;
  readonly notConnected: string;
  /** After a number. */
  readonly waitForYou: string;
  readonly goToNext: string;
  readonly colours: (theme: Theme) => string;
  readonly conversation: string;
  readonly beginning: string;
  readonly showEarlier: string;
  readonly latest: string;
  readonly newMessages: (count: number) => string;
  readonly connection: {
    readonly lost: string;
    readonly tryingAgain: (seconds: number) => string;
    readonly queued: (count: number) => string;
    readonly tryNow: string;
    readonly reconnecting: string;
    readonly notLoaded: (why: string) => string;
    readonly tryAgain: string;
  };
  readonly composer: {
    readonly label: string;
    readonly placeholder: string;
    readonly send: string;
    readonly completions: string;
    readonly tooLong: (length: string, max: string) => string;
  };
  readonly said: {
    readonly sending: string;
    readonly sentLater: string;
    readonly notSent: (why: string) => string;
    readonly discard: string;
  };
  readonly welcome: {
    readonly title: string;
    readonly text: string;
    readonly runs: string;
    readonly policy: string;
    readonly background: string;
    readonly help: string;
  };
  readonly signIn: {
    readonly title: string;
    readonly text: string;
    readonly titleWrong: string;
    readonly textWrong: string;
    readonly label: string;
    readonly open: string;
    readonly printAgain: string;
    readonly mismatch: string;
    readonly reload: string;
  };
  readonly card: {
    readonly notShown: string;
    readonly details: string;
    readonly sent: string;
    readonly stopping: string;
    readonly offline: string;
    readonly answerLost: string;
    readonly noAnswerYet: string;
    readonly hidden: (count: number) => string;
    readonly lookalikes: (count: number) => string;
    readonly output: string;
    readonly copyCommand: string;
    readonly copyOutput: string;
    readonly copied: string;
    readonly notCopied: string;
  };
  readonly log: {
    readonly title: string;
    readonly close: string;
    readonly beginningLost: string;
    readonly where: (from: string, to: string, total: string) => string;
    readonly stillRunning: string;
    readonly earlier: string;
    readonly later: string;
    readonly wrap: string;
    readonly copyPage: string;
    readonly download: string;
    readonly fetching: string;
  };
  readonly replay: {
    readonly title: string;
    readonly recordings: string;
    readonly none: string;
    readonly howTo: string;
    readonly loading: string;
    readonly notLoaded: string;
    readonly nothingShown: string;
    readonly play: string;
    readonly pause: string;
    readonly position: string;
    readonly at: (position: string, duration: string) => string;
    readonly speed: string;
    /** What the replay is drawn on. */
    readonly screen: string;
  };
  readonly shortcuts: {
    readonly title: string;
    readonly write: string;
    readonly send: string;
    readonly newLine: string;
    readonly before: string;
    readonly completion: string;
    readonly next: string;
    readonly allowOnce: string;
    readonly allowAlways: string;
    readonly deny: string;
    readonly denyWithReason: string;
    readonly replay: string;
    readonly back: string;
    readonly list: string;
  };
}
